//! From the adapters' reports to the status of a resource.
//!
//! ```text
//!              ┌─► Reconciled, LastKnownReconciled, <Adapter>Successful ─┐
//!   reports ───┼─► mapped conditions (`entities[].conditions`) ──────────┼─► conditions ─► phase ─► ResourceStatus
//!   resource   ├─► rules (AggregationConfig `clusterConditions`) ────────┤
//!              └─► lateness (`policies`, `defaultBehavior`) ─────────────┘─► recheck
//! ```
//!
//! Pure, and independent of the order in which the reports arrived. [`Rules`] holds everything configuration says
//! about one kind, compiled; a [`Rulebook`] holds the rules of every kind.

pub mod config;
mod last_known;
mod lateness;
mod mapped;
mod masking;
mod reconciled;
mod rule;
mod rulebook;
mod rules;
mod synthesised;
mod variables;

#[cfg(test)]
mod tests;

pub use mapped::{ConditionMapping, Expression, MappingOutput};
pub use rulebook::{MappingProblem, Rulebook, RulesError};
pub use rules::Rules;

use crate::adapter_status::AdapterStatus;
use crate::condition::{self, ConditionStatus, types};
use crate::generation::Generation;
use crate::phase;
use crate::resource::{AdapterSummary, Reference, Resource, ResourceStatus};
use crate::time::Time;
pub(crate) use lateness::Lateness;
use variables::Inputs;

/// What is aggregated: a resource as it is wanted now.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its `status` is what was known before.
    pub resource: &'a Resource,
    /// Whether any child still exists, itself deleting or not.
    pub has_children: bool,
}

impl<'a> Subject<'a> {
    pub(crate) fn generation(&self) -> Generation {
        self.resource.generation
    }

    /// When what is wanted last changed: the time of everything no report speaks of yet.
    pub(crate) fn updated_time(&self) -> Time {
        self.resource.updated_time
    }

    pub(crate) fn is_deleting(&self) -> bool {
        self.resource.is_deleting()
    }

    /// Weak references whose targets were deleted, with their types.
    pub(crate) fn missing_references(&self) -> impl Iterator<Item = (&'a str, &'a Reference)> {
        let all = self.resource.references.iter();
        all.flat_map(|(kind, list)| list.iter().map(move |one| (kind.as_str(), one)))
            .filter(|(_, reference)| reference.missing)
    }
}

/// What is known about a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregated {
    pub status: ResourceStatus,
    /// When the passing of time alone may change the status; `None` when it cannot.
    pub recheck: Option<Time>,
}

/// The status of a resource at `now`.
pub fn aggregate(
    subject: &Subject<'_>,
    reports: &[AdapterStatus],
    now: Time,
    rules: &Rules,
) -> Aggregated {
    let mut sorted: Vec<&AdapterStatus> = reports.iter().collect();
    sorted.sort_by(|a, b| a.adapter.cmp(&b.adapter));
    let previous = &subject.resource.status;
    let before = &previous.conditions;
    let lateness = Lateness::of(subject, &sorted, rules, now);

    let mut conditions = synthesised::conditions(subject, &sorted, before, rules);
    let inputs = Inputs {
        subject,
        reports: &sorted,
        lateness: &lateness,
        now,
    };
    rules.evaluate(&inputs, before, &mut conditions);
    conditions.extend(lateness.condition(subject, rules, before, now));

    let phase = phase::phase(subject, &sorted, &conditions, &lateness, rules);
    let last_updated_time = condition::find(&conditions, types::RECONCILED)
        .map_or(subject.updated_time(), |reconciled| {
            reconciled.last_updated_time
        });
    let status = ResourceStatus {
        phase,
        phase_description: rules.phases.description(phase).to_owned(),
        conditions,
        adapters: sorted.iter().map(|report| summary(report)).collect(),
        last_updated_time,
        last_transition_time: match previous.phase == phase {
            true => previous.last_transition_time,
            false => now,
        },
    };
    Aggregated {
        status,
        recheck: lateness.recheck,
    }
}

fn summary(report: &AdapterStatus) -> AdapterSummary {
    AdapterSummary {
        name: report.adapter.clone(),
        available: report
            .condition(types::AVAILABLE)
            .map_or(ConditionStatus::Unknown, |available| available.status),
        observed_generation: report.observed_generation,
        finalized: report
            .condition(types::FINALIZED)
            .map(|finalized| finalized.status),
    }
}
