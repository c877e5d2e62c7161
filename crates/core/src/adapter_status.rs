//! What an adapter last said about a resource, as stored and as answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::{AdapterCondition, ConditionStatus, types};
use crate::free::FreeObject;
use crate::generation::Generation;
use crate::identity::AdapterName;
use crate::time::Time;

/// One adapter's report on one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdapterStatus {
    pub adapter: AdapterName,
    pub observed_generation: Generation,
    pub conditions: Vec<AdapterCondition>,
    /// Free data of the adapter's; an empty object when it gave none.
    #[serde(default)]
    #[schemars(with = "Map<String, Value>")]
    pub data: FreeObject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub metadata: Option<FreeObject>,
    pub created_time: Time,
    /// When the adapter made the observation it last reported.
    pub last_report_time: Time,
}

impl AdapterStatus {
    pub fn condition(&self, kind: &str) -> Option<&AdapterCondition> {
        self.conditions
            .iter()
            .find(|condition| condition.kind == kind)
    }

    /// `None` while the adapter has not made up its mind: such a report counts as none.
    pub fn available(&self) -> Option<bool> {
        match self.condition(types::AVAILABLE)?.status {
            ConditionStatus::True => Some(true),
            ConditionStatus::False => Some(false),
            ConditionStatus::Unknown => None,
        }
    }

    /// Whether this says what `earlier` said, about the same generation: only its time is new.
    pub fn repeats(&self, earlier: &AdapterStatus) -> bool {
        self.observed_generation == earlier.observed_generation
            && self.conditions == earlier.conditions
            && self.data == earlier.data
            && self.metadata == earlier.metadata
    }

    /// Whether the condition is there and says `status`.
    pub fn says(&self, kind: &str, status: ConditionStatus) -> bool {
        self.condition(kind)
            .is_some_and(|condition| condition.status == status)
    }
}
