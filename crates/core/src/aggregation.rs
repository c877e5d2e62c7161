//! From the adapters' reports to the status of a resource.
//!
//! Deterministic: the same reports and the same previous status give the same result whatever the order in which
//! the reports arrived, because every time in it comes from the reports or from the resource, never from a clock.

mod last_known;
mod reconciled;

#[cfg(test)]
mod tests;

use crate::adapter_status::AdapterStatus;
use crate::condition::{self, ConditionStatus, ResourceCondition, types};
use crate::generation::Generation;
use crate::identity::AdapterName;
use crate::phase::phase;
use crate::resource::{AdapterSummary, ResourceStatus};
use crate::time::Time;

/// What aggregation needs to know about the resource itself.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub generation: Generation,
    /// When what is wanted last changed: the time of everything no report speaks of yet.
    pub updated_time: Time,
    pub deleting: bool,
    /// Whether any child still exists, itself deleting or not.
    pub has_children: bool,
    pub required: &'a [AdapterName],
}

/// The status to store after a write at `at`.
pub fn status(
    subject: &Subject<'_>,
    reports: &[AdapterStatus],
    previous: Option<&ResourceStatus>,
    at: Time,
) -> ResourceStatus {
    let before = previous.map_or(&[][..], |status| &status.conditions);
    let conditions = conditions(subject, reports, before);
    let phase = phase(subject, reports);
    let last_updated_time = condition::find(&conditions, types::RECONCILED)
        .map_or(subject.updated_time, |reconciled| {
            reconciled.last_updated_time
        });
    let mut adapters: Vec<AdapterSummary> = reports
        .iter()
        .map(|report| AdapterSummary {
            name: report.adapter.clone(),
            available: report
                .condition(types::AVAILABLE)
                .map_or(ConditionStatus::Unknown, |available| available.status),
            observed_generation: report.observed_generation,
        })
        .collect();
    adapters.sort_by(|a, b| a.name.cmp(&b.name));
    ResourceStatus {
        phase,
        phase_description: phase.description().to_owned(),
        conditions,
        adapters,
        last_updated_time,
        last_transition_time: previous
            .filter(|status| status.phase == phase)
            .map_or(at, |status| status.last_transition_time),
    }
}

/// The synthesised conditions in their stable order; none for a kind that no adapter is required for.
fn conditions(
    subject: &Subject<'_>,
    reports: &[AdapterStatus],
    before: &[ResourceCondition],
) -> Vec<ResourceCondition> {
    if subject.required.is_empty() {
        return Vec::new();
    }
    let views: Vec<Option<View<'_>>> = subject
        .required
        .iter()
        .map(|name| View::of(name, subject.generation, reports))
        .collect();
    let mut conditions = Vec::with_capacity(2 + views.len());
    conditions.push(reconciled::condition(
        subject,
        &views,
        condition::find(before, types::RECONCILED),
    ));
    conditions.push(last_known::condition(
        subject,
        &views,
        condition::find(before, types::LAST_KNOWN_RECONCILED),
    ));
    for view in views.iter().flatten() {
        conditions.push(adapter_condition(subject, view, before));
    }
    conditions
}

/// A required adapter's report, reduced to what counts. Reports that say nothing definite are left out.
struct View<'a> {
    report: &'a AdapterStatus,
    available: bool,
    finalized: bool,
}

impl<'a> View<'a> {
    fn of(
        name: &AdapterName,
        current: Generation,
        reports: &'a [AdapterStatus],
    ) -> Option<View<'a>> {
        let report = reports.iter().find(|report| report.adapter == *name)?;
        if report.observed_generation > current {
            return None;
        }
        Some(View {
            report,
            available: report.available()?,
            finalized: report.says(types::FINALIZED, ConditionStatus::True),
        })
    }

    fn generation(&self) -> Generation {
        self.report.observed_generation
    }

    fn time(&self) -> Time {
        self.report.last_report_time
    }
}

/// The mirror of one required adapter on the resource.
fn adapter_condition(
    subject: &Subject<'_>,
    view: &View<'_>,
    before: &[ResourceCondition],
) -> ResourceCondition {
    let kind = view.report.adapter.success_condition();
    let previous = condition::find(before, &kind);
    let status = ConditionStatus::from(view.available);
    let available = view.report.condition(types::AVAILABLE);
    ResourceCondition {
        status,
        reason: available.and_then(|condition| condition.reason.clone()),
        message: available.and_then(|condition| condition.message.clone()),
        observed_generation: view.generation(),
        created_time: previous.map_or(subject.updated_time, |condition| condition.created_time),
        last_updated_time: view.time(),
        last_transition_time: previous
            .filter(|condition| condition.status == status)
            .map_or(view.time(), |condition| condition.last_transition_time),
        kind,
    }
}

fn oldest<'a>(views: impl Iterator<Item = &'a View<'a>>) -> Option<Time> {
    views.map(View::time).min()
}
