//! Annotations that say how a workload shall turn out.

use std::time::Duration;

use serde_json::Value;

use crate::meta;

const OUTCOME: &str = "kubesim.hyperfleet.io/outcome";
const AFTER: &str = "kubesim.hyperfleet.io/after";
const MESSAGE: &str = "kubesim.hyperfleet.io/message";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeed,
    Fail,
    /// Nothing ever comes of it.
    Hang,
}

/// An annotation of the object, else of its pod template.
fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    meta::annotation(object, key).or_else(|| meta::annotation(&object["spec"]["template"], key))
}

/// Anything but the three words is ignored with a log line: a test that steers wrongly should not hang.
pub(super) fn outcome(object: &Value) -> Outcome {
    match annotation(object, OUTCOME) {
        None | Some("succeed") => Outcome::Succeed,
        Some("fail") => Outcome::Fail,
        Some("hang") => Outcome::Hang,
        Some(other) => {
            tracing::warn!(
                name = meta::name(object),
                outcome = other,
                "unknown {OUTCOME}; use succeed, fail or hang"
            );
            Outcome::Succeed
        }
    }
}

pub(super) fn after(object: &Value, default: Duration) -> Duration {
    match annotation(object, AFTER) {
        None => default,
        Some(text) => parse(text).unwrap_or_else(|| {
            tracing::warn!(
                name = meta::name(object),
                after = text,
                "{AFTER} is not a Go duration such as 2s or 1m30s"
            );
            default
        }),
    }
}

pub(super) fn message(object: &Value) -> Option<&str> {
    annotation(object, MESSAGE)
}

/// Go's duration syntax: `300ms`, `1.5h`, `2m30s`.
fn parse(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = 0.0;
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[end..];
    }
    Duration::try_from_secs_f64(total).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations_are_understood() {
        for (text, millis) in [
            ("2s", 2000),
            ("1m30s", 90_000),
            ("250ms", 250),
            ("1.5s", 1500),
            ("0", 0),
            ("1h", 3_600_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for bad in ["", "5", "s", "1x", "-1s", "1s1"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
