//! Timestamps and durations: RFC 3339 and Go's duration strings.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Timelike, Utc};

pub(crate) const NANOS: i64 = 1_000_000_000;

/// RFC 3339 with any offset, years 1 to 9999.
pub(crate) fn parse_timestamp(text: &str) -> Option<DateTime<Utc>> {
    let bytes = text.as_bytes();
    let number = |from: usize, len: usize| -> Option<u32> {
        bytes.get(from..from + len)?.iter().try_fold(0, |n, b| {
            b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0'))
        })
    };
    let punctuation = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if bytes.len() < 20
        || punctuation.iter().any(|(at, c)| bytes[*at] != *c)
        || !matches!(bytes[10], b'T' | b't')
    {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(number(0, 4)? as i32, number(5, 2)?, number(8, 2)?)?;
    let mut at = 19;
    let mut nanos = 0;
    if bytes[at] == b'.' {
        let digits = bytes[at + 1..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        nanos = number(at + 1, digits)? * 10u32.pow(9 - digits as u32);
        at += 1 + digits;
    }
    let local = date.and_hms_nano_opt(number(11, 2)?, number(14, 2)?, number(17, 2)?, nanos)?;
    let offset = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 && bytes[at + 3] == b':' => {
            let (hours, minutes) = (number(at + 1, 2)?, number(at + 4, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = i64::from(hours * 3600 + minutes * 60);
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    in_range(
        local
            .and_utc()
            .checked_sub_signed(TimeDelta::seconds(offset))?,
    )
}

/// The range the language allows: years 1 to 9999.
pub(crate) fn in_range(time: DateTime<Utc>) -> Option<DateTime<Utc>> {
    (-62_135_596_800..253_402_300_800)
        .contains(&time.timestamp())
        .then_some(time)
}

/// RFC 3339 in UTC, as many fraction digits as needed.
pub(crate) fn format_timestamp(time: &DateTime<Utc>) -> String {
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let nanos = fraction(time.timestamp_subsec_nanos());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{nanos}Z")
}

/// What `now()` gives: whole seconds, as Go's RFC 3339 layout prints them.
pub(crate) fn now_text(now: DateTime<Utc>) -> String {
    format_timestamp(&now_seconds(now))
}

pub(crate) fn now_seconds(now: DateTime<Utc>) -> DateTime<Utc> {
    now.with_nanosecond(0).unwrap_or(now)
}

fn fraction(nanos: u32) -> String {
    if nanos == 0 {
        return String::new();
    }
    let digits = format!(".{nanos:09}");
    digits.trim_end_matches('0').to_owned()
}

/// Seconds with fraction and `s`, the JSON form of a duration: `90s`, `-0.5s`.
pub(crate) fn format_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let magnitude = nanos.unsigned_abs();
    let (seconds, rest) = (magnitude / NANOS as u64, magnitude % NANOS as u64);
    format!("{sign}{seconds}{}s", fraction(rest as u32))
}

/// Nanoseconds of a duration in Go's syntax: `1h30m`, `-1.5s`, `250ms`, `0`.
pub fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let (unit, scale): (&str, i128) = [
            ("ns", 1),
            ("us", 1_000),
            ("µs", 1_000),
            ("μs", 1_000),
            ("ms", 1_000_000),
            ("s", 1_000_000_000),
        ]
        .into_iter()
        .chain([("m", 60_000_000_000), ("h", 3_600_000_000_000)])
        .find(|(unit, _)| tail.starts_with(unit))?;
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && part.is_empty() || part.contains('.') || number.len() > 40 {
            return None;
        }
        let whole: i128 = if whole.is_empty() {
            0
        } else {
            whole.parse().ok()?
        };
        total = total.checked_add(whole.checked_mul(scale)?)?;
        // Digits below a nanosecond are dropped, as Go does.
        let mut weight = scale;
        for digit in part.bytes() {
            weight /= 10;
            total += i128::from(digit - b'0') * weight;
        }
        rest = &tail[unit.len()..];
    }
    i64::try_from(if negative { -total } else { total }).ok()
}
