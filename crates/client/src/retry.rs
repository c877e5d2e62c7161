//! Whether to try again, and after how long.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::StatusCode;

/// How often and how patiently a call is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// In total, the first one included; zero counts as one.
    pub attempts: u32,
    pub backoff: Backoff,
    pub base_delay: Duration,
    /// No wait is longer, whatever the server asks for.
    pub max_delay: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            attempts: 3,
            backoff: Backoff::Exponential,
            base_delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(30),
        }
    }
}

impl Retry {
    /// One attempt and no more.
    pub const NEVER: Retry = Retry {
        attempts: 1,
        backoff: Backoff::Constant,
        base_delay: Duration::ZERO,
        max_delay: Duration::ZERO,
    };

    /// The wait after attempt number `attempt` (from 1). `dice` in 0..1 spreads it by ±10 %, so that
    /// callers that failed together do not return together.
    pub fn delay(&self, attempt: u32, dice: f64) -> Duration {
        let grown = match self.backoff {
            Backoff::Constant => self.base_delay,
            Backoff::Linear => self.base_delay.saturating_mul(attempt.max(1)),
            Backoff::Exponential => {
                let doublings = attempt.saturating_sub(1).min(31);
                self.base_delay.saturating_mul(1 << doublings)
            }
        };
        let capped = grown.min(self.max_delay);
        capped
            .mul_f64(0.9 + 0.2 * dice.clamp(0.0, 1.0))
            .min(self.max_delay)
    }

    /// As [`delay`](Self::delay), but at least what the server asked for, as far as we are willing to wait.
    pub fn delay_asked(&self, attempt: u32, dice: f64, asked: Option<Duration>) -> Duration {
        let own = self.delay(attempt, dice);
        asked.map_or(own, |asked| own.max(asked).min(self.max_delay))
    }
}

/// How the wait grows with each attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    Exponential,
    Linear,
    Constant,
}

/// Whether the same request may be answered better later.
pub(crate) fn is_worth_retrying(status: StatusCode) -> bool {
    status.is_server_error()
        || status == StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::TOO_MANY_REQUESTS
}

/// The value of `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?;
    // A date that has passed asks for nothing.
    Some((date.to_utc() - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIDDLE: f64 = 0.5;

    #[test]
    fn the_wait_grows_as_configured_and_stops_at_the_maximum() {
        let with = |backoff| Retry {
            backoff,
            max_delay: Duration::from_secs(5),
            ..Retry::default()
        };
        let seconds = |backoff| -> Vec<u64> {
            (1..=5)
                .map(|attempt| with(backoff).delay(attempt, MIDDLE).as_secs())
                .collect()
        };
        assert_eq!(seconds(Backoff::Exponential), [1, 2, 4, 5, 5]);
        assert_eq!(seconds(Backoff::Linear), [1, 2, 3, 4, 5]);
        assert_eq!(seconds(Backoff::Constant), [1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_server_that_asks_for_time_gets_it_up_to_the_maximum() {
        let retry = Retry::default();
        let asked = |seconds| {
            retry
                .delay_asked(1, MIDDLE, Some(Duration::from_secs(seconds)))
                .as_secs()
        };
        assert_eq!(asked(7), 7);
        assert_eq!(asked(3600), 30);
        assert_eq!(asked(0), 1);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = "2026-01-31T12:00:00Z".parse().unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(
            read("Sat, 31 Jan 2026 12:00:05 GMT"),
            Some(Duration::from_secs(5))
        );
        assert_eq!(read("Sat, 31 Jan 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
    }

    #[test]
    fn only_what_may_change_by_itself_is_tried_again() {
        let retried: Vec<u16> = (200..600)
            .filter(|code| is_worth_retrying(StatusCode::from_u16(*code).unwrap()))
            .filter(|code| *code < 500)
            .collect();
        assert_eq!(retried, [408, 429]);
    }

    proptest! {
        #[test]
        fn a_wait_is_within_ten_percent_and_never_above_the_maximum(
            attempt in 0u32..1000,
            dice in 0.0f64..1.0,
            base in 0u64..100_000,
            max in 0u64..100_000,
        ) {
            let retry = Retry {
                base_delay: Duration::from_millis(base),
                max_delay: Duration::from_millis(max),
                ..Retry::default()
            };
            let (low, middle, high) = (retry.delay(attempt, 0.0), retry.delay(attempt, 0.5), retry.delay(attempt, dice));
            prop_assert!(high <= retry.max_delay);
            prop_assert!(low <= high);
            prop_assert!(low.as_secs_f64() >= middle.as_secs_f64() * 0.89);
        }
    }
}
