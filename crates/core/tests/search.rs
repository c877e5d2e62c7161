//! What the search language takes, refuses and means.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use hyperfleet_core::resource::Resource;
use hyperfleet_core::search::{Search, arbitrary};
use proptest::prelude::*;
use serde_json::json;

fn search(text: &str) -> Search {
    Search::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    let error = Search::parse(text).expect_err(text);
    format!("{}: {error}", error.position)
}

fn resource() -> Resource {
    serde_json::from_value(json!({
        "id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "kind": "Cluster", "name": "prod-1", "href": "/clusters/1",
        "spec": {
            "replicas": 3, "memory": 4096, "version": "4.17", "text": "10", "on": true, "gone": null,
            "release": {"channel": "stable"}, "zones": ["a", "b"], "nodeCount": 7,
        },
        "labels": {"env": "dev", "hyperfleet.io/shard-id": "1", "empty": ""},
        "tenancy": {"org": "acme"},
        "generation": 2,
        "status": {
            "phase": "Ready", "phaseDescription": "", "adapters": [],
            "conditions": [{
                "type": "Reconciled", "status": "True", "observed_generation": 2,
                "created_time": "2026-01-01T00:00:00Z", "last_updated_time": "2026-03-06T13:59:59.999999Z",
                "last_transition_time": "2026-03-06T14:00:00Z",
            }],
            "last_updated_time": "2026-01-01T00:00:00Z", "last_transition_time": "2026-01-01T00:00:00Z",
        },
        "created_time": "2026-01-01T12:00:00Z", "updated_time": "2026-01-02T00:00:00Z",
        "created_by": "me", "updated_by": "you",
    }))
    .unwrap()
}

fn found(text: &str) -> bool {
    search(text).matches(&resource())
}

#[test]
fn every_documented_form_is_understood() {
    for text in [
        "status.conditions.Reconciled='True'",
        "'True' = status.conditions.Reconciled",
        "status.conditions.Reconciled='True' AND status.conditions.Reconciled.last_updated_time < '2026-03-06T14:00:00Z'",
        "labels.env='dev' and labels.hyperfleet.io/shard-id='1'",
        "labels['hyperfleet.io/shard-id'] == \"1\"",
        "id in ['0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b','other',]",
        "name IN ('prod-1', 'prod-2')",
        "name in['prod-1']",
        "spec.version > 4 and spec.text = 10 and spec.text = '10'",
        "spec.memory = 4Ki and spec.replicas < 1k and spec.replicas >= 3.0",
        "spec.on = true and spec.on != false and spec.on = 'true'",
        "spec.release.channel like 'st%' and spec.release.channel not ilike 'X%'",
        "spec.zones.0 = 'a' and spec['nodeCount'] = 7",
        "spec.gone is null and spec.never = null and spec.release is not null",
        "generation between 1 and 2 and 1 < generation and not generation = 3",
        "created_time > '2026-01-01' and created_time <= '2026-01-01T13:00:00+01:00'",
        "deleted_time IS NULL and deleted_by = null and name != null",
        "owner_id is null or owner_id = 'x'",
        "NOT (labels.env = 'prod' OR status.conditions.Reconciled = 'False')",
        "status.conditions.Reconciled in ['True', 'Unknown'] and status.conditions.Other is null",
        "status.conditions.Reconciled.observed_generation = 2",
        "status.phase != 'Failed' and tenancy.org = 'acme'",
        "labels.empty = '' and name <> 'it''s' and name <> 'it\\'s'",
        "name = `prod-1` and kind not in []",
    ] {
        assert!(found(text), "{text}");
    }
}

#[test]
fn every_search_of_the_guide_can_be_used() {
    let guide = include_str!("../../../docs/search.md");
    let searches: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("search="))
        .collect();
    assert!(searches.len() > 3);
    searches.into_iter().for_each(|text| {
        search(text);
    });
}

#[test]
fn what_a_resource_lacks_is_neither_equal_nor_different() {
    for text in [
        "labels.never = 'x'",
        "labels.never != 'x'",
        "not labels.never = 'x'",
        "labels.never not in ['x']",
        "status.conditions.Never != 'True'",
        "not status.conditions.Never = 'True'",
        "spec.never != 1",
        "not (spec.never = 1 and name = 'prod-1')",
        "deleted_time != '2026-01-01'",
        "spec.version = true",
        "spec.release = 'x' or spec.release != 'x'",
        "spec.release > 1 or not spec.release > 1",
    ] {
        assert!(!found(text), "{text}");
    }
    assert!(
        found("labels.never = 'x' or name = 'prod-1'"),
        "unknown or true is true"
    );
    assert!(
        found("not (labels.never = 'x' and name = 'other')"),
        "unknown and false is false"
    );
}

#[test]
fn every_mistake_is_named_with_its_place() {
    let deep = format!("{}name = 'x'{}", "(".repeat(60), ")".repeat(60));
    let nots = format!("{}name = 'x'", "not ".repeat(60));
    let long = format!("name = '{}'", "x".repeat(4096));
    let list = format!("generation in [{}1]", "1,".repeat(1000));
    let pattern = format!("name like '{}'", "x".repeat(257));
    let cases = [
        "",
        "name",
        "name =",
        "name = 'x' and",
        "name = 'x' name = 'y'",
        "name = 'x",
        "(name = 'x'",
        "name = 'x')",
        "name ! 'x'",
        "name = x",
        "1 = 1",
        "'x' in ['y']",
        "nam = 'x'",
        "Name = 'x'",
        "colour = 'x'",
        "label.env = 'x'",
        "properties.foo = 'x'",
        "labels = 'x'",
        "spec = 'x'",
        "tenancy = 'x'",
        "status = 'x'",
        "status.phas = 'x'",
        "status.condition.Ready = 'True'",
        "status.conditions = 'True'",
        "status.conditions.ready = 'True'",
        "status.conditions.Ready = 'Yes'",
        "status.conditions.Ready = true",
        "status.conditions.Ready < 'True'",
        "status.conditions.Ready like 'T%'",
        "status.conditions.Ready between 'False' and 'True'",
        "status.conditions.Ready.created_time < '2026-01-01'",
        "status.conditions.Ready.last_updated_time < 'yesterday'",
        "status.conditions.Ready.observed_generation = 'abc'",
        "spec.nodeCount = 1",
        "spec.a-b = 1",
        "spec.a[0] = 1",
        "generation = 'one'",
        "generation = 1.5",
        "generation = 3000000000",
        "generation in [1, 'two']",
        "generation between 'a' and 'b'",
        "generation like '1%'",
        "created_time > 5",
        "created_time > '2026-13-01'",
        "created_time in ['2026-01-01', 'x']",
        "name = 5",
        "labels.shard = 1",
        "labels.a < null",
        "spec.a in [1, 'a']",
        "spec.on < true",
        "spec.a = 1e999",
        "spec.a = 12abc",
        "name ~= 'x'",
        "name ~! 'x'",
        "generation + 1 = 2",
        "generation = 1 - 1",
        "generation * 2 = 2",
        "len name = 2",
        "any name = 2",
        "name like 5",
        r"name like 'x\\'",
        r"name = '\q'",
        "name = 'a\0b'",
        "name; drop table resources",
        "id!='') OR (id!=''",
        "name is 'x'",
        "name not = 'x'",
        "name in 'x'",
        "name in ['x' 'y']",
        "name between 'a' or 'b'",
        &deep,
        &nots,
        &long,
        &list,
        &pattern,
    ];
    let mut table = String::new();
    for case in cases {
        let shown: String = case.chars().take(60).collect();
        table += &format!("{:<62}{}\n", shown.replace('\0', "\\0"), error(case));
    }
    insta::assert_snapshot!("mistakes", table);
}

proptest! {
    #[test]
    fn a_search_reads_back_as_itself(search in arbitrary::search()) {
        prop_assert_eq!(Search::parse(&search.to_string()), Ok(search));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in r#"[a-z_.=<>!'"\\\[\](),0-9 é-]{0,40}|\PC{0,40}"#) {
        if let Ok(search) = Search::parse(&text) {
            let again = search.to_string();
            prop_assert_eq!(Search::parse(&again), Ok(search));
        }
    }

    #[test]
    fn not_turns_true_into_false_and_leaves_unknown(search in arbitrary::search(), resource in arbitrary::resource()) {
        let not = Search::parse(&format!("NOT ({search})")).unwrap();
        prop_assert!(!(search.matches(&resource) && not.matches(&resource)));
        let twice = Search::parse(&format!("NOT NOT ({search})")).unwrap();
        prop_assert_eq!(twice.matches(&resource), search.matches(&resource));
    }
}
