//! A resource: what its owner wants, and what is known about it.

mod written;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::{self, ResourceCondition};
use crate::generation::Generation;
use crate::identity::{AdapterName, ResourceId};
use crate::phase::Phase;
use crate::time::Time;
pub use written::{Document, WrittenResource};

/// The path under which every route of the API lives.
pub const BASE_PATH: &str = "/api/hyperfleet/v1";

/// One object of the fleet, of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resource {
    pub id: ResourceId,
    pub kind: String,
    pub name: String,
    /// Fixed at create; a child's begins with its parent's.
    pub href: String,
    pub spec: Map<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub tenancy: BTreeMap<String, String>,
    pub generation: Generation,
    pub status: ResourceStatus,
    /// One object despite the plural: the parent of a child kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_references: Option<ObjectReference>,
    /// What it points at without owning it, by type of reference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: References,
    pub created_time: Time,
    pub updated_time: Time,
    pub created_by: String,
    pub updated_by: String,
    /// Set once deletion was asked for; the row goes when every adapter has cleaned up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_time: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<String>,
}

impl Resource {
    pub fn is_deleting(&self) -> bool {
        self.deleted_time.is_some()
    }

    pub fn condition(&self, kind: &str) -> Option<&ResourceCondition> {
        condition::find(&self.status.conditions, kind)
    }
}

/// The targets of each type of reference.
pub type References = BTreeMap<String, Vec<Reference>>;

/// Points at another resource without owning it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reference {
    #[serde(flatten)]
    pub target: ObjectReference,
    /// Whether the target was deleted under a weak reference. The resource is not reconciled until it is replaced.
    #[serde(default, skip_serializing_if = "is_false")]
    pub missing: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Points at another resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectReference {
    pub id: ResourceId,
    pub kind: String,
    pub href: String,
}

/// What is known about a resource: computed when something is written, never when it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceStatus {
    pub phase: Phase,
    /// Spelled as the status guide spells it.
    #[serde(rename = "phaseDescription")]
    pub phase_description: String,
    pub conditions: Vec<ResourceCondition>,
    /// What each adapter that reported says in one line.
    pub adapters: Vec<AdapterSummary>,
    /// The oldest report of the required adapters, so that a stuck adapter shows.
    pub last_updated_time: Time,
    /// When the phase last changed.
    pub last_transition_time: Time,
}

impl ResourceStatus {
    /// Whether two statuses differ in nothing but how recent they are.
    pub fn says_the_same(&self, other: &ResourceStatus) -> bool {
        let same = |one: &ResourceCondition, other: &ResourceCondition| {
            (
                &one.kind,
                one.status,
                &one.reason,
                &one.message,
                one.observed_generation,
            ) == (
                &other.kind,
                other.status,
                &other.reason,
                &other.message,
                other.observed_generation,
            )
        };
        self.phase == other.phase
            && self.phase_description == other.phase_description
            && self.adapters == other.adapters
            && self.conditions.len() == other.conditions.len()
            && self
                .conditions
                .iter()
                .zip(&other.conditions)
                .all(|(one, other)| same(one, other))
    }

    /// Nothing is known yet: what a status is computed from the first time.
    pub fn unknown(at: Time) -> ResourceStatus {
        ResourceStatus {
            phase: Phase::Pending,
            phase_description: String::new(),
            conditions: Vec::new(),
            adapters: Vec::new(),
            last_updated_time: at,
            last_transition_time: at,
        }
    }
}

/// One adapter in a resource's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterSummary {
    pub name: AdapterName,
    pub available: condition::ConditionStatus,
    pub observed_generation: Generation,
    /// Whether it has cleaned up; there once the adapter says anything about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finalized: Option<condition::ConditionStatus>,
}
