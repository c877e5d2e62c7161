use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::condition::AdapterCondition;
use crate::phase::Phase;

fn at(seconds: i64) -> Time {
    Time::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + seconds)
}

fn generation(number: i64) -> Generation {
    Generation::try_from(number).unwrap()
}

fn adapters(names: &[&str]) -> Vec<AdapterName> {
    names
        .iter()
        .map(|name| AdapterName::try_from(*name).unwrap())
        .collect()
}

fn report(name: &str, observed: i64, seconds: i64, conditions: &[(&str, &str)]) -> AdapterStatus {
    AdapterStatus {
        adapter: AdapterName::try_from(name).unwrap(),
        observed_generation: generation(observed),
        conditions: conditions
            .iter()
            .map(|(kind, status)| AdapterCondition {
                kind: (*kind).to_owned(),
                status: match *status {
                    "True" => ConditionStatus::True,
                    "False" => ConditionStatus::False,
                    _ => ConditionStatus::Unknown,
                },
                reason: Some(format!("{kind}Because")),
                message: None,
                last_transition_time: at(seconds),
            })
            .collect(),
        data: Default::default(),
        metadata: None,
        created_time: at(seconds),
        last_report_time: at(seconds),
    }
}

fn done(name: &str, observed: i64, seconds: i64) -> AdapterStatus {
    report(
        name,
        observed,
        seconds,
        &[
            ("Available", "True"),
            ("Applied", "True"),
            ("Health", "True"),
        ],
    )
}

fn working(name: &str, observed: i64, seconds: i64) -> AdapterStatus {
    let mut report = report(
        name,
        observed,
        seconds,
        &[
            ("Available", "False"),
            ("Applied", "True"),
            ("Health", "True"),
        ],
    );
    report.conditions[0].reason = Some("JobRunning".to_owned());
    report
}

fn subject(required: &[AdapterName], current: i64) -> Subject<'_> {
    Subject {
        generation: generation(current),
        updated_time: at(0),
        deleting: false,
        has_children: false,
        required,
    }
}

#[test]
fn a_new_resource_is_pending_and_not_reconciled() {
    let required = adapters(&["validation", "dns"]);
    let status = status(&subject(&required, 1), &[], None, at(0));
    assert_eq!(status.phase, Phase::Pending);
    let types: Vec<_> = status
        .conditions
        .iter()
        .map(|c| (c.kind.as_str(), c.status))
        .collect();
    assert_eq!(
        types,
        [
            ("Reconciled", ConditionStatus::False),
            ("LastKnownReconciled", ConditionStatus::False)
        ]
    );
    for condition in &status.conditions {
        assert_eq!(condition.last_updated_time, at(0));
        assert_eq!(condition.last_transition_time, at(0));
    }
    assert_eq!(
        status.conditions[0].message.as_deref(),
        Some(
            "Required adapters not reporting Available=True: [dns, validation]. Currently reporting: []"
        )
    );
}

#[test]
fn all_required_adapters_at_the_current_generation_make_it_ready() {
    let required = adapters(&["validation", "dns"]);
    let reports = [done("dns", 1, 20), done("validation", 1, 10)];
    let status = status(&subject(&required, 1), &reports, None, at(21));
    assert_eq!(status.phase, Phase::Ready);
    assert_eq!(
        status.conditions[0].reason.as_deref(),
        Some("ReconciledAll")
    );
    assert_eq!(
        status.conditions[0].last_updated_time,
        at(10),
        "the oldest report of the required adapters"
    );
    assert_eq!(status.last_updated_time, at(10));
    let mirrors: Vec<_> = status.conditions[2..]
        .iter()
        .map(|c| c.kind.as_str())
        .collect();
    assert_eq!(
        mirrors,
        ["ValidationSuccessful", "DnsSuccessful"],
        "in the order of the configuration"
    );
}

#[test]
fn an_update_undoes_reconciled_at_the_time_of_the_update_and_leaves_last_known() {
    let required = adapters(&["dns"]);
    let before = status(&subject(&required, 1), &[done("dns", 1, 10)], None, at(10));
    let updated = Subject {
        updated_time: at(100),
        ..subject(&required, 2)
    };
    let after = status(&updated, &[done("dns", 1, 10)], Some(&before), at(100));
    assert_eq!(after.conditions[0].status, ConditionStatus::False);
    assert_eq!(after.conditions[0].last_transition_time, at(100));
    assert_eq!(after.conditions[1].status, ConditionStatus::True);
    assert_eq!(after.conditions[1].observed_generation, generation(1));
    assert_eq!(after.phase, Phase::Pending);
    assert_eq!(after.last_transition_time, at(100));
}

#[test]
fn last_known_falls_only_when_a_report_at_its_own_generation_fails() {
    let required = adapters(&["dns"]);
    let good = status(&subject(&required, 1), &[done("dns", 1, 10)], None, at(10));
    let newer = Subject {
        updated_time: at(100),
        ..subject(&required, 2)
    };
    let trying = status(&newer, &[working("dns", 2, 110)], Some(&good), at(110));
    assert_eq!(
        trying.conditions[1].status,
        ConditionStatus::True,
        "generation 1 is still what is known to be good"
    );
    let broken = status(
        &subject(&required, 1),
        &[working("dns", 1, 50)],
        Some(&good),
        at(50),
    );
    assert_eq!(broken.conditions[1].status, ConditionStatus::False);
    assert_eq!(broken.conditions[1].last_updated_time, at(50));
}

#[test]
fn an_unknown_or_future_report_counts_as_none() {
    let required = adapters(&["dns"]);
    let unknown = report(
        "dns",
        1,
        5,
        &[
            ("Available", "Unknown"),
            ("Applied", "True"),
            ("Health", "True"),
        ],
    );
    let result = status(&subject(&required, 1), &[unknown], None, at(5));
    assert_eq!(
        result.conditions.len(),
        2,
        "no mirror of a report that says nothing"
    );
    let future = status(&subject(&required, 1), &[done("dns", 2, 5)], None, at(5));
    assert_eq!(future.conditions[0].status, ConditionStatus::False);
}

#[test]
fn a_deleting_parent_waits_for_its_children_after_its_adapters() {
    let required = adapters(&["dns"]);
    let mut finalized = done("dns", 2, 30);
    finalized
        .conditions
        .extend(report("dns", 2, 30, &[("Finalized", "True")]).conditions);
    let deleting = Subject {
        deleting: true,
        has_children: true,
        ..subject(&required, 2)
    };
    let waiting = status(&deleting, std::slice::from_ref(&finalized), None, at(30));
    assert_eq!(waiting.phase, Phase::Terminating);
    assert_eq!(
        waiting.conditions[0].reason.as_deref(),
        Some("ReconciledWaitingForChildren")
    );
    let alone = Subject {
        has_children: false,
        ..deleting
    };
    assert_eq!(
        status(&alone, &[finalized], None, at(30)).conditions[0].status,
        ConditionStatus::True
    );
}

#[test]
fn a_kind_without_required_adapters_is_ready_and_has_no_conditions() {
    let status = status(&subject(&[], 1), &[], None, at(0));
    assert_eq!(status.phase, Phase::Ready);
    assert!(status.conditions.is_empty());
}

#[test]
fn phases_follow_the_fixed_priority() {
    let required = adapters(&["a", "b"]);
    let of = |reports: &[AdapterStatus]| status(&subject(&required, 1), reports, None, at(9)).phase;
    let failed = report(
        "a",
        1,
        1,
        &[
            ("Available", "False"),
            ("Applied", "True"),
            ("Health", "True"),
        ],
    );
    let sick = report(
        "extra",
        1,
        1,
        &[
            ("Available", "False"),
            ("Applied", "False"),
            ("Health", "False"),
        ],
    );
    assert_eq!(of(&[working("a", 1, 1)]), Phase::Provisioning);
    assert_eq!(of(&[failed.clone(), done("b", 1, 1)]), Phase::Failed);
    assert_eq!(
        of(&[failed, sick.clone()]),
        Phase::Degraded,
        "an optional adapter degrades too"
    );
    assert_eq!(
        of(&[done("a", 1, 1), done("b", 1, 1), sick]),
        Phase::Degraded
    );
}

fn any_report() -> impl Strategy<Value = AdapterStatus> {
    (
        prop::sample::select(vec!["a", "b", "c", "d"]),
        1..4i64,
        0..50i64,
        prop::array::uniform4(0..3u8),
    )
        .prop_map(|(name, observed, seconds, statuses)| {
            let word = |index: usize| ["True", "False", "Unknown"][usize::from(statuses[index])];
            report(
                name,
                observed,
                seconds,
                &[
                    ("Available", word(0)),
                    ("Applied", word(1)),
                    ("Health", word(2)),
                    ("Finalized", word(3)),
                ],
            )
        })
}

/// Reports as the store holds them: at most one per adapter.
fn any_reports() -> impl Strategy<Value = Vec<AdapterStatus>> {
    prop::collection::vec(any_report(), 0..4).prop_map(|mut reports| {
        reports.sort_by(|a, b| a.adapter.cmp(&b.adapter));
        reports.dedup_by(|a, b| a.adapter == b.adapter);
        reports
    })
}

proptest! {
    #[test]
    fn the_order_of_the_reports_does_not_matter(
        reports in any_reports(), deleting: bool, has_children: bool
    ) {
        let mut reports = reports;
        let required = adapters(&["a", "b", "c"]);
        let subject = Subject { deleting, has_children, ..subject(&required, 2) };
        let forward = status(&subject, &reports, None, at(60));
        reports.reverse();
        prop_assert_eq!(forward, status(&subject, &reports, None, at(60)));
    }

    #[test]
    fn ready_implies_reconciled_and_transition_times_move_iff_the_status_does(
        first in any_reports(), second in any_reports()
    ) {
        let required = adapters(&["a", "b"]);
        let subject = subject(&required, 2);
        let before = status(&subject, &first, None, at(60));
        let after = status(&subject, &second, Some(&before), at(61));
        if after.phase == Phase::Ready {
            prop_assert!(after.conditions[0].status.is_true());
        }
        prop_assert_eq!(after.phase == before.phase, after.last_transition_time == before.last_transition_time);
        for condition in &after.conditions {
            let Some(previous) = condition::find(&before.conditions, &condition.kind) else { continue };
            prop_assert_eq!(previous.created_time, condition.created_time);
            if previous.status == condition.status {
                prop_assert_eq!(previous.last_transition_time, condition.last_transition_time);
            }
        }
    }
}
