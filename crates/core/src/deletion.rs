//! Deleting: asked for first, done when nothing of the resource is left anywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::adapter_status::AdapterStatus;
use crate::condition::{ConditionStatus, types};
use crate::generation::Generation;
use crate::identity::{AdapterName, ResourceId};
use crate::resource::Resource;
use crate::time::Time;

/// How a resource came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Removal {
    /// Every required adapter had cleaned up.
    Finalized,
    /// Somebody insisted; objects may be left behind.
    Forced,
}

impl Removal {
    pub fn as_str(self) -> &'static str {
        match self {
            Removal::Finalized => "finalized",
            Removal::Forced => "forced",
        }
    }
}

/// What remains of a resource that is gone. Only a 404 that carries one proves that it ever existed here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletionRecord {
    pub id: ResourceId,
    pub kind: String,
    pub name: String,
    /// The generation it ended with.
    pub generation: Generation,
    /// When its deletion was asked for, and by whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_time: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<String>,
    /// When it went, and whose request did it.
    pub removed_time: Time,
    pub removed_by: String,
    pub how: Removal,
    /// Why somebody insisted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The resource with its deletion asked for. It lets go of what it points at. The caller computes the status anew.
#[must_use]
pub fn marked(resource: &Resource, actor: &str, at: Time) -> Resource {
    Resource {
        generation: resource.generation.next(),
        updated_time: at.max(resource.updated_time + chrono::TimeDelta::microseconds(1)),
        updated_by: actor.to_owned(),
        deleted_time: Some(at),
        deleted_by: Some(actor.to_owned()),
        references: Default::default(),
        ..resource.clone()
    }
}

/// Whether nothing keeps the resource any longer.
pub fn is_removable(
    resource: &Resource,
    required: &[AdapterName],
    reports: &[AdapterStatus],
    has_children: bool,
) -> bool {
    resource.is_deleting()
        && !has_children
        && required.iter().all(|name| {
            reports.iter().any(|report| {
                report.adapter == *name
                    && report.observed_generation == resource.generation
                    && report.says(types::FINALIZED, ConditionStatus::True)
            })
        })
}
