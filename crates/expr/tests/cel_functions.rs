//! The functions beyond the standard library: ours, optionals, lists, sets, and those a host adds.

use chrono::{DateTime, Utc};
use hyperfleet_expr::cel::{Bindings, Environment, ErrorKind, EvalError, Function, Type, Value};
use serde_json::{Value as Json, json};

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00.75Z".parse().expect("a valid time")
}

fn data() -> Json {
    json!({
        "cluster": {
            "id": "c1",
            "labels": {"a-b": "dashed", "app.kubernetes.io/name": "x"},
            "status": {
                "phase": "Ready",
                "conditions": [
                    {"type": "Ready", "status": "True", "last_transition_time": "2026-03-01T11:50:00Z"},
                    {"type": "Health", "status": "False", "lastTransitionTime": "2026-03-01T11:59:30Z"},
                    {"type": "Odd", "status": 7, "last_transition_time": "never"},
                ],
            },
        },
        "feedback": {"values": [
            {"name": "phase", "fieldValue": {"type": "String", "string": "Active"}},
            {"name": "count", "fieldValue": {"type": "Integer", "integer": 3}},
        ]},
        "resources": {},
    })
}

fn evaluate(source: &str) -> Result<Json, EvalError> {
    let data = data();
    let bindings = Bindings::new(now()).bind_all(data.as_object().expect("an object"));
    let program = Environment::unchecked()
        .compile(source)
        .unwrap_or_else(|p| panic!("{p}"));
    program.evaluate_json(&bindings)
}

fn value(source: &str) -> Json {
    evaluate(source).unwrap_or_else(|e| panic!("{}", e.render(source)))
}

fn error(source: &str) -> (ErrorKind, String) {
    let error = evaluate(source).expect_err("it fails");
    (error.kind, error.message)
}

#[test]
fn condition_functions_read_both_spellings_and_any_list() {
    let conditions = "cluster.status.conditions";
    let check = |call: &str, wanted: Json| {
        assert_eq!(value(&call.replace('$', conditions)), wanted, "{call}")
    };
    check("conditionStatus($, 'Ready')", json!("True"));
    check("conditionStatus($, 'Nope')", json!("Unknown"));
    check("conditionStatus($, 'Odd')", json!("Unknown"));
    check("conditionAge($, 'Ready')", json!(600));
    check("conditionAge($, 'Health')", json!(30));
    check("conditionAge($, 'Odd')", json!(-1));
    check("conditionAge($, 'Nope')", json!(-1));
    check("stableFor($, 'Ready', 600)", json!(true));
    check("stableFor($, 'Ready', 601)", json!(false));
    check("stableFor($, 'Health', 1)", json!(false));
    check("conditionStatus($.filter(c, true), 'Ready')", json!("True"));
    check(
        "conditionStatus([{'type': 'X', 'status': 'Y'}], 'X')",
        json!("Y"),
    );
    check(
        "conditionStatus(resources.?job.?conditions, 'Ready')",
        json!("Unknown"),
    );
    check("conditionStatus(null, 'Ready')", json!("Unknown"));
    assert_eq!(
        error("conditionStatus(cluster, 'y') == ''").0,
        ErrorKind::NoSuchOverload
    );
}

#[test]
fn status_feedback_is_read_by_name() {
    assert_eq!(
        value("statusFeedbackValue(feedback, 'phase')"),
        json!("Active")
    );
    assert_eq!(value("statusFeedbackValue(feedback, 'count')"), json!(""));
    assert_eq!(value("statusFeedbackValue(feedback, 'nope')"), json!(""));
    assert_eq!(value("statusFeedbackValue(resources, 'phase')"), json!(""));
}

#[test]
fn tri_state_has_three_outcomes() {
    assert_eq!(value("triState(true, true)"), json!("True"));
    assert_eq!(value("triState(false, true)"), json!("False"));
    assert_eq!(value("triState(false, false)"), json!("Unknown"));
}

#[test]
fn dig_follows_a_path_and_gives_null_when_it_breaks() {
    assert_eq!(
        value("dig(cluster, 'status.conditions.0.type')"),
        json!("Ready")
    );
    assert_eq!(value("cluster.dig('status.phase')"), json!("Ready"));
    assert_eq!(
        value("dig(cluster, 'status.conditions.9.type')"),
        json!(null)
    );
    assert_eq!(value("dig(cluster, 'id.x.y')"), json!(null));
    assert_eq!(value("dig({'a': [{'b': 1}]}, 'a.0.b')"), json!(1));
}

#[test]
fn to_json_writes_text() {
    assert_eq!(
        value("toJson({'a': [1, null, 'x']})"),
        json!(r#"{"a":[1,null,"x"]}"#)
    );
    assert_eq!(
        value("toJson(cluster.labels)"),
        json!(r#"{"a-b":"dashed","app.kubernetes.io/name":"x"}"#)
    );
}

#[test]
fn optional_fields_chain() {
    assert_eq!(
        value("cluster.?status.?phase.orValue('none')"),
        json!("Ready")
    );
    assert_eq!(value("cluster.?spec.?phase.orValue('none')"), json!("none"));
    assert_eq!(value("cluster.?spec.phase.hasValue()"), json!(false));
    assert_eq!(
        value("cluster.status.conditions[?0].?type.value()"),
        json!("Ready")
    );
    assert_eq!(
        value("cluster.status.conditions[?9].?type.orValue('')"),
        json!("")
    );
    assert_eq!(
        value("cluster.?id.optMap(i, i + '!').value()"),
        json!("c1!")
    );
    assert_eq!(
        value("cluster.?nope.optMap(i, i + '!').hasValue()"),
        json!(false)
    );
    assert_eq!(
        value("{?'id': cluster.?id, ?'no': cluster.?no}"),
        json!({"id": "c1"})
    );
    assert_eq!(value("[?cluster.?id, ?cluster.?no, 1]"), json!(["c1", 1]));
    assert_eq!(
        value("cluster.?id.or(optional.of('x')).value()"),
        json!("c1")
    );
    assert_eq!(
        value("optional.of(1).orValue(1 / 0)"),
        json!(1),
        "the alternative is not evaluated"
    );
    assert_eq!(
        value("[optional.of(1), optional.none()].unwrapOpt()"),
        json!([1])
    );
    assert_eq!(
        value("optional.unwrap([optional.of(1), optional.none()])"),
        json!([1])
    );
    assert_eq!(
        value("[1, 2].first().value() + [1, 2].last().value()"),
        json!(3)
    );
    assert_eq!(value("[].first().hasValue()"), json!(false));
}

#[test]
fn loops_with_two_variables_see_index_and_key() {
    assert_eq!(
        value("['a', 'b'].transformList(i, v, string(i) + v)"),
        json!(["0a", "1b"])
    );
    assert_eq!(
        value("['a', 'b'].transformMap(i, v, v)"),
        json!({"0": "a", "1": "b"})
    );
    assert_eq!(
        value("{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 10)"),
        json!({"b": 20})
    );
    assert_eq!(
        value("{'a': 1}.transformMapEntry(k, v, {v: k})"),
        json!({"1": "a"})
    );
    assert_eq!(
        value("{'a': 1, 'b': 2}.exists(k, v, k == 'b' && v == 2)"),
        json!(true)
    );
    assert_eq!(value("[3, 1].existsOne(i, v, i == v)"), json!(true));
    assert_eq!(
        error("[1, 1].transformMapEntry(i, v, {v: i})").0,
        ErrorKind::InvalidArgument
    );
}

#[test]
fn lists_can_be_cut_sorted_and_flattened() {
    assert_eq!(value("[1, 2, 3, 4].slice(1, 3)"), json!([2, 3]));
    assert_eq!(value("[1, [2, [3]]].flatten()"), json!([1, 2, [3]]));
    assert_eq!(value("[1, [2, [3]]].flatten(2)"), json!([1, 2, 3]));
    assert_eq!(value("[1, 2, 1, 2u].distinct()"), json!([1, 2]));
    assert_eq!(value("[3, 1, 2].sort()"), json!([1, 2, 3]));
    assert_eq!(value("[1, 2].reverse()"), json!([2, 1]));
    assert_eq!(
        value("cluster.status.conditions.sortBy(c, c.type).map(c, c.type)"),
        json!(["Health", "Odd", "Ready"])
    );
    assert_eq!(value("lists.range(3)"), json!([0, 1, 2]));
    assert_eq!(error("[1, 'a'].sort()").0, ErrorKind::InvalidArgument);
    assert_eq!(error("[1].slice(0, 2)").0, ErrorKind::IndexOutOfRange);
}

#[test]
fn sets_compare_lists_without_order() {
    assert_eq!(value("sets.contains([1, 2, 3], [3, 1])"), json!(true));
    assert_eq!(value("sets.equivalent([1, 2, 2], [2, 1])"), json!(true));
    assert_eq!(value("sets.intersects([1, 2], [3])"), json!(false));
}

#[test]
fn go_duration_strings_are_understood() {
    let table = [
        ("1h30m", "5400s"),
        ("10m", "600s"),
        ("1.5h", "5400s"),
        ("-1m0.5s", "-60.5s"),
        ("250ms", "0.250s"),
        ("1us", "0.000001s"),
        ("0", "0s"),
    ];
    for (text, wanted) in table {
        let shown = value(&format!("string(duration('{text}'))"));
        let shown = shown.as_str().unwrap().to_owned();
        assert_eq!(shown, wanted.replace("0.250s", "0.25s"), "{text}");
    }
    for bad in ["", "10", "m", "1d", "1.2.3s", "--1s", "1h-5m"] {
        assert!(
            Environment::standard()
                .compile(&format!("duration('{bad}')"))
                .is_err(),
            "{bad:?} is no duration"
        );
    }
}

#[test]
fn a_host_function_sees_arguments_variables_and_the_clock() {
    let env = Environment::standard()
        .with_variables([("resource", Type::Map)])
        .with_function(
            Function::new("condition", 1, |call| {
                let name = call.args()[0].as_str().ok_or_else(|| {
                    EvalError::new(ErrorKind::InvalidArgument, "condition needs a name")
                })?;
                let conditions = call
                    .variable("resource")
                    .and_then(|r| r.field("conditions"));
                let Some(Value::List(list)) = conditions else {
                    return Ok(Value::Null);
                };
                let found = list
                    .iter()
                    .find(|c| c.field("type").as_ref().and_then(Value::as_str) == Some(name));
                Ok(found.unwrap_or(Value::Null))
            })
            .returning(Type::Dyn),
        )
        .with_function(
            Function::new("shout", 0, |call| {
                Ok(call.args()[0]
                    .as_str()
                    .unwrap_or_default()
                    .to_uppercase()
                    .into())
            })
            .member()
            .returning(Type::String),
        );
    let resource = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let bindings = Bindings::new(now()).bind("resource", &resource);
    let run = |source: &str| env.compile(source).unwrap().evaluate_json(&bindings);
    assert_eq!(run("condition('Ready').status.shout()"), Ok(json!("TRUE")));
    assert_eq!(run("condition('Nope')"), Ok(json!(null)));
    let failure = run("condition(1)").unwrap_err();
    assert_eq!(
        (failure.kind, failure.span),
        (ErrorKind::InvalidArgument, 0..12)
    );
}
