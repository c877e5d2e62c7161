use hyperfleet_core::deletion::Removal;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::ownership::{ADAPTER, Claim, Key, RESOURCE_ID};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const OWNER: &str = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
const OTHER: &str = "0192e4f0-7b1c-7d3a-8f7e-000000000000";

fn keys(letter: &str) -> Keyring {
    Keyring {
        current: Key::new(letter.repeat(40).as_bytes()).unwrap(),
        previous: None,
    }
}

fn object(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": name, "namespace": "fleet", "uid": "u", "resourceVersion": "1",
        "labels": {ADAPTER: "dns", RESOURCE_ID: OWNER}, "annotations": {}}})
}

fn signed(name: &str) -> Value {
    let mut object = object(name);
    let signature = keys("k").sign(&claim(&object).unwrap());
    object["metadata"]["annotations"][OWNERSHIP] = json!(signature);
    object
}

fn record(id: &str) -> Box<DeletionRecord> {
    Box::new(DeletionRecord {
        id: ResourceId::parse(id).unwrap(),
        kind: "Cluster".to_owned(),
        name: "one".to_owned(),
        generation: Generation::FIRST,
        deleted_time: None,
        deleted_by: None,
        removed_time: "2026-01-01T00:00:00Z".parse().unwrap(),
        removed_by: "somebody".to_owned(),
        how: Removal::Forced,
        reason: None,
    })
}

fn removed() -> Answer {
    Answer::Removed(record(OWNER))
}

fn judged(object: &Value, answer: &Answer) -> Verdict {
    judge(object, Some(&keys("k")), answer, Absence::ProvesNothing)
}

#[test]
fn only_the_record_of_its_own_owners_removal_sweeps_an_object() {
    let good = signed("a");
    let keep = Verdict::Keep;
    let table = [
        (removed(), Verdict::Sweep(Sweep::Removed(record(OWNER)))),
        (Answer::Exists, keep(Keep::OwnerExists)),
        (Answer::Deleting, keep(Keep::OwnerDeleting)),
        (Answer::Absent, keep(Keep::Unproven)),
        (
            Answer::Unclear("503".to_owned()),
            keep(Keep::Unanswered("503".to_owned())),
        ),
    ];
    for (answer, verdict) in table {
        assert_eq!(judged(&good, &answer), verdict, "{answer:?}");
    }
    let another = judged(&good, &Answer::Removed(record(OTHER)));
    assert!(
        matches!(another, Verdict::Keep(Keep::Unanswered(_))),
        "{another:?}"
    );
}

#[test]
fn an_object_that_does_not_prove_to_be_ours_stays_whatever_became_of_its_owner() {
    let mut copied = signed("a");
    copied["metadata"]["name"] = json!("b");
    let mut relabelled = signed("a");
    relabelled["metadata"]["labels"][RESOURCE_ID] = json!(OTHER);
    let mut nameless = signed("a");
    nameless["metadata"]["labels"]
        .as_object_mut()
        .unwrap()
        .remove(RESOURCE_ID);
    let mut leaving = signed("a");
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let table = [
        (object("a"), Keep::Unsigned),
        (copied, Keep::Forged),
        (relabelled, Keep::Forged),
        (nameless, Keep::NoOwner),
        (leaving, Keep::BeingDeleted),
    ];
    for (object, keep) in table {
        for absence in [Absence::ProvesNothing, Absence::Proves] {
            let verdict = judge(&object, Some(&keys("k")), &removed(), absence);
            assert_eq!(verdict, Verdict::Keep(keep.clone()));
        }
    }
    let foreign = judge(
        &signed("a"),
        Some(&keys("x")),
        &removed(),
        Absence::ProvesNothing,
    );
    assert_eq!(foreign, Verdict::Keep(Keep::Forged));
    let keyless = judge(&signed("a"), None, &removed(), Absence::Proves);
    assert_eq!(keyless, Verdict::Keep(Keep::NoKey));
}

#[test]
fn absence_sweeps_only_where_somebody_said_that_it_proves_something() {
    let good = signed("a");
    let trusted = judge(&good, Some(&keys("k")), &Answer::Absent, Absence::Proves);
    assert_eq!(trusted, Verdict::Sweep(Sweep::Absent));
    for answer in [
        Answer::Exists,
        Answer::Deleting,
        Answer::Unclear(String::new()),
    ] {
        let verdict = judge(&good, Some(&keys("k")), &answer, Absence::Proves);
        assert!(matches!(verdict, Verdict::Keep(_)), "{answer:?}");
    }
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(removed()),
        Just(Answer::Exists),
        Just(Answer::Deleting),
        Just(Answer::Absent),
        Just(Answer::Unclear(String::new())),
    ]
}

/// A text that may be the right one.
fn maybe(right: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![Just(right.to_owned()), "[a-z0-9/.-]{0,12}"]
}

proptest! {
    #[test]
    fn an_object_without_a_valid_signature_is_never_swept(
        adapter in maybe("dns"), id in maybe(OWNER), api_version in maybe("v1"), kind in maybe("ConfigMap"),
        namespace in maybe("fleet"), name in maybe("a"), key in prop_oneof![Just("k"), Just("x")],
        signature in prop_oneof![Just(None), "[ -~]{0,60}".prop_map(Some)], answer in answers(),
        trust in any::<bool>(),
    ) {
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {
            "name": name, "namespace": namespace, "uid": "u",
            "labels": {ADAPTER: adapter, RESOURCE_ID: id},
            // Made up, or copied from an object that is ours.
            "annotations": {OWNERSHIP: signature.unwrap_or_else(
                || signed("a")["metadata"]["annotations"][OWNERSHIP].as_str().unwrap().to_owned())}}});
        let absence = if trust { Absence::Proves } else { Absence::ProvesNothing };
        let verdict = judge(&object, Some(&keys(key)), &answer, absence);
        let ours = Claim { adapter: "dns", resource_id: OWNER, api_version: "v1", kind: "ConfigMap",
            namespace: "fleet", name: "a" };
        // The version of an API is not signed, its group is.
        let same = claim(&object).is_some_and(|claim| {
            let group = claim.api_version.split_once('/').map_or("", |(group, _)| group);
            group.is_empty() && Claim { api_version: "v1", ..claim } == ours
        });
        if matches!(verdict, Verdict::Sweep(_)) {
            prop_assert!(same && key == "k", "{object}");
        }
    }
}
