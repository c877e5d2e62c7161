//! Times in templates: what `date` and friends accept, and the methods of a
//! time value (`now.UTC.Format "2006"`).

use chrono::{DateTime, Datelike, FixedOffset, Months, NaiveDate, TimeZone, Timelike, Utc};

use super::context::{Context, Problem};
use super::layout;
use super::value::Value;

pub(super) fn utc(time: DateTime<Utc>) -> DateTime<FixedOffset> {
    time.fixed_offset()
}

/// A time given as a time, as RFC 3339 text, as a date, or as Unix seconds.
pub(super) fn time(value: &Value<'_>) -> Result<DateTime<FixedOffset>, Problem> {
    let seconds = match value {
        Value::Time(time) => return Ok(*time),
        Value::Text(text) => {
            let text = text.as_str();
            let date = || {
                let date = text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0)?;
                Some(Utc.from_utc_datetime(&date).fixed_offset())
            };
            return match DateTime::parse_from_rfc3339(text) {
                Ok(time) => Ok(time),
                Err(_) => date().ok_or_else(|| {
                    format!("{text:?} is no time: expected RFC 3339 such as 2026-01-02T15:04:05Z")
                        .into()
                }),
            };
        }
        Value::Int(i) => Some(*i),
        Value::Uint(u) => i64::try_from(*u).ok(),
        Value::Float(f) => Some(*f as i64),
        other => return Err(format!("expected a time, got {}", other.what()).into()),
    };
    seconds
        .and_then(|s| DateTime::from_timestamp(s, 0))
        .map(utc)
        .ok_or_else(|| "the time is out of range".into())
}

/// The methods of Go's `time.Time` that templates use.
pub(super) fn method<'a>(
    context: &Context<'a>,
    time: &DateTime<FixedOffset>,
    name: &str,
    args: &[Value<'a>],
) -> Result<Value<'a>, Problem> {
    let wanted = match name {
        "Format" => 1,
        "AddDate" => 3,
        _ => 0,
    };
    if args.len() != wanted {
        return Err(format!("{name} takes {wanted} arguments, got {}", args.len()).into());
    }
    Ok(match name {
        "Format" => match &args[0] {
            Value::Text(text) => context.text(layout::format(time, text.as_str()))?,
            other => return Err(format!("Format needs a layout, got {}", other.what()).into()),
        },
        "UTC" => Value::Time(time.with_timezone(&Utc).fixed_offset()),
        "String" => context.text(layout::go_string(time))?,
        "Unix" => Value::Int(time.timestamp()),
        "UnixMilli" => Value::Int(time.timestamp_millis()),
        "Year" => Value::Int(i64::from(time.year())),
        "Month" => context.text(layout::format(time, "January"))?,
        "Weekday" => context.text(layout::format(time, "Monday"))?,
        "Day" => Value::Int(i64::from(time.day())),
        "YearDay" => Value::Int(i64::from(time.ordinal())),
        "Hour" => Value::Int(i64::from(time.hour())),
        "Minute" => Value::Int(i64::from(time.minute())),
        "Second" => Value::Int(i64::from(time.second())),
        "Nanosecond" => Value::Int(i64::from(time.nanosecond())),
        "AddDate" => return add_date(time, args),
        _ => {
            let known = [
                "Format",
                "UTC",
                "String",
                "Unix",
                "UnixMilli",
                "Year",
                "Month",
                "Weekday",
            ];
            let hint = super::nearest(name, known.into_iter());
            return Err(format!("a time has no method {name}{hint}").into());
        }
    })
}

fn add_date<'a>(time: &DateTime<FixedOffset>, args: &[Value<'a>]) -> Result<Value<'a>, Problem> {
    let mut parts = [0_i64; 3];
    for (part, arg) in parts.iter_mut().zip(args) {
        match arg {
            Value::Int(i) => *part = *i,
            other => return Err(format!("AddDate needs integers, got {}", other.what()).into()),
        }
    }
    let [years, months, days] = parts;
    let added = || {
        let months = years.checked_mul(12)?.checked_add(months)?;
        let size = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
        let moved = match months < 0 {
            true => time.checked_sub_months(size)?,
            false => time.checked_add_months(size)?,
        };
        moved.checked_add_signed(chrono::TimeDelta::try_days(days)?)
    };
    added()
        .map(Value::Time)
        .ok_or_else(|| "AddDate leaves the range of times".into())
}
