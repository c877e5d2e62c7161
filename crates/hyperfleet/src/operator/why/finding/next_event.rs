//! When a Sentinel sends the next event, and by whose times.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Evidence;

/// Whose times the next event was computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::operator::why) enum Times {
    Default,
    /// Those that the Sentinels told the API.
    Announced,
    Configured,
}

/// When a Sentinel sends the next event.
#[derive(Debug, Clone, Serialize)]
pub(in crate::operator::why) struct NextEvent {
    pub(in crate::operator::why) due: bool,
    pub(in crate::operator::why) at: DateTime<Utc>,
    pub(in crate::operator::why) reason: String,
    pub(in crate::operator::why) rule: String,
    /// Whose backoffs they are.
    pub(in crate::operator::why) times: Times,
}

impl NextEvent {
    /// Of the Sentinel that sends first.
    pub(super) fn of(evidence: &Evidence<'_>) -> Option<NextEvent> {
        let watching = evidence.events.iter().filter(|why| why.watched);
        let why = watching.min_by_key(|why| why.at)?;
        Some(NextEvent {
            due: why.due,
            at: why.at,
            reason: why.reason.clone(),
            rule: why.rule.clone(),
            times: evidence.times,
        })
    }
}
