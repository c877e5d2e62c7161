//! Structured conditions.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyperfleet_expr::cel::{Bindings, Environment};
use hyperfleet_expr::structured::{Condition, ConditionError, Operator, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

fn data() -> Value {
    json!({
        "clusterPhase": "Pending",
        "cloudProvider": "aws",
        "nodes": 5,
        "ratio": 0.5,
        "whole": 5.0,
        "ready": true,
        "empty": "",
        "nothing": null,
        "tags": ["a", "b", 3],
        "labels": {"region": "eu", "app.kubernetes.io/name": "x"},
        "none": [],
        "conditions": [{"type": "Ready", "status": "True"}],
        "resources": {"clusterConfigMap": {"metadata": {"name": "cm"}}},
    })
}

fn outcome(field: &str, operator: &str, value: impl Into<Option<Value>>) -> Outcome {
    let operator = Operator::parse(operator).unwrap();
    Condition::new(field, operator, value.into())
        .unwrap()
        .evaluate_on(&data())
}

fn met(field: &str, operator: &str, value: impl Into<Option<Value>>) -> bool {
    outcome(field, operator, value).met
}

fn why(field: &str, operator: &str, value: impl Into<Option<Value>>) -> String {
    outcome(field, operator, value).explanation
}

#[test]
fn equality_is_by_content_and_numbers_by_value() {
    assert!(met("clusterPhase", "equals", json!("Pending")));
    assert!(met("nodes", "equals", json!(5.0)));
    assert!(met("whole", "equals", json!(5)));
    assert!(met("tags", "equals", json!(["a", "b", 3.0])));
    assert!(!met("nodes", "equals", json!("5")));
    assert!(met("clusterPhase", "notEquals", json!("Ready")));
    assert!(!met("ready", "notEquals", json!(true)));
}

#[test]
fn membership_works_across_kinds_of_numbers() {
    assert!(met("cloudProvider", "in", json!(["aws", "gcp", "azure"])));
    assert!(met("nodes", "in", json!([4.0, 5.0])));
    assert!(!met("clusterPhase", "in", json!([])));
    assert!(met("clusterPhase", "notIn", json!(["Ready"])));
}

#[test]
fn contains_looks_into_texts_lists_and_maps() {
    assert!(met("clusterPhase", "contains", json!("end")));
    assert!(met("tags", "contains", json!("b")));
    assert!(met("tags", "contains", json!(3.0)));
    assert!(met("labels", "contains", json!("region")));
    assert!(!met("labels", "contains", json!("eu")));
}

#[test]
fn existence_means_a_value_that_is_not_empty() {
    for field in [
        "clusterPhase",
        "ready",
        "nodes",
        "tags",
        "resources.clusterConfigMap",
    ] {
        assert!(met(field, "exists", None), "{field}");
        assert!(!met(field, "notExists", None), "{field}");
    }
    for field in [
        "missing",
        "empty",
        "nothing",
        "none",
        "labels.missing",
        "missing.deeper",
    ] {
        assert!(!met(field, "exists", None), "{field}");
        assert!(met(field, "notExists", None), "{field}");
    }
}

#[test]
fn comparisons_work_across_integers_and_floats() {
    assert!(met("nodes", "greaterThan", json!(4.5)));
    assert!(met("ratio", "lessThan", json!(1)));
    assert!(met("whole", "greaterThanOrEqual", json!(5)));
    assert!(met("nodes", "lessThanOrEqual", json!(5.0)));
    assert!(!met("nodes", "lessThan", json!(5)));
}

#[test]
fn a_missing_field_is_null_and_never_an_error() {
    assert!(met("missing", "equals", json!(null)));
    assert!(!met("missing", "equals", json!("x")));
    assert!(met("missing", "notEquals", json!("x")));
    assert!(!met("missing", "in", json!(["x"])));
    assert!(met("missing", "notIn", json!(["x"])));
    for operator in [
        "contains",
        "greaterThan",
        "lessThan",
        "greaterThanOrEqual",
        "lessThanOrEqual",
    ] {
        assert_eq!(
            why("missing", operator, json!(1)),
            "not met: field missing is missing"
        );
    }
}

#[test]
fn the_explanation_shows_what_was_seen_and_what_was_wanted() {
    assert_eq!(
        why("clusterPhase", "in", json!(["Ready", "Installing"])),
        r#"clusterPhase is "Pending", wanted one of ["Ready","Installing"]"#
    );
    assert_eq!(
        why("clusterPhase", "equals", json!("Ready")),
        r#"clusterPhase is "Pending", wanted "Ready""#
    );
    assert_eq!(
        why("clusterPhase", "equals", json!("Pending")),
        r#"clusterPhase is "Pending""#
    );
    assert_eq!(
        why("missing", "exists", None),
        "missing is missing, wanted a value"
    );
    assert_eq!(
        why("nodes", "greaterThan", json!(7)),
        "nodes is 5, wanted more than 7"
    );
    assert_eq!(
        why("clusterPhase", "lessThan", json!(7)),
        r#"clusterPhase is "Pending", which is text; lessThan does not work on that"#
    );
}

#[test]
fn long_values_are_cut_in_explanations() {
    let condition = Condition::new("x", Operator::Equals, Some(json!(1))).unwrap();
    let outcome = condition.evaluate_on(&json!({"x": "é".repeat(5000)}));
    assert!(
        outcome.explanation.chars().count() < 240,
        "{}",
        outcome.explanation
    );
}

#[test]
fn json_paths_with_filters_are_fields_too() {
    assert!(met(
        "{.conditions[?(@.type=='Ready')].status}",
        "equals",
        json!("True")
    ));
    assert!(met("conditions[0].status", "equals", json!("True")));
    assert!(met("labels['app.kubernetes.io/name']", "exists", None));
}

#[test]
fn mistakes_are_found_at_load() {
    assert_eq!(
        Operator::parse("equal").unwrap_err().to_string(),
        "the operator \"equal\" is not known; did you mean \"equals\"?"
    );
    let error = |operator, value| {
        Condition::new("a", operator, value)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error(Operator::Exists, Some(json!(true))),
        "the operator exists takes no value"
    );
    assert_eq!(
        error(Operator::Equals, None),
        "the operator equals needs a value"
    );
    assert_eq!(
        error(Operator::In, Some(json!("x"))),
        "the operator in needs a list of values"
    );
    assert_eq!(
        error(Operator::LessThan, Some(json!("5"))),
        "the operator lessThan needs a number"
    );
    assert!(matches!(
        Condition::new("a[", Operator::Exists, None),
        Err(ConditionError::Field(_))
    ));
}

#[test]
fn variables_may_come_from_several_places() {
    let (phase, nodes) = (json!("Ready"), json!({"count": 3}));
    let condition = Condition::new("nodes.count", Operator::GreaterThan, Some(json!(2))).unwrap();
    let variables = |name: &str| match name {
        "phase" => Some(&phase),
        "nodes" => Some(&nodes),
        _ => None,
    };
    assert!(condition.evaluate(variables).met);
}

#[test]
fn the_cel_text_of_a_condition_reads_as_one_would_write_it() {
    let cel = |field, operator, value| {
        Condition::new(field, operator, value)
            .unwrap()
            .to_cel()
            .unwrap()
    };
    assert_eq!(
        cel("cloudProvider", Operator::In, Some(json!(["aws"]))),
        r#"cloudProvider in ["aws"]"#
    );
    assert_eq!(
        cel("status.phase", Operator::Equals, Some(json!("Ready"))),
        r#"dig(status, "phase") == "Ready""#
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(0)),
        Just(json!(5)),
        Just(json!(5.0)),
        Just(json!(0.5)),
        Just(json!("")),
        Just(json!("Pending")),
        Just(json!("a")),
        Just(json!([])),
        Just(json!({})),
        Just(json!(true)),
        Just(json!(["a", 5])),
        Just(json!({"a": 1})),
    ]
}

proptest! {
    /// The text an author is shown means what the condition does.
    #[test]
    fn the_cel_text_gives_the_same_answer(
        operator in prop::sample::select(Operator::ALL.to_vec()),
        field in prop::sample::select(vec!["v", "o.v", "o.p.v", "o.missing", "o['x.y']"]),
        seen in any_value(),
        value in any_value(),
    ) {
        let value = (!matches!(operator, Operator::Exists | Operator::NotExists)).then_some(value);
        if let Ok(condition) = Condition::new(field, operator, value) {
            let data = json!({"v": seen, "o": {"v": seen, "p": {"v": seen}, "x.y": seen}});
            let program = Environment::unchecked().compile(&condition.to_cel().unwrap());
            let bindings = Bindings::new(chrono::DateTime::UNIX_EPOCH).bind_all(data.as_object().unwrap());
            let by_cel = program.unwrap().evaluate_bool(&bindings).unwrap_or(false);
            prop_assert_eq!(condition.evaluate_on(&data).met, by_cel, "{:?}", condition.to_cel());
        }
    }
}
