//! What happened: who changed what was wanted, and which reports changed what was known. Outlives the resource.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::adapter_status::AdapterStatus;
use crate::condition::ConditionStatus;
use crate::generation::Generation;
use crate::identity::{AdapterName, ResourceId};
use crate::phase::Phase;
use crate::time::Time;

/// What was done to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    Create,
    Patch,
    /// Its deletion was asked for, directly or with its parent.
    Delete,
    /// It was removed without waiting for the adapters.
    ForceDelete,
    /// It was removed because every adapter had cleaned up.
    Remove,
    /// It lost its owner, which was deleted.
    Orphan,
    /// The target of a weak reference was deleted.
    LoseReference,
    /// It was asked for by somebody who may not.
    Deny,
    /// A Sentinel that was not there came.
    Announce,
    /// A Sentinel said that it goes.
    Withdraw,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Patch => "patch",
            Action::Delete => "delete",
            Action::ForceDelete => "force-delete",
            Action::Remove => "remove",
            Action::Orphan => "orphan",
            Action::LoseReference => "lose-reference",
            Action::Deny => "deny",
            Action::Announce => "announce",
            Action::Withdraw => "withdraw",
        }
    }
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Done,
    Denied,
}

impl Outcome {
    /// Only what was done and what was denied is kept.
    pub fn of(action: &str) -> Outcome {
        if action == Action::Deny.as_str() {
            Outcome::Denied
        } else {
            Outcome::Done
        }
    }
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    pub id: i64,
    pub time: Time,
    /// Who did it.
    pub actor: String,
    pub action: String,
    pub outcome: Outcome,
    /// The request it was done by, as in the log and in the `X-Request-ID` header.
    pub request_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<ResourceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Generation>,
    /// Whose resource it was, or in whose name it was asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tenancy: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the action set: the new spec, labels or references.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Map<String, Value>>,
}

/// One report that changed something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusEntry {
    pub id: i64,
    pub time: Time,
    pub adapter: AdapterName,
    pub observed_generation: Generation,
    pub changes: Vec<ConditionChange>,
    /// The resource's phase after the report.
    pub phase: Phase,
    /// Who reported it: not what the report calls itself, but what its sender proved to be. Absent in lines of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The request it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// One line of a resource's history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum HistoryEntry {
    /// Somebody did something to it.
    Audit(AuditEntry),
    /// An adapter's report changed a condition.
    Status(StatusEntry),
}

/// One condition that a report changed. A side that is not there had, or has, no such condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConditionChange {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ConditionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ConditionStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a report changes in the conditions of its adapter: status, reason or message, or that one is gone.
pub fn condition_changes(
    before: Option<&AdapterStatus>,
    after: &AdapterStatus,
) -> Vec<ConditionChange> {
    let mut changes = Vec::new();
    for now in &after.conditions {
        let then = before.and_then(|before| before.condition(&now.kind));
        if then.is_none_or(|then| {
            (then.status, &then.reason, &then.message) != (now.status, &now.reason, &now.message)
        }) {
            changes.push(ConditionChange {
                kind: now.kind.clone(),
                from: then.map(|then| then.status),
                to: Some(now.status),
                reason: now.reason.clone(),
                message: now.message.clone(),
            });
        }
    }
    for then in before.map_or(&[][..], |before| &before.conditions) {
        if after.condition(&then.kind).is_none() {
            changes.push(ConditionChange {
                kind: then.kind.clone(),
                from: Some(then.status),
                to: None,
                reason: None,
                message: None,
            });
        }
    }
    changes
}
