//! `Reconciled`: is every required adapter done with what is wanted now?

use super::Subject;
use super::synthesised::{View, oldest};
use crate::condition::{ConditionStatus, ResourceCondition, types};
use crate::identity::AdapterName;

pub(super) fn condition(
    subject: &Subject<'_>,
    required: &[AdapterName],
    views: &[Option<View<'_>>],
    previous: Option<&ResourceCondition>,
) -> ResourceCondition {
    let met: Vec<bool> = views
        .iter()
        .map(|view| view.as_ref().is_some_and(|view| is_met(subject, view)))
        .collect();
    let adapters_done = met.iter().all(|met| *met);
    let lost = lost_references(subject);
    let status = ConditionStatus::from(
        adapters_done && lost.is_none() && !(subject.is_deleting() && subject.has_children),
    );
    let (reason, message) = match lost {
        Some(message) => ("ReconciledMissingReferences", message),
        None => explain(subject, required, views, &met, status),
    };
    let last_updated_time = oldest(
        views
            .iter()
            .flatten()
            .filter(|view| view.generation() == subject.generation()),
    )
    .unwrap_or(subject.updated_time());
    let last_transition_time = match previous {
        None => last_updated_time,
        Some(before) if before.status == status => before.last_transition_time,
        // A new generation undid it: that happened when the resource changed, not when an adapter next spoke.
        Some(before)
            if before.status.is_true() && subject.generation() > before.observed_generation =>
        {
            subject.updated_time()
        }
        Some(_) => last_updated_time,
    };
    ResourceCondition {
        kind: types::RECONCILED.to_owned(),
        status,
        reason: Some(reason.to_owned()),
        message: Some(message),
        observed_generation: subject.generation(),
        created_time: previous.map_or(subject.updated_time(), |before| before.created_time),
        last_updated_time,
        last_transition_time,
    }
}

fn is_met(subject: &Subject<'_>, view: &View<'_>) -> bool {
    view.generation() == subject.generation()
        && if subject.is_deleting() {
            view.finalized
        } else {
            view.available
        }
}

/// Names what the resource points at and is no longer there.
fn lost_references(subject: &Subject<'_>) -> Option<String> {
    let lost: Vec<String> = subject
        .missing_references()
        .map(|(kind, reference)| {
            let target = &reference.target;
            format!("{kind}: {} {}", target.kind, target.id)
        })
        .collect();
    let listed = lost.join(", ");
    (!lost.is_empty()).then(|| {
        format!("Referenced resources were deleted: [{listed}]. Replace or remove the references")
    })
}

fn explain(
    subject: &Subject<'_>,
    required: &[AdapterName],
    views: &[Option<View<'_>>],
    met: &[bool],
    status: ConditionStatus,
) -> (&'static str, String) {
    if status.is_true() {
        return (
            "ReconciledAll",
            "All required adapters reported Available=True or Finalized=True at the current generation"
                .to_owned(),
        );
    }
    if met.iter().all(|met| *met) {
        return (
            "ReconciledWaitingForChildren",
            "Deletion in progress. All required adapters reported Finalized=True but child resources still exist"
                .to_owned(),
        );
    }
    let wanted = if subject.is_deleting() {
        types::FINALIZED
    } else {
        types::AVAILABLE
    };
    let missing = names(
        required
            .iter()
            .zip(met)
            .filter_map(|(name, met)| (!met).then_some(name)),
    );
    let reporting = names(views.iter().flatten().map(|view| &view.report.adapter));
    (
        "ReconciledMissingAdapters",
        format!(
            "Required adapters not reporting {wanted}=True: [{missing}]. Currently reporting: [{reporting}]"
        ),
    )
}

fn names<'a>(adapters: impl Iterator<Item = &'a AdapterName>) -> String {
    let mut names: Vec<&str> = adapters.map(AdapterName::as_str).collect();
    names.sort_unstable();
    names.join(", ")
}
