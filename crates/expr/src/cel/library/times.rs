//! Parts of timestamps and durations, and the clock.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDateTime, Timelike, Utc};

use super::{Accepts, Builtin, Outcome, STRING};
use crate::cel::clock::{self, NANOS};
use crate::cel::error::{EvalError, Fault, invalid};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::Value;

const TIME: Accepts = Accepts::only(Type::Timestamp);
const TIME_OR_SPAN: Accepts = TIME.or(Type::Duration);

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("now", &[], Type::String, now).impure(),
    Builtin::member("toUnixTime", &[TIME], Type::Int, unix_time),
    Builtin::member("getFullYear", &[TIME], Type::Int, full_year),
    Builtin::member("getFullYear", &[TIME, STRING], Type::Int, full_year),
    Builtin::member("getMonth", &[TIME], Type::Int, month),
    Builtin::member("getMonth", &[TIME, STRING], Type::Int, month),
    Builtin::member("getDayOfYear", &[TIME], Type::Int, day_of_year),
    Builtin::member("getDayOfYear", &[TIME, STRING], Type::Int, day_of_year),
    Builtin::member("getDayOfMonth", &[TIME], Type::Int, day_of_month),
    Builtin::member("getDayOfMonth", &[TIME, STRING], Type::Int, day_of_month),
    Builtin::member("getDate", &[TIME], Type::Int, date),
    Builtin::member("getDate", &[TIME, STRING], Type::Int, date),
    Builtin::member("getDayOfWeek", &[TIME], Type::Int, day_of_week),
    Builtin::member("getDayOfWeek", &[TIME, STRING], Type::Int, day_of_week),
    Builtin::member("getHours", &[TIME_OR_SPAN], Type::Int, hours),
    Builtin::member("getHours", &[TIME, STRING], Type::Int, hours),
    Builtin::member("getMinutes", &[TIME_OR_SPAN], Type::Int, minutes),
    Builtin::member("getMinutes", &[TIME, STRING], Type::Int, minutes),
    Builtin::member("getSeconds", &[TIME_OR_SPAN], Type::Int, seconds),
    Builtin::member("getSeconds", &[TIME, STRING], Type::Int, seconds),
    Builtin::member("getMilliseconds", &[TIME_OR_SPAN], Type::Int, milliseconds),
    Builtin::member("getMilliseconds", &[TIME, STRING], Type::Int, milliseconds),
];

fn now<'a>(meter: &mut Meter<'_>, _: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::string(clock::now_text(meter.now)))
}

/// Seconds since 1970.
fn unix_time<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match args {
        [Value::Timestamp(time)] => Ok(Value::Int(time.timestamp())),
        _ => Err(Fault::Overload),
    }
}

/// A part of a timestamp in the asked zone, or of a duration as a whole.
fn part<'a>(
    args: &[Value<'a>],
    of_time: fn(&NaiveDateTime) -> i64,
    of_span: Option<fn(i64) -> i64>,
) -> Outcome<'a> {
    match (args, of_span) {
        ([Value::Timestamp(t)], _) => Ok(Value::Int(of_time(&t.naive_utc()))),
        ([Value::Timestamp(t), Value::String(zone)], _) => {
            Ok(Value::Int(of_time(&local(t, zone.as_str())?)))
        }
        ([Value::Duration(d)], Some(of_span)) => Ok(Value::Int(of_span(*d))),
        _ => Err(Fault::Overload),
    }
}

/// `UTC`, a fixed offset such as `-05:30`, or an IANA name.
fn local(time: &DateTime<Utc>, zone: &str) -> Result<NaiveDateTime, Box<EvalError>> {
    if zone == "UTC" || zone.is_empty() {
        return Ok(time.naive_utc());
    }
    if let Some(offset) = fixed_offset(zone) {
        return Ok(time.with_timezone(&offset).naive_local());
    }
    named_zone(time, zone).ok_or_else(|| invalid(format!("unknown time zone {zone:?}")))
}

#[cfg(feature = "time-zones")]
fn named_zone(time: &DateTime<Utc>, zone: &str) -> Option<NaiveDateTime> {
    zone.parse::<chrono_tz::Tz>()
        .ok()
        .map(|zone| time.with_timezone(&zone).naive_local())
}

#[cfg(not(feature = "time-zones"))]
fn named_zone(_: &DateTime<Utc>, _: &str) -> Option<NaiveDateTime> {
    None
}

fn fixed_offset(zone: &str) -> Option<FixedOffset> {
    let (sign, digits) = match zone.as_bytes().first()? {
        b'-' => (-1, &zone[1..]),
        b'+' => (1, &zone[1..]),
        _ => (1, zone),
    };
    let (hours, minutes) = digits.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60))
}

fn full_year<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.year()), None)
}

fn month<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.month0()), None)
}

fn day_of_year<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.ordinal0()), None)
}

fn day_of_month<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.day0()), None)
}

fn date<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.day()), None)
}

fn day_of_week<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(
        args,
        |t| i64::from(t.weekday().num_days_from_sunday()),
        None,
    )
}

fn hours<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.hour()), Some(|d| d / (3600 * NANOS)))
}

fn minutes<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.minute()), Some(|d| d / (60 * NANOS)))
}

fn seconds<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(args, |t| i64::from(t.second()), Some(|d| d / NANOS))
}

fn milliseconds<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    part(
        args,
        |t| i64::from(t.nanosecond() / 1_000_000),
        Some(|d| d / 1_000_000),
    )
}
