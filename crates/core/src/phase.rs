//! The one word a fleet operator reads first.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::adapter_status::AdapterStatus;
use crate::aggregation::Subject;
use crate::condition::{ConditionStatus, types};

/// Where a resource stands. When several would fit, the first of
/// Terminating > Degraded > Failed > Ready > Provisioning > Pending wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    Terminating,
    Degraded,
    Failed,
    Ready,
    Provisioning,
    Pending,
}

impl Phase {
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Terminating => "Terminating",
            Phase::Degraded => "Degraded",
            Phase::Failed => "Failed",
            Phase::Ready => "Ready",
            Phase::Provisioning => "Provisioning",
            Phase::Pending => "Pending",
        }
    }

    /// The sentence shown beside the phase.
    pub fn description(self) -> &'static str {
        match self {
            Phase::Terminating => "Deletion was requested; adapters are cleaning up",
            Phase::Degraded => "An adapter met an unexpected error",
            Phase::Failed => "A required adapter finished its work without success",
            Phase::Ready => "All required adapters are available",
            Phase::Provisioning => "Adapters are working",
            Phase::Pending => "No adapter has started yet",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reasons of `Available=False` that mean "still at it" rather than "gave up".
pub const IN_PROGRESS_REASONS: &[&str] = &[
    "JobRunning",
    "JobPending",
    "PreconditionsNotMet",
    "NotStarted",
    "InProgress",
    "Waiting",
    "Pending",
    "Progressing",
];

/// The phase of a resource, from the reports at its current generation.
///
/// A kind without required adapters has nothing to wait for and is Ready.
pub fn phase(subject: &Subject<'_>, reports: &[AdapterStatus]) -> Phase {
    if subject.deleting {
        return Phase::Terminating;
    }
    let mut current = reports
        .iter()
        .filter(|report| report.observed_generation == subject.generation);
    if current
        .clone()
        .any(|report| report.says(types::HEALTH, ConditionStatus::False))
    {
        return Phase::Degraded;
    }
    let required: Vec<&AdapterStatus> = subject
        .required
        .iter()
        .filter_map(|name| current.clone().find(|report| report.adapter == *name))
        .collect();
    if required.iter().any(|report| has_failed(report)) {
        return Phase::Failed;
    }
    let available = required
        .iter()
        .filter(|report| report.available() == Some(true))
        .count();
    if available == subject.required.len() {
        Phase::Ready
    } else if current.any(|report| {
        subject.required.contains(&report.adapter)
            && report.says(types::APPLIED, ConditionStatus::True)
    }) {
        Phase::Provisioning
    } else {
        Phase::Pending
    }
}

/// A business failure: applied, healthy, and yet not available for a reason that waiting does not cure.
fn has_failed(report: &AdapterStatus) -> bool {
    let Some(available) = report.condition(types::AVAILABLE) else {
        return false;
    };
    available.status == ConditionStatus::False
        && report.says(types::HEALTH, ConditionStatus::True)
        && report.says(types::APPLIED, ConditionStatus::True)
        && !available
            .reason
            .as_deref()
            .is_some_and(|reason| IN_PROGRESS_REASONS.contains(&reason))
}
