//! Request bodies, as their readers take them. They are read field by field, so that every mistake can be named;
//! these types only say what is read.

#![expect(dead_code, reason = "described, never built")]

use hyperfleet_core::condition::ConditionStatus;
use hyperfleet_core::time::Time;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// A label's value.
#[derive(Deserialize, JsonSchema)]
pub(super) struct LabelValue(
    #[schemars(
        length(max = 63),
        regex(pattern = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$")
    )]
    String,
);

/// Why a resource is to go without waiting for its adapters.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ForceDeleteRequest {
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"\S"))]
    reason: String,
}

/// What an adapter found.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AdapterStatusRequest {
    #[schemars(length(min = 1, max = 255))]
    adapter: String,
    /// The generation of the resource that was looked at.
    #[schemars(range(min = 1, max = 2147483647))]
    observed_generation: i32,
    /// When it was looked at: not more than 5 minutes ahead and 30 minutes ago. Now if it is left out.
    observed_time: Option<Time>,
    /// `Available`, `Applied` and `Health` must be among them, unless the report is discarded anyway; no type may occur
    /// twice.
    conditions: Option<Vec<ReportedCondition>>,
    /// Free data for other adapters and for people.
    data: Option<Map<String, Value>>,
    metadata: Option<Map<String, Value>>,
}

/// What several adapters found, taken together or not at all.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AdapterStatusesRequest {
    /// The generation of reports that do not give their own.
    #[schemars(range(min = 1, max = 2147483647))]
    generation: Option<i32>,
    /// No adapter may report twice.
    #[schemars(length(min = 1, max = 100))]
    adapter_statuses: Vec<NestedStatusRequest>,
}

/// What one of several adapters found.
#[derive(Deserialize, JsonSchema)]
struct NestedStatusRequest {
    #[schemars(length(min = 1, max = 255))]
    adapter: String,
    /// The generation of the resource that was looked at. The `generation` around it if it is left out.
    #[schemars(range(min = 1, max = 2147483647))]
    observed_generation: Option<i32>,
    /// When it was looked at: not more than 5 minutes ahead and 30 minutes ago. Now if it is left out.
    observed_time: Option<Time>,
    /// `Available`, `Applied` and `Health` must be among them; no type may occur twice.
    conditions: Vec<ReportedCondition>,
    /// Free data for other adapters and for people.
    data: Option<Map<String, Value>>,
    metadata: Option<Map<String, Value>>,
}

/// One condition of a report.
#[derive(Deserialize, JsonSchema)]
struct ReportedCondition {
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    kind: String,
    status: ConditionStatus,
    reason: Option<String>,
    message: Option<String>,
}
