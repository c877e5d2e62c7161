//! The conditions every kind with required adapters has.

use super::{Rules, Subject, last_known, reconciled};
use crate::adapter_status::AdapterStatus;
use crate::condition::{self, ConditionStatus, ResourceCondition, types};
use crate::generation::Generation;
use crate::identity::AdapterName;
use crate::time::Time;

/// In their stable order. A kind that no adapter is required for has none, unless it lost what it points at.
pub(super) fn conditions(
    subject: &Subject<'_>,
    reports: &[&AdapterStatus],
    before: &[ResourceCondition],
    rules: &Rules,
) -> Vec<ResourceCondition> {
    let required = rules.required();
    if required.is_empty() && subject.missing_references().next().is_none() {
        return Vec::new();
    }
    let views: Vec<Option<View<'_>>> = required
        .iter()
        .map(|name| View::of(name, subject.generation(), reports))
        .collect();
    let mut conditions = Vec::with_capacity(rules.most_conditions());
    conditions.push(reconciled::condition(
        subject,
        required,
        &views,
        condition::find(before, types::RECONCILED),
    ));
    if required.is_empty() {
        return conditions;
    }
    conditions.push(last_known::condition(
        subject,
        &views,
        condition::find(before, types::LAST_KNOWN_RECONCILED),
    ));
    for view in views.iter().flatten() {
        conditions.push(mirror(subject, view, before));
    }
    conditions
}

/// A required adapter's report, reduced to what counts. Reports that say nothing definite are left out.
pub(super) struct View<'a> {
    pub(super) report: &'a AdapterStatus,
    pub(super) available: bool,
    pub(super) finalized: bool,
}

impl<'a> View<'a> {
    fn of(
        name: &AdapterName,
        current: Generation,
        reports: &[&'a AdapterStatus],
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

    pub(super) fn generation(&self) -> Generation {
        self.report.observed_generation
    }

    pub(super) fn time(&self) -> Time {
        self.report.last_report_time
    }
}

pub(super) fn oldest<'a>(views: impl Iterator<Item = &'a View<'a>>) -> Option<Time> {
    views.map(View::time).min()
}

/// One required adapter on the resource.
fn mirror(
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
        created_time: previous.map_or(subject.updated_time(), |condition| condition.created_time),
        last_updated_time: view.time(),
        last_transition_time: previous
            .filter(|condition| condition.status == status)
            .map_or(view.time(), |condition| condition.last_transition_time),
        kind,
    }
}
