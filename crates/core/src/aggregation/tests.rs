mod configured;
mod mappings;
mod oracle;
mod properties;
mod silence;

use chrono::TimeDelta;
use hyperfleet_source::SourceFile;
use serde_json::json;

use super::*;
use crate::aggregation::config::AggregationConfig;
use crate::condition::{AdapterCondition, ResourceCondition};
use crate::identity::AdapterName;
use crate::kind::Kind;
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

/// A resource at a generation, last changed at second 0.
fn resource(current: i64) -> Resource {
    serde_json::from_value(json!({
        "id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
        "kind": "Cluster",
        "name": "c1",
        "href": "/api/hyperfleet/v1/clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
        "spec": {"region": "eu", "db": {"password": "hunter2"}},
        "labels": {"tier": "gold"},
        "generation": current,
        "status": ResourceStatus::unknown(at(0)),
        "created_time": at(0),
        "updated_time": at(0),
        "created_by": "ann",
        "updated_by": "ann",
    }))
    .unwrap()
}

fn deleting(current: i64) -> Resource {
    Resource {
        deleted_time: Some(at(0)),
        ..resource(current)
    }
}

/// The rules of clusters that need these adapters, with an AggregationConfig.
fn configured(required: &[&str], config: &str) -> Rules {
    try_configured(required, config).unwrap().0
}

fn try_configured(required: &[&str], config: &str) -> Result<(Rules, Vec<String>), String> {
    let mut kinds = Kind::defaults();
    kinds[0].required_adapters = adapters(required);
    let configs =
        AggregationConfig::read(&SourceFile::new("a.yaml", config)).map_err(|e| e.to_string())?;
    let (book, odd) = Rulebook::new(&kinds, &configs).map_err(|e| e.to_string())?;
    let odd = odd.iter().map(ToString::to_string).collect();
    Ok((book.rules("Cluster").clone(), odd))
}

fn plain(required: &[&str]) -> Rules {
    Rules::plain(adapters(required))
}

/// What is known of a childless resource after `previous` was.
fn aggregated(
    resource: &Resource,
    reports: &[AdapterStatus],
    previous: Option<&ResourceStatus>,
    now: Time,
    rules: &Rules,
) -> Aggregated {
    let known = previous.cloned();
    let resource = Resource {
        status: known.unwrap_or_else(|| ResourceStatus::unknown(now)),
        ..resource.clone()
    };
    let subject = Subject {
        resource: &resource,
        has_children: false,
    };
    aggregate(&subject, reports, now, rules)
}

fn status(
    resource: &Resource,
    reports: &[AdapterStatus],
    previous: Option<&ResourceStatus>,
    now: Time,
    rules: &Rules,
) -> ResourceStatus {
    aggregated(resource, reports, previous, now, rules).status
}

fn find<'a>(status: &'a ResourceStatus, kind: &str) -> &'a ResourceCondition {
    condition::find(&status.conditions, kind).unwrap_or_else(|| panic!("no condition {kind}"))
}

#[test]
fn a_new_resource_is_pending_and_not_reconciled() {
    let rules = plain(&["validation", "dns"]);
    let status = status(&resource(1), &[], None, at(0), &rules);
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
    let rules = plain(&["validation", "dns"]);
    let reports = [done("dns", 1, 20), done("validation", 1, 10)];
    let status = status(&resource(1), &reports, None, at(21), &rules);
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
    let rules = plain(&["dns"]);
    let before = status(&resource(1), &[done("dns", 1, 10)], None, at(10), &rules);
    let updated = Resource {
        updated_time: at(100),
        ..resource(2)
    };
    let after = status(
        &updated,
        &[done("dns", 1, 10)],
        Some(&before),
        at(100),
        &rules,
    );
    assert_eq!(after.conditions[0].status, ConditionStatus::False);
    assert_eq!(after.conditions[0].last_transition_time, at(100));
    assert_eq!(after.conditions[1].status, ConditionStatus::True);
    assert_eq!(after.conditions[1].observed_generation, generation(1));
    assert_eq!(after.phase, Phase::Pending);
    assert_eq!(after.last_transition_time, at(100));
}

#[test]
fn last_known_falls_only_when_a_report_at_its_own_generation_fails() {
    let rules = plain(&["dns"]);
    let good = status(&resource(1), &[done("dns", 1, 10)], None, at(10), &rules);
    let newer = Resource {
        updated_time: at(100),
        ..resource(2)
    };
    let trying = status(
        &newer,
        &[working("dns", 2, 110)],
        Some(&good),
        at(110),
        &rules,
    );
    assert_eq!(
        trying.conditions[1].status,
        ConditionStatus::True,
        "generation 1 is still what is known to be good"
    );
    let broken = status(
        &resource(1),
        &[working("dns", 1, 50)],
        Some(&good),
        at(50),
        &rules,
    );
    assert_eq!(broken.conditions[1].status, ConditionStatus::False);
    assert_eq!(broken.conditions[1].last_updated_time, at(50));
}

#[test]
fn an_unknown_or_future_report_counts_as_none() {
    let rules = plain(&["dns"]);
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
    let result = status(&resource(1), &[unknown], None, at(5), &rules);
    assert_eq!(
        result.conditions.len(),
        2,
        "no mirror of a report that says nothing"
    );
    let future = status(&resource(1), &[done("dns", 2, 5)], None, at(5), &rules);
    assert_eq!(future.conditions[0].status, ConditionStatus::False);
}

#[test]
fn a_deleting_parent_waits_for_its_children_after_its_adapters() {
    let rules = plain(&["dns"]);
    let mut finalized = done("dns", 2, 30);
    finalized
        .conditions
        .extend(report("dns", 2, 30, &[("Finalized", "True")]).conditions);
    let deleting = deleting(2);
    let waiting = Subject {
        resource: &deleting,
        has_children: true,
    };
    let reports = [finalized];
    let waiting = aggregate(&waiting, &reports, at(30), &rules).status;
    assert_eq!(waiting.phase, Phase::Terminating);
    assert_eq!(
        waiting.conditions[0].reason.as_deref(),
        Some("ReconciledWaitingForChildren")
    );
    assert_eq!(
        status(&deleting, &reports, None, at(30), &rules).conditions[0].status,
        ConditionStatus::True
    );
}

#[test]
fn a_kind_without_required_adapters_is_ready_and_has_no_conditions() {
    let status = status(&resource(1), &[], None, at(0), &plain(&[]));
    assert_eq!(status.phase, Phase::Ready);
    assert!(status.conditions.is_empty());
}

#[test]
fn phases_follow_the_fixed_priority() {
    let rules = plain(&["a", "b"]);
    let of = |reports: &[AdapterStatus]| status(&resource(1), reports, None, at(9), &rules).phase;
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

#[test]
fn a_lost_reference_is_named_and_degrades_whatever_the_adapters_say() {
    let mut referring = resource(1);
    referring.references = serde_json::from_value(json!({"wif_config": [
        {"id": "0192e4f0-0000-7000-8000-000000000001", "kind": "WifConfig", "href": "/w/1", "missing": true},
        {"id": "0192e4f0-0000-7000-8000-000000000002", "kind": "WifConfig", "href": "/w/2"},
    ]}))
    .unwrap();
    for required in [&["dns"][..], &[]] {
        let rules = plain(required);
        let status = status(&referring, &[done("dns", 1, 10)], None, at(10), &rules);
        let reconciled = find(&status, "Reconciled");
        assert_eq!(reconciled.status, ConditionStatus::False);
        assert_eq!(
            reconciled.reason.as_deref(),
            Some("ReconciledMissingReferences")
        );
        assert_eq!(
            reconciled.message.as_deref(),
            Some(
                "Referenced resources were deleted: [wif_config: WifConfig \
                 0192e4f0-0000-7000-8000-000000000001]. Replace or remove the references"
            )
        );
        assert_eq!(status.phase, Phase::Degraded);
    }
}
