//! Go's time layouts: formatting and parsing by the reference time
//! `Mon Jan 2 15:04:05 MST 2006`.

mod parse;

use std::fmt::Write as _;

use chrono::{DateTime, Datelike, FixedOffset, Timelike};

pub(super) use parse::parse;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    LongMonth,
    ShortMonth,
    Month,
    ZeroMonth,
    LongWeekday,
    ShortWeekday,
    Day,
    SpaceDay,
    ZeroDay,
    SpaceYearDay,
    ZeroYearDay,
    Hour24,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    ShortYear,
    UpperPm,
    LowerPm,
    ZoneName,
    Offset(Zone),
    Fraction {
        comma: bool,
        /// `.000` writes zeros at the end, `.999` leaves them out.
        zeros: bool,
        digits: usize,
    },
}

/// A numeric zone: `-07`, `-0700`, `-07:00`, each also with seconds and as `Z…`,
/// which writes `Z` for UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Zone {
    z: bool,
    colon: bool,
    minutes: bool,
    seconds: bool,
}

const fn zone(z: bool, colon: bool, minutes: bool, seconds: bool) -> Part {
    Part::Offset(Zone {
        z,
        colon,
        minutes,
        seconds,
    })
}

/// What Go looks for at each position, in its order.
const PARTS: [(&str, Part); 33] = [
    ("January", Part::LongMonth),
    ("Jan", Part::ShortMonth),
    ("Monday", Part::LongWeekday),
    ("Mon", Part::ShortWeekday),
    ("MST", Part::ZoneName),
    ("01", Part::ZeroMonth),
    ("02", Part::ZeroDay),
    ("03", Part::ZeroHour12),
    ("04", Part::ZeroMinute),
    ("05", Part::ZeroSecond),
    ("06", Part::ShortYear),
    ("002", Part::ZeroYearDay),
    ("15", Part::Hour24),
    ("1", Part::Month),
    ("2006", Part::LongYear),
    ("2", Part::Day),
    ("_2", Part::SpaceDay),
    ("__2", Part::SpaceYearDay),
    ("3", Part::Hour12),
    ("4", Part::Minute),
    ("5", Part::Second),
    ("PM", Part::UpperPm),
    ("pm", Part::LowerPm),
    ("-070000", zone(false, false, true, true)),
    ("-07:00:00", zone(false, true, true, true)),
    ("-0700", zone(false, false, true, false)),
    ("-07:00", zone(false, true, true, false)),
    ("-07", zone(false, false, false, false)),
    ("Z070000", zone(true, false, true, true)),
    ("Z07:00:00", zone(true, true, true, true)),
    ("Z0700", zone(true, false, true, false)),
    ("Z07:00", zone(true, true, true, false)),
    ("Z07", zone(true, false, false, false)),
];

/// The text before the first element, the element, and the rest.
fn split(layout: &str) -> (&str, Option<(Part, &str)>) {
    for (i, _) in layout.char_indices() {
        let rest = &layout[i..];
        // `_2006` is an underscore and a year.
        if let Some(after) = rest.strip_prefix("_2006") {
            return (&layout[..=i], Some((Part::LongYear, after)));
        }
        for (text, part) in PARTS {
            let Some(after) = rest.strip_prefix(text) else {
                continue;
            };
            let abbreviates = matches!(part, Part::ShortMonth | Part::ShortWeekday);
            if abbreviates && after.starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            return (&layout[..i], Some((part, after)));
        }
        if let Some((part, after)) = fraction(rest) {
            return (&layout[..i], Some((part, after)));
        }
    }
    (layout, None)
}

fn fraction(rest: &str) -> Option<(Part, &str)> {
    let tail = rest.strip_prefix(['.', ','])?;
    let digit = tail.chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let after = tail.trim_start_matches(digit);
    if after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let part = Part::Fraction {
        comma: rest.starts_with(','),
        zeros: digit == '0',
        digits: tail.len() - after.len(),
    };
    Some((part, after))
}

/// `time.Time.Format`.
pub(super) fn format(time: &DateTime<FixedOffset>, layout: &str) -> String {
    let mut out = String::with_capacity(layout.len() + 10);
    let mut rest = layout;
    loop {
        let (literal, part) = split(rest);
        out.push_str(literal);
        let Some((part, after)) = part else {
            return out;
        };
        write_part(&mut out, time, part);
        rest = after;
    }
}

fn write_part(out: &mut String, time: &DateTime<FixedOffset>, part: Part) {
    let month = MONTHS[time.month0() as usize];
    let weekday = DAYS[time.weekday().num_days_from_monday() as usize];
    let hour12 = if time.hour().is_multiple_of(12) {
        12
    } else {
        time.hour() % 12
    };
    let done = match part {
        Part::LongMonth => write!(out, "{month}"),
        Part::ShortMonth => write!(out, "{}", &month[..3]),
        Part::Month => write!(out, "{}", time.month()),
        Part::ZeroMonth => write!(out, "{:02}", time.month()),
        Part::LongWeekday => write!(out, "{weekday}"),
        Part::ShortWeekday => write!(out, "{}", &weekday[..3]),
        Part::Day => write!(out, "{}", time.day()),
        Part::SpaceDay => write!(out, "{:2}", time.day()),
        Part::ZeroDay => write!(out, "{:02}", time.day()),
        Part::SpaceYearDay => write!(out, "{:3}", time.ordinal()),
        Part::ZeroYearDay => write!(out, "{:03}", time.ordinal()),
        Part::Hour24 => write!(out, "{:02}", time.hour()),
        Part::Hour12 => write!(out, "{hour12}"),
        Part::ZeroHour12 => write!(out, "{hour12:02}"),
        Part::Minute => write!(out, "{}", time.minute()),
        Part::ZeroMinute => write!(out, "{:02}", time.minute()),
        Part::Second => write!(out, "{}", time.second()),
        Part::ZeroSecond => write!(out, "{:02}", time.second()),
        Part::LongYear => write!(out, "{:04}", time.year()),
        Part::ShortYear => write!(out, "{:02}", time.year().rem_euclid(100)),
        Part::UpperPm => write!(out, "{}", if time.hour() < 12 { "AM" } else { "PM" }),
        Part::LowerPm => write!(out, "{}", if time.hour() < 12 { "am" } else { "pm" }),
        Part::ZoneName => write_zone_name(out, time),
        Part::Offset(zone) => write_offset(out, time.offset().local_minus_utc(), zone),
        Part::Fraction {
            comma,
            zeros,
            digits,
        } => {
            let nanos = format!("{:09}", time.nanosecond() % 1_000_000_000);
            let mut shown = &nanos[..digits.min(9)];
            if !zeros {
                shown = shown.trim_end_matches('0');
            }
            match shown {
                "" => Ok(()),
                shown => write!(out, "{}{shown}", if comma { ',' } else { '.' }),
            }
        }
    };
    // Writing to a String cannot fail.
    done.unwrap_or_default();
}

fn write_zone_name(out: &mut String, time: &DateTime<FixedOffset>) -> std::fmt::Result {
    match time.offset().local_minus_utc() {
        0 => write!(out, "UTC"),
        // Go writes the number where it knows no name.
        seconds if seconds % 3600 == 0 => write_offset(
            out,
            seconds,
            Zone {
                z: false,
                colon: false,
                minutes: false,
                seconds: false,
            },
        ),
        seconds => write_offset(
            out,
            seconds,
            Zone {
                z: false,
                colon: false,
                minutes: true,
                seconds: false,
            },
        ),
    }
}

fn write_offset(out: &mut String, seconds: i32, zone: Zone) -> std::fmt::Result {
    if zone.z && seconds == 0 {
        return write!(out, "Z");
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let colon = if zone.colon { ":" } else { "" };
    write!(out, "{sign}{:02}", seconds / 3600)?;
    if zone.minutes {
        write!(out, "{colon}{:02}", seconds / 60 % 60)?;
    }
    if zone.seconds {
        write!(out, "{colon}{:02}", seconds % 60)?;
    }
    Ok(())
}

/// `time.Time.String`, which is what `{{ now }}` prints.
pub(super) fn go_string(time: &DateTime<FixedOffset>) -> String {
    format(time, "2006-01-02 15:04:05.999999999 -0700 MST")
}
