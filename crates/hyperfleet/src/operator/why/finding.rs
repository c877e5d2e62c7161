//! What follows from what is known about a resource. Nothing is asked here.

mod adapter;
mod advice;
mod blocker;
mod next_event;
mod verdict;

use chrono::{DateTime, Utc};
use hyperfleet_client::RemoteResource;
use hyperfleet_sentinel::Why;
use serde::Serialize;
use serde_json::Value;

use crate::operator::kinds::KindInfo;

pub(super) use adapter::{Adapter, State};
pub(super) use blocker::Blocker;
pub(super) use next_event::{NextEvent, Times};

/// Everything that was found out.
pub(super) struct Evidence<'a> {
    pub(super) kind: &'a KindInfo,
    pub(super) resource: &'a RemoteResource,
    pub(super) statuses: &'a Value,
    /// Of one that is being deleted.
    pub(super) children: &'a [RemoteResource],
    /// `None` if the server does not tell.
    pub(super) sentinels: Option<&'a [String]>,
    pub(super) events: &'a [Why],
    pub(super) times: Times,
    pub(super) now: DateTime<Utc>,
}

/// Why a resource is as it is.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// The answer in a sentence.
    pub(super) verdict: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) phase: String,
    pub(super) wanted: Wanted,
    pub(super) adapters: Vec<Adapter>,
    /// What it waits for, each with what it says.
    pub(super) blocked_by: Vec<Blocker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_reconciled_since: Option<DateTime<Utc>>,
    pub(super) next_event: Option<NextEvent>,
    /// The Sentinels that watch it; absent if the server does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sentinels: Option<Vec<String>>,
    /// Commands to try.
    pub(super) try_next: Vec<String>,
    pub(super) now: DateTime<Utc>,
}

/// What is wanted, since when, and by whom.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Wanted {
    pub(super) generation: i64,
    pub(super) deletion: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) by: String,
}

impl Finding {
    pub(super) fn of(evidence: &Evidence<'_>) -> Finding {
        let resource = evidence.resource;
        let adapters = adapter::all(evidence);
        let blocked_by = blocker::all(evidence, &adapters);
        let reconciled = resource.condition("Reconciled");
        let open = reconciled.filter(|it| it.status != "True");
        let text = |name: &str| resource.raw[name].as_str().unwrap_or_default().to_owned();
        let deletion = resource.is_deleting();
        let finding = Finding {
            verdict: String::new(),
            kind: resource.kind.clone(),
            name: resource.name.clone(),
            id: resource.id.clone(),
            phase: resource.status.phase.clone().unwrap_or_default(),
            wanted: Wanted {
                generation: resource.generation,
                deletion,
                since: match deletion {
                    true => resource.deleted_time,
                    false => resource.updated_time,
                },
                by: text(if deletion { "deleted_by" } else { "updated_by" }),
            },
            adapters,
            blocked_by,
            not_reconciled_since: open.and_then(|it| it.last_transition_time),
            next_event: NextEvent::of(evidence),
            sentinels: evidence.sentinels.map(<[String]>::to_vec),
            try_next: Vec::new(),
            now: evidence.now,
        };
        Finding {
            verdict: verdict::of(&finding, evidence),
            try_next: advice::of(&finding, evidence),
            ..finding
        }
    }

    /// How long it has not been reconciled.
    pub(super) fn stuck_for(&self) -> Option<chrono::TimeDelta> {
        self.not_reconciled_since.map(|since| self.now - since)
    }
    /// The names of what blocks it, of one sort.
    fn blocking(&self, what: &str) -> Vec<&str> {
        let blockers = self.blocked_by.iter();
        blockers
            .filter(|it| it.what == what)
            .map(|it| it.name.as_str())
            .collect()
    }
}

#[cfg(test)]
#[path = "finding/tests.rs"]
mod tests;
