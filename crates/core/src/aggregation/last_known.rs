//! `LastKnownReconciled`: was the last state that all required adapters agreed on a good one?
//!
//! Sticky across generations: an update in progress does not turn it off, a failure at the generation it
//! speaks of does. Deletion changes nothing here.

use super::Subject;
use super::synthesised::{View, oldest};
use crate::condition::{ConditionStatus, ResourceCondition, types};
use crate::generation::Generation;
use crate::time::Time;

pub(super) fn condition(
    subject: &Subject<'_>,
    views: &[Option<View<'_>>],
    previous: Option<&ResourceCondition>,
) -> ResourceCondition {
    let agreement = Agreement::of(views);
    let was_true = previous.is_some_and(|before| before.status.is_true());
    let tracked = previous.map(|before| before.observed_generation);
    let good = match &agreement {
        Agreement::Incomplete => false,
        Agreement::AllTrue { .. } => true,
        Agreement::Mixed => was_true,
        Agreement::SomeFalse { at } => {
            was_true && !tracked.is_some_and(|tracked| at.contains(&tracked))
        }
    };
    let status = ConditionStatus::from(good);
    let reports = || views.iter().flatten();

    let observed_generation = match (&agreement, good) {
        (Agreement::AllTrue { generation, .. }, _) => *generation,
        (_, true) => tracked.unwrap_or(Generation::FIRST),
        (_, false) => reports()
            .map(View::generation)
            .max()
            .or(tracked)
            .unwrap_or(Generation::FIRST),
    };
    let kept = || previous.map_or(subject.updated_time(), |before| before.last_updated_time);
    let last_updated_time = match &agreement {
        Agreement::AllTrue { since, .. } => *since,
        Agreement::SomeFalse { at } if !good && at.contains(&observed_generation) => {
            oldest(reports().filter(|view| view.generation() == observed_generation))
                .unwrap_or_else(kept)
        }
        _ => kept(),
    };
    let (reason, message) = if good {
        (
            "AllAdaptersReconciled",
            "All required adapters report Available=True for the tracked generation",
        )
    } else {
        match agreement {
            Agreement::Incomplete => (
                "AdaptersMissingReports",
                "Required adapters have not yet reported status",
            ),
            Agreement::SomeFalse { .. } => (
                "AdapterReportedNotAvailable",
                "One or more required adapters report Available=False",
            ),
            Agreement::AllTrue { .. } | Agreement::Mixed => (
                "AdaptersNotAtSameGeneration",
                "Required adapters do not report a consistent Available state",
            ),
        }
    };
    ResourceCondition {
        kind: types::LAST_KNOWN_RECONCILED.to_owned(),
        status,
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        observed_generation,
        created_time: previous.map_or(subject.updated_time(), |before| before.created_time),
        last_updated_time,
        last_transition_time: previous
            .filter(|before| before.status == status)
            .map_or(last_updated_time, |before| before.last_transition_time),
    }
}

/// How far the required adapters agree.
enum Agreement {
    /// At least one has not reported.
    Incomplete,
    /// All are available at one generation, `since` their oldest report of it.
    AllTrue { generation: Generation, since: Time },
    /// All are available, at different generations.
    Mixed,
    /// Some are not available, at these generations.
    SomeFalse { at: Vec<Generation> },
}

impl Agreement {
    fn of(views: &[Option<View<'_>>]) -> Agreement {
        let Some(views) = views.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
            return Agreement::Incomplete;
        };
        let Some(first) = views.first() else {
            return Agreement::Incomplete;
        };
        let failing: Vec<Generation> = views
            .iter()
            .filter(|view| !view.available)
            .map(|view| view.generation())
            .collect();
        if !failing.is_empty() {
            return Agreement::SomeFalse { at: failing };
        }
        let generation = first.generation();
        if views.iter().any(|view| view.generation() != generation) {
            return Agreement::Mixed;
        }
        Agreement::AllTrue {
            generation,
            since: views
                .iter()
                .map(|view| view.time())
                .fold(first.time(), Time::min),
        }
    }
}
