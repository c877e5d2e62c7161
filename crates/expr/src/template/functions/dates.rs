//! Dates and durations. Times are UTC unless they carry an offset.

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};

use super::{Function, Outcome, integer, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;
use crate::template::{layout, times};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("now", 0, 0, |c, _| Ok(Value::Time(times::utc(c.now)))),
    plain("date", 2, 2, date),
    plain("dateFormat", 2, 2, date),
    plain("htmlDate", 1, 1, |c, a| {
        c.text(layout::format(&in_utc(&a[0])?, "2006-01-02"))
    }),
    plain("toDate", 2, 2, |_, a| {
        match layout::parse(&text(a, 0)?, &text(a, 1)?) {
            Ok(time) => Ok(Value::Time(time)),
            Err(message) => Err(message.into()),
        }
    }),
    plain("dateModify", 2, 2, |_, a| {
        let delta = parse_duration(&text(a, 0)?)?;
        let moved = times::time(&a[1])?.checked_add_signed(delta);
        moved
            .map(Value::Time)
            .ok_or_else(|| "the time is out of range".into())
    }),
    plain("unixEpoch", 1, 1, |c, a| {
        c.text(times::time(&a[0])?.timestamp().to_string())
    }),
    plain("ago", 1, 1, |c, a| {
        let age = c.now.fixed_offset() - times::time(&a[0])?;
        let half_up =
            age + TimeDelta::milliseconds(if age < TimeDelta::zero() { -500 } else { 500 });
        c.text(go_duration(half_up.num_seconds()))
    }),
    plain("duration", 1, 1, |c, a| c.text(go_duration(integer(a, 0)?))),
    plain("durationRound", 1, 1, duration_round),
];

fn in_utc(value: &Value<'_>) -> Result<DateTime<FixedOffset>, Problem> {
    Ok(times::utc(times::time(value)?.with_timezone(&Utc)))
}

fn date<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    context.text(layout::format(&times::time(&args[1])?, &text(args, 0)?))
}

/// Go's `time.ParseDuration`: `-1.5h`, `300ms`, `1h30m`.
fn parse_duration(text: &str) -> Result<TimeDelta, Problem> {
    let bad = || {
        Problem::from(format!(
            "{text:?} is no duration: expected such as 90s, 10m or -1h30m"
        ))
    };
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(TimeDelta::zero());
    }
    let mut nanos = 0.0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c != '.' && !c.is_ascii_digit())
            .ok_or_else(bad)?;
        let value: f64 = rest[..end].parse().map_err(|_| bad())?;
        rest = &rest[end..];
        let end = rest
            .find(|c: char| c == '.' || c.is_ascii_digit())
            .unwrap_or(rest.len());
        nanos += value
            * match &rest[..end] {
                "ns" => 1.0,
                "us" | "µs" | "μs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                "m" => 60e9,
                "h" => 3600e9,
                _ => return Err(bad()),
            };
        rest = &rest[end..];
    }
    if text.is_empty() || nanos >= 9e18 {
        return Err(bad());
    }
    Ok(TimeDelta::nanoseconds((sign * nanos).round() as i64))
}

/// Seconds as Go prints a duration: `1h2m3s`.
fn go_duration(seconds: i64) -> String {
    let size = seconds.unsigned_abs();
    let sign = if seconds < 0 { "-" } else { "" };
    let (hours, minutes, seconds) = (size / 3600, size / 60 % 60, size % 60);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// The largest unit only: `2h`, `5d`, `1y`.
fn duration_round<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let delta = match &args[0] {
        Value::Text(text) => parse_duration(text.as_str())?,
        Value::Time(time) => context.now.fixed_offset() - time,
        other => return Err(super::wrong(0, "a duration or a time", other)),
    };
    let seconds = delta.num_seconds().unsigned_abs();
    let nanos = delta.abs() > TimeDelta::seconds(seconds as i64);
    let units = [
        (31_536_000, "y"),
        (2_592_000, "mo"),
        (86_400, "d"),
        (3600, "h"),
        (60, "m"),
        (1, "s"),
    ];
    for (size, unit) in units {
        if seconds > size || (seconds == size && nanos) {
            return context.text(format!("{}{unit}", seconds / size));
        }
    }
    context.text("0s".to_owned())
}
