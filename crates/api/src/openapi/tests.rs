use std::collections::HashSet;
use std::sync::Arc;

use hyperfleet_core::kind::{OnParentDelete, OnTargetDelete, ReferenceRule, Strength};

use super::*;
use crate::entities::Entities;

fn of(kinds: Vec<hyperfleet_core::kind::Kind>) -> Value {
    let entities = Entities::new(kinds).unwrap();
    document(&entities.kinds, &entities.schemas, "test")
}

/// Every string under `$ref`.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => found.push(target.clone()),
                    other => references(other, found),
                }
            }
        }
        _ => {}
    }
}

fn operations(document: &Value) -> Vec<&Value> {
    let paths = document["paths"].as_object().unwrap().values();
    paths
        .flat_map(|path| path.as_object().unwrap().values())
        .collect()
}

/// Kinds with everything, and names that collide with those of the document's own schemas.
fn odd_kinds() -> Vec<hyperfleet_core::kind::Kind> {
    use hyperfleet_core::kind::Kind;
    let schema = json!({
        "$ref": "#/$defs/a-b",
        "$defs": {
            "a-b": {"type": ["object", "null"], "properties": {"again": {"$ref": "#"}, "c": {"$ref": "#/$defs/c"}}},
            "c": {"const": 3},
        },
    });
    let problem = Kind {
        spec_schema: Some(Arc::new(schema.as_object().unwrap().clone())),
        references: vec![ReferenceRule {
            ref_type: "to".to_owned(),
            target_kind: "Metadata".to_owned(),
            min: 1,
            max: 2,
            strength: Strength::Strong,
            on_target_delete: OnTargetDelete::Unreconcile,
        }],
        ..Kind::new("Problem", "problems")
    };
    let child = Kind {
        parent_kind: Some("Problem".to_owned()),
        on_parent_delete: Some(OnParentDelete::Cascade),
        ..Kind::new("ProblemList", "problem-lists")
    };
    vec![problem, child, Kind::new("Metadata", "things")]
}

#[test]
fn every_reference_of_the_document_leads_somewhere() {
    for kinds in [hyperfleet_core::kind::Kind::defaults(), odd_kinds()] {
        let document = of(kinds);
        let mut found = Vec::new();
        references(&document, &mut found);
        for target in found {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target}");
        }
    }
}

#[test]
fn no_two_operations_have_one_id() {
    let document = of(odd_kinds());
    let mut seen = HashSet::new();
    for operation in operations(&document) {
        assert!(
            seen.insert(operation["operationId"].as_str().unwrap()),
            "{operation:#}"
        );
    }
    assert!(seen.contains("listProblemListsOfProblem"), "{seen:?}");
}

#[test]
fn a_kind_that_is_named_like_a_schema_of_the_document_gets_a_name_of_its_own() {
    let document = of(odd_kinds());
    let problem = &document["components"]["schemas"]["Problem"];
    assert!(problem["properties"]["trace_id"].is_object(), "{problem:#}");
    let create = &document["paths"]["/api/hyperfleet/v1/problems"]["post"];
    let made = &create["responses"]["201"]["content"]["application/json"]["schema"];
    assert_eq!(made["$ref"], "#/components/schemas/Problem_");
}

#[test]
fn a_delete_can_be_refused_only_where_something_can_refuse_it() {
    let document = of(odd_kinds());
    let refusable = |path: &str| {
        let path = format!("/api/hyperfleet/v1/{path}/{{id}}");
        document["paths"][path]["delete"]["responses"]["409"].is_object()
    };
    assert!(refusable("things"), "something points at it");
    assert!(refusable("resources"));
    assert!(!refusable("problems"), "its children go with it");
}

/// The document of the default kinds is in the tree, so that a change of the contract shows in a change's diff.
#[test]
fn the_document_in_the_tree_is_the_one_that_is_served() {
    let mut served = of(hyperfleet_core::kind::Kind::defaults());
    served["info"]["version"] = json!("0.0.0");
    let served = serde_json::to_string_pretty(&served).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &served).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == served,
        "docs/openapi.json is not what is served; `INSTA_UPDATE=always cargo test -p hyperfleet-api` rewrites it"
    );
}
