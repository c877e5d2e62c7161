//! Text to time by a layout: `time.Parse`.

use chrono::{DateTime, FixedOffset, NaiveDate, TimeZone};

use super::{DAYS, MONTHS, Part, Zone, split};

struct Fields {
    year: i32,
    month: u32,
    day: u32,
    year_day: Option<u32>,
    hour: u32,
    pm: Option<bool>,
    minute: u32,
    second: u32,
    nanos: u32,
    offset: i32,
}

/// Reads `text` by `layout`; what the layout does not mention is zero, as in Go.
pub(in crate::template) fn parse(
    layout: &str,
    text: &str,
) -> Result<DateTime<FixedOffset>, String> {
    let mut fields = Fields {
        year: 0,
        month: 1,
        day: 1,
        year_day: None,
        hour: 0,
        pm: None,
        minute: 0,
        second: 0,
        nanos: 0,
        offset: 0,
    };
    let mut rest = text;
    let mut todo = layout;
    loop {
        let (literal, part) = split(todo);
        rest = skip_literal(rest, literal).ok_or_else(|| mismatch(layout, text, literal, rest))?;
        let Some((part, after)) = part else {
            break;
        };
        rest = fields.read(part, rest).ok_or_else(|| {
            mismatch(
                layout,
                text,
                &todo[literal.len()..todo.len() - after.len()],
                rest,
            )
        })?;
        // Go accepts a fraction after the seconds even if the layout has none.
        let seconds = matches!(part, Part::Second | Part::ZeroSecond);
        if seconds && !after.starts_with(['.', ',']) {
            rest = fields.read_fraction(rest, None).unwrap_or(rest);
        }
        todo = after;
    }
    if !rest.is_empty() {
        return Err(format!(
            "{text:?} has more than the layout {layout:?}: {rest:?}"
        ));
    }
    fields
        .time()
        .ok_or_else(|| format!("{text:?} is no valid date and time"))
}

fn mismatch(layout: &str, text: &str, wanted: &str, rest: &str) -> String {
    format!("{text:?} does not fit the layout {layout:?}: wanted {wanted:?} at {rest:?}")
}

/// Spaces in a layout stand for any number of spaces.
fn skip_literal<'t>(mut text: &'t str, literal: &str) -> Option<&'t str> {
    for c in literal.chars() {
        text = match c {
            ' ' if text.is_empty() || text.starts_with(' ') => text.trim_start_matches(' '),
            c => text.strip_prefix(c)?,
        };
    }
    Some(text)
}

fn digits(text: &str, min: usize, max: usize) -> Option<(u32, &str)> {
    let count = text
        .bytes()
        .take(max)
        .take_while(u8::is_ascii_digit)
        .count();
    if count < min {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

fn name<'t>(text: &'t str, names: &[&str], short: bool) -> Option<(usize, &'t str)> {
    names.iter().enumerate().find_map(|(i, name)| {
        let name = if short { &name[..3] } else { name };
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name)
            .then(|| (i, &text[name.len()..]))
    })
}

impl Fields {
    fn read<'t>(&mut self, part: Part, text: &'t str) -> Option<&'t str> {
        let (slot, (value, rest)) = match part {
            Part::LongMonth | Part::ShortMonth => {
                let (i, rest) = name(text, &MONTHS, part == Part::ShortMonth)?;
                self.month = i as u32 + 1;
                return Some(rest);
            }
            Part::LongWeekday | Part::ShortWeekday => {
                return Some(name(text, &DAYS, part == Part::ShortWeekday)?.1);
            }
            Part::LongYear => {
                let (year, rest) = digits(text, 4, 4)?;
                self.year = year as i32;
                return Some(rest);
            }
            Part::ShortYear => {
                let (year, rest) = digits(text, 2, 2)?;
                self.year = if year >= 69 { 1900 } else { 2000 } + year as i32;
                return Some(rest);
            }
            Part::UpperPm | Part::LowerPm => {
                let upper = part == Part::UpperPm;
                let (am, pm) = if upper { ("AM", "PM") } else { ("am", "pm") };
                self.pm = Some(text.starts_with(pm));
                return text.strip_prefix(am).or_else(|| text.strip_prefix(pm));
            }
            Part::SpaceYearDay | Part::ZeroYearDay => {
                let trimmed = match part {
                    Part::SpaceYearDay => text.trim_start_matches(' '),
                    _ => text,
                };
                let (day, rest) = digits(trimmed, 1, 3)?;
                self.year_day = Some(day);
                return Some(rest);
            }
            Part::ZoneName => {
                return text
                    .strip_prefix("UTC")
                    .or_else(|| text.strip_prefix("GMT"));
            }
            Part::Offset(zone) => return self.read_offset(zone, text),
            Part::Fraction { zeros, digits, .. } => {
                let wanted = zeros.then_some(digits);
                return match self.read_fraction(text, wanted) {
                    None if !zeros => Some(text),
                    read => read,
                };
            }
            Part::Month => (&mut self.month, digits(text, 1, 2)?),
            Part::ZeroMonth => (&mut self.month, digits(text, 2, 2)?),
            Part::Day => (&mut self.day, digits(text, 1, 2)?),
            Part::ZeroDay => (&mut self.day, digits(text, 2, 2)?),
            Part::SpaceDay => {
                let text = text.strip_prefix(' ').unwrap_or(text);
                (&mut self.day, digits(text, 1, 2)?)
            }
            Part::Hour24 => (&mut self.hour, digits(text, 2, 2)?),
            Part::Hour12 => (&mut self.hour, digits(text, 1, 2)?),
            Part::ZeroHour12 => (&mut self.hour, digits(text, 2, 2)?),
            Part::Minute => (&mut self.minute, digits(text, 1, 2)?),
            Part::ZeroMinute => (&mut self.minute, digits(text, 2, 2)?),
            Part::Second => (&mut self.second, digits(text, 1, 2)?),
            Part::ZeroSecond => (&mut self.second, digits(text, 2, 2)?),
        };
        *slot = value;
        Some(rest)
    }

    fn read_fraction<'t>(&mut self, text: &'t str, wanted: Option<usize>) -> Option<&'t str> {
        let tail = text.strip_prefix(['.', ','])?;
        let count = tail.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 || count > 9 || wanted.is_some_and(|wanted| wanted != count) {
            return None;
        }
        let value: u32 = tail[..count].parse().ok()?;
        self.nanos = value * 10_u32.pow(9 - count as u32);
        Some(&tail[count..])
    }

    fn read_offset<'t>(&mut self, zone: Zone, text: &'t str) -> Option<&'t str> {
        if zone.z
            && let Some(rest) = text.strip_prefix('Z')
        {
            return Some(rest);
        }
        let sign = match text.chars().next()? {
            '+' => 1,
            '-' => -1,
            _ => return None,
        };
        let mut rest = &text[1..];
        let mut seconds = 0;
        for (unit, wanted) in [(3600, true), (60, zone.minutes), (1, zone.seconds)] {
            if !wanted {
                break;
            }
            if zone.colon && unit != 3600 {
                rest = rest.strip_prefix(':')?;
            }
            let (value, after) = digits(rest, 2, 2)?;
            seconds += value as i32 * unit;
            rest = after;
        }
        self.offset = sign * seconds;
        Some(rest)
    }

    fn time(&self) -> Option<DateTime<FixedOffset>> {
        let date = match self.year_day {
            Some(day) => NaiveDate::from_yo_opt(self.year, day)?,
            None => NaiveDate::from_ymd_opt(self.year, self.month, self.day)?,
        };
        let hour = match self.pm {
            Some(pm) if self.hour <= 12 => self.hour % 12 + if pm { 12 } else { 0 },
            Some(_) => return None,
            None => self.hour,
        };
        let time = date.and_hms_nano_opt(hour, self.minute, self.second, self.nanos)?;
        FixedOffset::east_opt(self.offset)?
            .from_local_datetime(&time)
            .single()
    }
}
