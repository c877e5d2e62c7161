//! Whether an event is due now, and if not, when to look again.

mod rules;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::time::Duration;

use chrono::TimeDelta;
use hyperfleet_core::due::{self, Backoff, Published, Reason, View};
use hyperfleet_core::time::Time;
use serde_json::Value;

pub use rules::RulesError;
pub(crate) use rules::{Rules, environment};

/// The reason every event has that a rule decided.
pub(crate) const MATCHED: &str = "message decision matched";

/// How it is decided.
#[derive(Debug)]
pub(crate) enum Decision {
    /// By the time of the last report: exact, and knows its next moment.
    Backoff { backoff: Backoff, jitter: Jitter },
    /// By expressions, which have to be asked again and again.
    Rules {
        rules: Rules,
        /// An unchanged resource is not sent again before this has passed.
        repeat: Duration,
        /// When a rule that said no is asked again, unless the resource shows up before.
        recheck: Duration,
        jitter: Jitter,
    },
}

/// What moments that come again and again are spread by, so that what was reconciled together is not due together. A
/// part of the wait, 0 to 1; how much of it is the resource's own and never changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Jitter(pub(crate) f64);

impl Jitter {
    pub(crate) fn of(self, wait: Duration, spread: f64) -> Duration {
        // An absurd wait stays what it is.
        Duration::try_from_secs_f64(wait.as_secs_f64() * self.0 * spread).unwrap_or(Duration::MAX)
    }
}

/// What is known about a resource when it is decided on.
pub(crate) struct Known<'a> {
    pub(crate) view: &'a View,
    pub(crate) published: Option<&'a Published>,
    /// Whether it looks other than when it was last sent.
    pub(crate) changed: bool,
    /// From 0 to 1, the resource's own.
    pub(crate) spread: f64,
}

/// What to do with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Publish { reason: &'static str, due: Time },
    Wait { until: Time, skip: Skip },
}

/// Why nothing is sent: a value of a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    NotDue,
    ResultFalse,
    EvaluationError,
}

impl Skip {
    pub(crate) const ALL: [Skip; 3] = [Skip::NotDue, Skip::ResultFalse, Skip::EvaluationError];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Skip::NotDue => "not due",
            Skip::ResultFalse => "message decision result is false",
            Skip::EvaluationError => "evaluation_error",
        }
    }
}

impl Decision {
    /// Decides. `resource` is only asked for where expressions need it.
    pub(crate) fn next<'v>(
        &self,
        known: &Known<'_>,
        now: Time,
        resource: impl FnOnce() -> Cow<'v, Value>,
    ) -> Next {
        match self {
            Decision::Backoff { backoff, jitter } => {
                let due = due::due(known.view, known.published, *backoff);
                let at = match due.reason {
                    Reason::NotReady => later(due.at, jitter.of(backoff.not_ready, known.spread)),
                    Reason::Refresh => later(due.at, jitter.of(backoff.ready, known.spread)),
                    Reason::Progress => due.at,
                    Reason::Created | Reason::Changed | Reason::Deleted => due.at.min(now),
                };
                if at <= now {
                    Next::Publish {
                        reason: due.reason.as_str(),
                        due: at,
                    }
                } else {
                    Next::Wait {
                        until: at,
                        skip: Skip::NotDue,
                    }
                }
            }
            Decision::Rules {
                rules,
                repeat,
                recheck,
                jitter,
            } => {
                let wait = |until, skip| Next::Wait { until, skip };
                if let Some(published) = known.published.filter(|_| !known.changed) {
                    let again = later(published.at, *repeat);
                    let again = later(again, jitter.of(*repeat, known.spread));
                    if again > now {
                        return wait(again, Skip::NotDue);
                    }
                }
                match rules.matches(&resource(), now) {
                    Ok(true) => Next::Publish {
                        reason: MATCHED,
                        due: now,
                    },
                    Ok(false) => wait(later(now, *recheck), Skip::ResultFalse),
                    Err(error) => {
                        tracing::debug!(%error, "message decision failed: skipped");
                        wait(later(now, *recheck), Skip::EvaluationError)
                    }
                }
            }
        }
    }

    /// Whether the decision reads the resource itself, so that all of it must be kept.
    pub(crate) fn reads_resource(&self) -> bool {
        matches!(self, Decision::Rules { .. })
    }
}

/// Far in the future rather than an overflow.
pub(crate) fn later(time: Time, wait: Duration) -> Time {
    TimeDelta::from_std(wait)
        .ok()
        .and_then(|wait| time.checked_add_signed(wait))
        .unwrap_or(Time::MAX_UTC)
}
