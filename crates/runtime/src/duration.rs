//! Durations as Go writes them: `10s`, `1h30m`, `500ms`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A length of time in a configuration. Never negative; a number without a unit is refused,
/// because nobody agrees on what it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoDuration(Duration);

impl GoDuration {
    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    /// Whole minutes.
    pub const fn from_mins(minutes: u64) -> Self {
        Self::from_secs(minutes * 60)
    }

    /// The standard library's form.
    pub const fn get(self) -> Duration {
        self.0
    }

    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0.is_zero()
    }
}

impl From<Duration> for GoDuration {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl From<GoDuration> for Duration {
    fn from(duration: GoDuration) -> Self {
        duration.0
    }
}

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseDurationError {
    /// Nothing was written.
    #[error("a duration is missing; write for example `10s`")]
    Empty,
    /// `10`.
    #[error("the duration `{0}` has no unit; write for example `{0}s`")]
    NoUnit(String),
    /// `-10s`.
    #[error("the duration `{0}` is negative")]
    Negative(String),
    /// `10 seconds`.
    #[error("`{0}` is no duration; write for example `500ms`, `10s` or `1h30m`")]
    Malformed(String),
    /// More than Go's 292 years.
    #[error("the duration `{0}` is too long")]
    TooLong(String),
}

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

impl FromStr for GoDuration {
    type Err = ParseDurationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let own = || trimmed.to_owned();
        if trimmed.is_empty() {
            return Err(ParseDurationError::Empty);
        }
        if trimmed == "0" {
            return Ok(Self::default());
        }
        if trimmed.starts_with('-') {
            return Err(ParseDurationError::Negative(own()));
        }
        let mut rest = trimmed.strip_prefix('+').unwrap_or(trimmed);
        if rest.parse::<f64>().is_ok() {
            return Err(ParseDurationError::NoUnit(own()));
        }
        let mut nanos: u128 = 0;
        while !rest.is_empty() {
            let (part, after) =
                next_part(rest).ok_or_else(|| ParseDurationError::Malformed(own()))?;
            nanos = nanos.saturating_add(part);
            rest = after;
        }
        match u64::try_from(nanos) {
            Ok(nanos) if i64::try_from(nanos).is_ok() => Ok(Self(Duration::from_nanos(nanos))),
            _ => Err(ParseDurationError::TooLong(own())),
        }
    }
}

/// One number with its unit, in nanoseconds, and what follows it.
fn next_part(text: &str) -> Option<(u128, &str)> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let whole = &text[..digits(text)];
    let mut rest = &text[whole.len()..];
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        fraction = &after[..digits(after)];
        rest = &after[fraction.len()..];
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let unit_end = rest
        .find(|c: char| c == '.' || c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == &rest[..unit_end])?;
    let unit = u128::from(*unit);
    // An absurdly long number saturates and is then refused as too long.
    let number = |digits: &str| match digits {
        "" => 0,
        digits => digits.parse::<u128>().unwrap_or(u128::MAX),
    };
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let nanos = number(whole)
        .saturating_mul(unit)
        .saturating_add(number(fraction) * unit / scale);
    Some((nanos, &rest[unit_end..]))
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (name, unit) in ["h", "m", "s", "ms", "us", "ns"]
            .into_iter()
            .filter_map(|name| UNITS.iter().find(|(unit, _)| *unit == name))
        {
            let unit = u128::from(*unit);
            if rest >= unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        Ok(())
    }
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = GoDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as `10s`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<GoDuration, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<GoDuration, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<GoDuration, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<GoDuration, E> {
        self.visit_str(&number.to_string())
    }
}

impl JsonSchema for GoDuration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "format": "duration",
            "examples": ["500ms", "10s", "1h30m"],
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_of_go_are_read() {
        for (text, expected) in [
            ("0", Duration::ZERO),
            ("10s", Duration::from_secs(10)),
            ("1h30m", Duration::from_secs(5400)),
            ("500ms", Duration::from_millis(500)),
            ("1.5s", Duration::from_millis(1500)),
            (".5m", Duration::from_secs(30)),
            ("3us", Duration::from_micros(3)),
            ("3µs", Duration::from_micros(3)),
            ("7ns", Duration::from_nanos(7)),
            (" 5m ", Duration::from_secs(300)),
        ] {
            assert_eq!(
                text.parse::<GoDuration>().unwrap().get(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_says_what_to_write_instead() {
        for (text, part) in [
            ("10", "has no unit; write for example `10s`"),
            ("1.5", "has no unit"),
            ("", "missing"),
            ("-1s", "negative"),
            ("10 s", "no duration"),
            ("10d", "no duration"),
            ("s", "no duration"),
            ("1h30", "no duration"),
            ("99999999h", "too long"),
            ("9999999999999999999999999999999999999999999s", "too long"),
        ] {
            let error = text.parse::<GoDuration>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn zero_may_be_written_as_a_number() {
        assert!(serde_json::from_str::<GoDuration>("0").unwrap().is_zero());
        assert!(serde_json::from_str::<GoDuration>("5").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanos in 0..=i64::MAX as u64) {
            let duration = GoDuration::from(Duration::from_nanos(nanos));
            prop_assert_eq!(duration.to_string().parse::<GoDuration>(), Ok(duration));
            let json = serde_json::to_string(&duration).unwrap();
            prop_assert_eq!(serde_json::from_str::<GoDuration>(&json).unwrap(), duration);
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[0-9.hmsuµn+ -]{0,12}") {
            let _ = text.parse::<GoDuration>();
        }
    }
}
