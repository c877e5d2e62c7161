//! The one word a fleet operator reads first.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::adapter_status::AdapterStatus;
use crate::aggregation::{Lateness, Rules, Subject};
use crate::condition::{self, ConditionStatus, ResourceCondition, types};

/// Where a resource stands. When several would fit, the first of
/// Terminating > Degraded > Failed > Ready > Provisioning > Pending wins.
///
/// With two phases there are only Ready and Not Ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Phase {
    Terminating,
    Degraded,
    Failed,
    Ready,
    Provisioning,
    Pending,
    #[serde(rename = "Not Ready")]
    NotReady,
}

impl Phase {
    /// Every phase, the ones that win first.
    pub const ALL: [Phase; 7] = [
        Phase::Terminating,
        Phase::Degraded,
        Phase::Failed,
        Phase::Ready,
        Phase::Provisioning,
        Phase::Pending,
        Phase::NotReady,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Terminating => "Terminating",
            Phase::Degraded => "Degraded",
            Phase::Failed => "Failed",
            Phase::Ready => "Ready",
            Phase::Provisioning => "Provisioning",
            Phase::Pending => "Pending",
            Phase::NotReady => "Not Ready",
        }
    }

    /// The sentence shown beside the phase unless configuration has another one.
    pub fn description(self) -> &'static str {
        match self {
            Phase::Terminating => "Deletion was requested; adapters are cleaning up",
            Phase::Degraded => "An adapter met an unexpected error",
            Phase::Failed => "A required adapter finished its work without success",
            Phase::Ready => "All required adapters are available",
            Phase::Provisioning => "Adapters are working",
            Phase::Pending => "No adapter has started yet",
            Phase::NotReady => "Not all required adapters are available",
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

/// What configuration says about phases. It can add words and make a resource look worse than its adapters say,
/// never better: nothing configured hides a failure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Phases {
    /// Only Ready and Not Ready.
    pub(crate) two: bool,
    pub(crate) descriptions: Vec<(Phase, String)>,
    pub(crate) conditions: Vec<(Phase, Vec<RequiredCondition>)>,
    /// Instead of [`IN_PROGRESS_REASONS`].
    pub(crate) in_progress: Option<Vec<String>>,
}

/// A condition that a phase asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequiredCondition {
    pub(crate) kind: String,
    pub(crate) status: ConditionStatus,
}

impl Phases {
    pub(crate) fn description(&self, phase: Phase) -> &str {
        let mut described = self.descriptions.iter();
        described
            .find(|(described, _)| *described == phase)
            .map_or(phase.description(), |(_, text)| text)
    }

    /// Whether the conditions configured for a phase hold; `None` if there are none.
    fn asked(&self, phase: Phase, conditions: &[ResourceCondition]) -> Option<bool> {
        let (_, wanted) = self
            .conditions
            .iter()
            .find(|(asking, _)| *asking == phase)?;
        Some(wanted.iter().all(|wanted| {
            condition::find(conditions, &wanted.kind)
                .is_some_and(|found| found.status == wanted.status)
        }))
    }

    fn is_in_progress(&self, reason: &str) -> bool {
        match &self.in_progress {
            Some(reasons) => reasons.iter().any(|known| known == reason),
            None => IN_PROGRESS_REASONS.contains(&reason),
        }
    }

    /// A business failure: applied, healthy, and yet not available for a reason that waiting does not cure.
    fn has_failed(&self, report: &AdapterStatus) -> bool {
        let Some(available) = report.condition(types::AVAILABLE) else {
            return false;
        };
        let reason = available.reason.as_deref();
        available.status == ConditionStatus::False
            && report.says(types::HEALTH, ConditionStatus::True)
            && report.says(types::APPLIED, ConditionStatus::True)
            && !reason.is_some_and(|reason| self.is_in_progress(reason))
    }
}

/// The phase of a resource, from the reports at its current generation and the conditions computed from them.
///
/// A kind without required adapters has nothing to wait for and is Ready.
pub(crate) fn phase(
    subject: &Subject<'_>,
    reports: &[&AdapterStatus],
    conditions: &[ResourceCondition],
    lateness: &Lateness<'_>,
    rules: &Rules,
) -> Phase {
    let phases = &rules.phases;
    let asked = |phase| phases.asked(phase, conditions);
    let asked_for = |phase| asked(phase) == Some(true) || lateness.asks_for(phase, rules);
    let reconciled = condition::find(conditions, types::RECONCILED);
    let is_ready = !subject.is_deleting()
        && reconciled.is_none_or(|reconciled| reconciled.status.is_true())
        && asked(Phase::Ready) != Some(false);
    if phases.two {
        let is_late = asked_for(Phase::Degraded) || asked_for(Phase::Failed);
        return match is_ready && !is_late {
            true => Phase::Ready,
            false => Phase::NotReady,
        };
    }
    if subject.is_deleting() {
        return Phase::Terminating;
    }
    let current = reports
        .iter()
        .filter(|report| report.observed_generation == subject.generation());
    let unhealthy = |report: &&AdapterStatus| report.says(types::HEALTH, ConditionStatus::False);
    if asked_for(Phase::Degraded)
        || current.clone().any(unhealthy)
        || subject.missing_references().next().is_some()
    {
        return Phase::Degraded;
    }
    let mut required = current.filter(|report| rules.required().contains(&report.adapter));
    if asked_for(Phase::Failed) || required.clone().any(|report| phases.has_failed(report)) {
        return Phase::Failed;
    }
    if is_ready {
        return Phase::Ready;
    }
    let applied = |report: &&AdapterStatus| report.says(types::APPLIED, ConditionStatus::True);
    if asked_for(Phase::Provisioning) || required.any(applied) {
        return Phase::Provisioning;
    }
    Phase::Pending
}
