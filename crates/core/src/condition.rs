//! Conditions: what an adapter says about its work, and what the API says about a resource.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::generation::Generation;
use crate::time::Time;

/// The three answers a condition can give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    True,
    False,
    Unknown,
}

impl ConditionStatus {
    pub const ALL: [ConditionStatus; 3] = [
        ConditionStatus::True,
        ConditionStatus::False,
        ConditionStatus::Unknown,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ConditionStatus::True => "True",
            ConditionStatus::False => "False",
            ConditionStatus::Unknown => "Unknown",
        }
    }

    pub fn is_true(self) -> bool {
        self == ConditionStatus::True
    }
}

impl From<bool> for ConditionStatus {
    fn from(value: bool) -> Self {
        if value {
            ConditionStatus::True
        } else {
            ConditionStatus::False
        }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The condition types the contract gives a meaning to.
pub mod types {
    /// The adapter's work is complete and usable.
    pub const AVAILABLE: &str = "Available";
    /// The adapter's objects exist as wanted.
    pub const APPLIED: &str = "Applied";
    /// Nothing unexpected happened to the adapter itself.
    pub const HEALTH: &str = "Health";
    /// Nothing of the adapter's is left of a resource that is being deleted.
    pub const FINALIZED: &str = "Finalized";
    /// Every required adapter is done with the current generation.
    pub const RECONCILED: &str = "Reconciled";
    /// The last state all required adapters agreed on was good.
    pub const LAST_KNOWN_RECONCILED: &str = "LastKnownReconciled";

    /// No adapter is late, by the policies of the kind.
    pub const ADAPTERS_REPORTING: &str = "AdaptersReporting";

    /// Every report carries these, in this order of complaint.
    pub const MANDATORY: [&str; 3] = [AVAILABLE, APPLIED, HEALTH];
}

/// One condition of an adapter's stored report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterCondition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: ConditionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When `status` last changed. The API's, not the adapter's.
    pub last_transition_time: Time,
}

/// One condition of a resource, synthesised by the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceCondition {
    #[serde(rename = "type")]
    pub kind: String,
    /// Never `Unknown`.
    pub status: ConditionStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub observed_generation: Generation,
    pub created_time: Time,
    pub last_updated_time: Time,
    pub last_transition_time: Time,
}

/// The condition of this type, if there is one.
pub fn find<'a>(conditions: &'a [ResourceCondition], kind: &str) -> Option<&'a ResourceCondition> {
    conditions.iter().find(|condition| condition.kind == kind)
}
