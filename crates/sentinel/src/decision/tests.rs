use std::time::Duration;

use hyperfleet_core::generation::Generation;
use serde_json::json;

use super::*;
use crate::options::{DecisionRules, Param};

mod backoffs;

const NOW: &str = "2026-01-01T12:00:00Z";

fn now() -> Time {
    NOW.parse().unwrap()
}

/// A resource whose `Reconciled` has this status, this age in seconds and this generation.
fn resource(generation: i64, status: &str, age: f64, observed: i64) -> Value {
    let updated = now() - TimeDelta::milliseconds((age * 1000.0) as i64);
    json!({"id": "c1", "generation": generation, "status": {"conditions": [
        {"type": "Other", "status": "True", "last_updated_time": NOW, "observed_generation": 99},
        {"type": "Reconciled", "status": status, "observed_generation": observed, "last_updated_time": updated},
    ]}})
}

fn without_conditions(generation: i64) -> Value {
    json!({"id": "c1", "generation": generation, "status": {}})
}

fn rules(params: &[(&str, &str)], result: &str) -> Result<Rules, String> {
    Rules::compile(&DecisionRules {
        params: params
            .iter()
            .map(|(name, expr)| Param {
                name: (*name).to_owned(),
                expr: (*expr).to_owned(),
            })
            .collect(),
        result: result.to_owned(),
    })
    .map_err(|error| error.to_string())
}

fn standard(resource: &Value) -> Result<bool, String> {
    Rules::compile(&DecisionRules::standard())
        .unwrap()
        .matches(resource, now())
        .map_err(|error| error.to_string())
}

#[test]
fn the_standard_rules_decide_every_case_of_the_reference() {
    let minutes = 60.0;
    for (case, resource, expected) in [
        (
            "reconciled, exactly 30 minutes",
            resource(1, "True", 30.0 * minutes, 1),
            false,
        ),
        (
            "reconciled, just over 30 minutes",
            resource(1, "True", 30.0 * minutes + 0.001, 1),
            true,
        ),
        ("reconciled, fresh", resource(1, "True", 5.0, 1), false),
        (
            "not reconciled, exactly 10 seconds",
            resource(1, "False", 10.0, 1),
            false,
        ),
        (
            "not reconciled, just over 10 seconds",
            resource(1, "False", 10.001, 1),
            true,
        ),
        (
            "generation 1, not reconciled, young",
            resource(1, "False", 9.0, 1),
            false,
        ),
        ("generation 1, no condition", without_conditions(1), true),
        ("generation 2, no condition", without_conditions(2), true),
        (
            "unknown counts as not reconciled",
            resource(1, "Unknown", 11.0, 1),
            true,
        ),
        (
            "any other text counts as not reconciled",
            resource(1, "true", 11.0, 1),
            true,
        ),
        (
            "any other text, young",
            resource(1, "Unknown", 9.0, 1),
            false,
        ),
        ("generation moved on", resource(2, "True", 1.0, 1), true),
        (
            "observed generation ahead, fresh",
            resource(1, "True", 1.0, 5),
            false,
        ),
        (
            "observed generation ahead, stale",
            resource(1, "True", 31.0 * minutes, 5),
            true,
        ),
        (
            "report from the future",
            resource(1, "False", -60.0, 1),
            false,
        ),
        (
            "no status at all",
            json!({"id": "c1", "generation": 1}),
            true,
        ),
    ] {
        assert_eq!(standard(&resource), Ok(expected), "{case}");
    }
}

#[test]
fn a_zero_time_is_an_evaluation_error_and_skipped() {
    let mut zero = resource(1, "False", 0.0, 1);
    zero["status"]["conditions"][1]["last_updated_time"] = json!("0001-01-01T00:00:00Z");
    let error = standard(&zero).unwrap_err();
    assert!(
        error.starts_with("param \"not_reconciled_and_debounced\" evaluation failed: "),
        "{error}"
    );
}

#[test]
fn of_two_conditions_of_a_type_the_last_one_counts() {
    let mut two = resource(1, "False", 60.0, 1);
    let again = json!({"type": "Reconciled", "status": "True", "observed_generation": 1, "last_updated_time": NOW});
    two["status"]["conditions"]
        .as_array_mut()
        .unwrap()
        .push(again);
    assert_eq!(standard(&two), Ok(false));
}

#[test]
fn params_are_evaluated_in_order_and_all_of_them() {
    let rules = rules(&[("a", "resource.generation"), ("b", "a + 1")], "b == 3").unwrap();
    assert!(rules.matches(&without_conditions(2), now()).unwrap());
    let eager = self::rules(&[("broken", "resource.nothing.there")], "true").unwrap();
    let error = eager
        .matches(&without_conditions(1), now())
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("param \"broken\" evaluation failed: "),
        "{error}"
    );
    let failing = self::rules(&[], "resource.nothing == 1").unwrap();
    let error = failing
        .matches(&without_conditions(1), now())
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("result evaluation failed: "), "{error}");
}

#[test]
fn a_condition_has_all_its_fields_whether_or_not_it_is_there() {
    let result = r#"condition("None").status == "" && condition("None").reason == "" && condition("None").message == ""
        && condition("None").last_transition_time == "" && condition("None").observed_generation == 0
        && condition("Other").status == "True" && condition("Other").observed_generation == 99"#;
    let rules = rules(&[], result).unwrap();
    assert!(rules.matches(&resource(1, "True", 1.0, 1), now()).unwrap());
}

#[test]
fn the_strings_library_and_constants_can_be_used() {
    assert!(
        rules(&[], "true")
            .unwrap()
            .matches(&json!({}), now())
            .unwrap()
    );
    let rules = rules(&[], "'a-b'.split('-')[1].upperAscii() == 'B'").unwrap();
    assert!(rules.matches(&json!({}), now()).unwrap());
}

#[test]
fn mistakes_in_rules_are_found_at_load() {
    let refused = |params: &[(&str, &str)], result: &str| rules(params, result).unwrap_err();
    assert_eq!(refused(&[], " "), "message_decision.result is required");
    assert_eq!(
        refused(&[("", "true")], "true"),
        "message_decision.params[0].name is required"
    );
    assert_eq!(
        refused(&[("a", "")], "true"),
        "message_decision.params.a is required"
    );
    assert!(refused(&[("a", "1"), ("a", "2")], "true").contains("`a` is defined more than once"));
    assert!(refused(&[("a-b", "1")], "true").contains("is not a name"));
    assert!(refused(&[("now", "1")], "true").contains("is taken"));
    let forward = refused(&[("a", "b"), ("b", "1")], "true");
    assert!(
        forward.starts_with("message_decision.params.a: "),
        "{forward}"
    );
    let not_bool = refused(&[], "'text'");
    assert!(
        not_bool.starts_with("message_decision.result: "),
        "{not_bool}"
    );
}

fn view() -> View {
    View {
        generation: Generation::FIRST,
        deleting: false,
        ready: false,
        updated_time: now() - TimeDelta::seconds(100),
        reported: true,
        last_updated_time: now(),
        progress: 1,
    }
}

fn published(seconds_ago: i64) -> Published {
    Published::after(None, &view(), now() - TimeDelta::seconds(seconds_ago))
}

fn decide(decision: &Decision, published: Option<Published>, changed: bool) -> Next {
    let known = Known {
        view: &view(),
        published: published.as_ref(),
        changed,
        spread: 0.5,
    };
    decision.next(&known, now(), || Cow::Owned(json!({})))
}

#[test]
fn backoffs_know_the_exact_moment() {
    let decision = Decision::Backoff {
        backoff: Backoff::default(),
        jitter: Jitter(0.0),
    };
    let wait = Next::Wait {
        until: now() + TimeDelta::seconds(10),
        skip: Skip::NotDue,
    };
    assert_eq!(decide(&decision, None, true), wait);
    assert!(!decision.reads_resource());
}

#[test]
fn a_rule_that_stays_true_does_not_repeat_an_unchanged_resource_before_its_time() {
    let decision = Decision::Rules {
        rules: rules(&[], "true").unwrap(),
        repeat: Duration::from_secs(10),
        recheck: Duration::from_secs(5),
        jitter: Jitter(0.0),
    };
    let matched = Next::Publish {
        reason: MATCHED,
        due: now(),
    };
    assert_eq!(decide(&decision, None, true), matched);
    assert_eq!(
        decide(&decision, Some(published(3)), false),
        Next::Wait {
            until: now() + TimeDelta::seconds(7),
            skip: Skip::NotDue
        }
    );
    assert_eq!(
        decide(&decision, Some(published(3)), true),
        matched,
        "it changed"
    );
    assert_eq!(decide(&decision, Some(published(10)), false), matched);
}

#[test]
fn a_rule_that_is_false_or_fails_is_asked_again_later() {
    for (result, skip) in [
        ("false", Skip::ResultFalse),
        ("resource.x", Skip::EvaluationError),
    ] {
        let decision = Decision::Rules {
            rules: rules(&[], result).unwrap(),
            repeat: Duration::from_secs(10),
            recheck: Duration::from_secs(5),
            jitter: Jitter(0.0),
        };
        let until = now() + TimeDelta::seconds(5);
        assert_eq!(decide(&decision, None, true), Next::Wait { until, skip });
    }
}
