//! `Reconciled` and `LastKnownReconciled` once more, written down rule by rule as the contract of v1.0 states them,
//! without regard for economy. Whole histories of reports, updates and deletions must come out the same.

use proptest::prelude::*;

use super::properties::any_report;
use super::*;

/// What a required adapter last said that counts.
struct Said {
    generation: i32,
    available: bool,
    finalized: bool,
    time: Time,
}

fn said(reports: &[AdapterStatus], adapter: &AdapterName, current: Generation) -> Option<Said> {
    let report = reports.iter().find(|r| r.adapter == *adapter)?;
    if report.observed_generation > current {
        return None;
    }
    let word = |kind: &str| {
        let found = report.conditions.iter().find(|c| c.kind == kind);
        found.map(|c| c.status)
    };
    Some(Said {
        generation: report.observed_generation.get(),
        available: match word("Available")? {
            ConditionStatus::True => true,
            ConditionStatus::False => false,
            ConditionStatus::Unknown => return None,
        },
        finalized: word("Finalized") == Some(ConditionStatus::True),
        time: report.last_report_time,
    })
}

type Expected = (bool, i32, Time, Time, &'static str);

fn found(condition: &ResourceCondition) -> (bool, i32, Time, Time, &str) {
    (
        condition.status.is_true(),
        condition.observed_generation.get(),
        condition.last_updated_time,
        condition.last_transition_time,
        condition.reason.as_deref().unwrap_or_default(),
    )
}

fn last_known(
    resource: &Resource,
    required: &[AdapterName],
    reports: &[AdapterStatus],
    prev: Option<&ResourceCondition>,
) -> Expected {
    let said: Vec<Option<Said>> = required
        .iter()
        .map(|name| said(reports, name, resource.generation))
        .collect();
    let some: Vec<&Said> = said.iter().flatten().collect();
    let missing = some.len() < required.len();
    let all_true = !missing && some.iter().all(|s| s.available);
    let mixed = some.iter().any(|s| s.generation != some[0].generation);
    let prev_true = prev.is_some_and(|p| p.status.is_true());
    let tracked = prev.map(|p| p.observed_generation.get());

    // Status, rules 1 to 4.
    let status = if missing {
        false
    } else if all_true && !mixed {
        true
    } else if all_true && mixed {
        prev_true
    } else if !prev_true {
        false
    } else {
        !some
            .iter()
            .any(|s| !s.available && Some(s.generation) == tracked)
    };
    let generation = if status && all_true && !mixed {
        some[0].generation
    } else if status {
        tracked.unwrap_or(1)
    } else {
        let newest = some.iter().map(|s| s.generation).max();
        newest.or(tracked).unwrap_or(1)
    };
    let kept = prev.map_or(resource.updated_time, |p| p.last_updated_time);
    let some_false = !missing && !all_true;
    let false_there = some
        .iter()
        .any(|s| !s.available && s.generation == generation);
    let updated = if all_true && !mixed {
        some.iter().map(|s| s.time).min().unwrap()
    } else if some_false && !status && false_there {
        let there = some.iter().filter(|s| s.generation == generation);
        there.map(|s| s.time).min().unwrap()
    } else {
        kept
    };
    let transition = match prev {
        Some(p) if p.status.is_true() == status => p.last_transition_time,
        _ => updated,
    };
    let reason = if status {
        "AllAdaptersReconciled"
    } else if missing {
        "AdaptersMissingReports"
    } else if some_false {
        "AdapterReportedNotAvailable"
    } else {
        "AdaptersNotAtSameGeneration"
    };
    (status, generation, updated, transition, reason)
}

fn reconciled(
    resource: &Resource,
    required: &[AdapterName],
    reports: &[AdapterStatus],
    has_children: bool,
    prev: Option<&ResourceCondition>,
) -> Expected {
    let current = resource.generation.get();
    let deleting = resource.deleted_time.is_some();
    let said: Vec<Option<Said>> = required
        .iter()
        .map(|name| said(reports, name, resource.generation))
        .collect();
    let met =
        |s: &Said| s.generation == current && if deleting { s.finalized } else { s.available };
    let all_met = said.iter().all(|s| s.as_ref().is_some_and(met));
    let status = all_met && (!deleting || !has_children);
    let at_current = said.iter().flatten().filter(|s| s.generation == current);
    let updated = at_current
        .map(|s| s.time)
        .min()
        .unwrap_or(resource.updated_time);
    let transition = match prev {
        None => updated,
        Some(p) if p.status.is_true() == status => p.last_transition_time,
        Some(p) if p.status.is_true() && current > p.observed_generation.get() => {
            resource.updated_time
        }
        Some(_) => updated,
    };
    let reason = if status {
        "ReconciledAll"
    } else if all_met {
        "ReconciledWaitingForChildren"
    } else {
        "ReconciledMissingAdapters"
    };
    (status, current, updated, transition, reason)
}

#[derive(Debug, Clone)]
enum Step {
    Report(AdapterStatus),
    Update,
    Delete,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => any_report().prop_map(Step::Report),
        2 => Just(Step::Update),
        1 => Just(Step::Delete),
    ]
}

proptest! {
    #[test]
    fn whole_histories_come_out_as_the_contract_says(
        steps in prop::collection::vec(any_step(), 1..20), has_children: bool
    ) {
        let rules = plain(&["a", "b", "c"]);
        let mut resource = resource(1);
        let mut reports: Vec<AdapterStatus> = Vec::new();
        for (second, step) in steps.into_iter().enumerate() {
            let now = at(100 + second as i64);
            match step {
                Step::Report(report) => {
                    reports.retain(|other| other.adapter != report.adapter);
                    reports.push(report);
                }
                Step::Update => {
                    resource.generation = resource.generation.next();
                    resource.updated_time = now;
                }
                Step::Delete => {
                    resource.generation = resource.generation.next();
                    resource.updated_time = now;
                    resource.deleted_time = Some(now);
                }
            }
            let before = |kind| condition::find(&resource.status.conditions, kind);
            let expected = [
                reconciled(&resource, rules.required(), &reports, has_children, before("Reconciled")),
                last_known(&resource, rules.required(), &reports, before("LastKnownReconciled")),
            ];
            let subject = Subject { resource: &resource, has_children };
            let status = aggregate(&subject, &reports, now, &rules).status;
            prop_assert_eq!(expected, [&status.conditions[0], &status.conditions[1]].map(found));
            resource.status = status;
        }
    }
}
