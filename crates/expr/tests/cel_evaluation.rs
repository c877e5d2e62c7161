//! What expressions give, and what they say when they cannot.

use chrono::{DateTime, Utc};
use hyperfleet_expr::cel::{Bindings, Environment, ErrorKind, EvalError, Type, Value};
use serde_json::{Value as Json, json};

fn now() -> DateTime<Utc> {
    "2026-03-01T12:00:00.75Z".parse().expect("a valid time")
}

fn data() -> Json {
    json!({
        "cluster": {
            "id": "c1",
            "generation": 3,
            "big": 18_446_744_073_709_551_615_u64,
            "ratio": 1.0,
            "labels": {"a-b": "dashed", "app.kubernetes.io/name": "x"},
            "status": {
                "phase": "Ready",
                "nothing": null,
                "conditions": [
                    {"type": "Ready", "status": "True", "last_transition_time": "2026-03-01T11:50:00Z"},
                    {"type": "Health", "status": "False", "lastTransitionTime": "2026-03-01T11:59:30Z"},
                    {"type": "Odd", "status": 7, "last_transition_time": "never"},
                ],
            },
        },
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
fn integral_json_numbers_are_ints() {
    assert_eq!(value("cluster.generation + 1"), json!(4));
    assert_eq!(value("type(cluster.generation) == int"), json!(true));
    assert_eq!(value("type(cluster.ratio) == double"), json!(true));
    assert_eq!(value("type(cluster.big) == uint"), json!(true));
    assert_eq!(
        value("cluster.ratio == 1 && cluster.generation < 3.5"),
        json!(true)
    );
}

#[test]
fn results_are_clean_json() {
    assert_eq!(value("null"), json!(null));
    assert_eq!(
        value("timestamp('2026-01-31T12:00:00+02:00')"),
        json!("2026-01-31T10:00:00Z")
    );
    assert_eq!(value("duration('3500ms')"), json!("3.5s"));
    assert_eq!(value("b'abc'"), json!("YWJj"));
    assert_eq!(value("optional.none()"), json!(null));
    assert_eq!(value("resources.?job"), json!(null));
    assert_eq!(value("optional.of(1)"), json!(1));
    assert_eq!(
        value("{1: 'a', true: 'b', 'c': [null, 2u]}"),
        json!({"1": "a", "true": "b", "c": [null, 2]})
    );
    assert_eq!(
        value("cluster.status.conditions.filter(c, c.type == 'Ready')[0].status"),
        json!("True")
    );
    assert_eq!(
        value("cluster.status.conditions.map(c, {'t': c.type})"),
        json!([{"t": "Ready"}, {"t": "Health"}, {"t": "Odd"}])
    );
    assert_eq!(value("0.0 / 0.0"), json!("NaN"));
}

#[test]
fn a_missing_key_is_named_with_the_place_it_is_missing_in() {
    let error = evaluate("cluster.status.reason == 'x'").unwrap_err();
    assert_eq!(error.kind, ErrorKind::NoSuchKey);
    assert_eq!(error.message, "no such key: `reason` in `cluster.status`");
    assert_eq!(error.span, 0..21);
    assert_eq!(
        error.render("cluster.status.reason == 'x'"),
        "no such key: `reason` in `cluster.status`\n  | cluster.status.reason == 'x'\n  | ^^^^^^^^^^^^^^^^^^^^^"
    );
    assert_eq!(
        error_message("cluster['status']['reason']"),
        "no such key: `reason` in `cluster['status']`"
    );
}

fn error_message(source: &str) -> String {
    error(source).1
}

#[test]
fn failures_have_a_kind_and_a_sentence() {
    use ErrorKind::{
        DivideByZero, IndexOutOfRange, InvalidArgument, NoSuchOverload, Overflow, UndeclaredName,
    };
    let table = [
        (
            "nosuch.x",
            UndeclaredName,
            "the variable `nosuch` has no value here",
        ),
        ("cluster.generation / 0", DivideByZero, "division by zero"),
        (
            "cluster.generation + 9223372036854775807",
            Overflow,
            "integer overflow",
        ),
        (
            "cluster.status.conditions[5]",
            IndexOutOfRange,
            "index 5 is out of range: `cluster.status.conditions` has 3 elements",
        ),
        (
            "cluster.generation + cluster.id",
            NoSuchOverload,
            "`+` is not defined for int and string, in `cluster.generation + cluster.id`",
        ),
        (
            "cluster.id.phase",
            NoSuchOverload,
            "no field `phase`: `cluster.id` is string, not a map",
        ),
        (
            "cluster.status.nothing.phase",
            NoSuchOverload,
            "no field `phase`: `cluster.status.nothing` is null, not a map",
        ),
        (
            "timestamp(cluster.id) < timestamp(now())",
            InvalidArgument,
            "\"c1\" is not an RFC 3339 time such as \"2026-01-31T12:00:00Z\"",
        ),
        (
            "cluster.id || false",
            NoSuchOverload,
            "expected true or false from `cluster.id`, got string",
        ),
    ];
    for (source, kind, message) in table {
        assert_eq!(error(source), (kind, message.to_owned()), "{source}");
    }
}

#[test]
fn a_predicate_must_be_boolean() {
    let data = data();
    let bindings = Bindings::new(now()).bind("cluster", &data["cluster"]);
    let program = Environment::unchecked()
        .compile_predicate("cluster.id")
        .unwrap();
    let error = program.evaluate_bool(&bindings).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotBoolean);
    assert_eq!(
        error.message,
        "expected true or false, the expression gave a value of type string"
    );
}

#[test]
fn a_deciding_operand_wins_over_an_error_on_either_side() {
    assert_eq!(value("cluster.nosuch || true"), json!(true));
    assert_eq!(value("false && cluster.nosuch"), json!(false));
    assert_eq!(value("[1, 0].exists(x, 1 / x == 1)"), json!(true));
    assert_eq!(value("[0, 2].all(x, 1 / x == 5)"), json!(false));
    assert_eq!(error("cluster.nosuch || false").0, ErrorKind::NoSuchKey);
}

#[test]
fn the_debounce_gate_opens_after_the_wait() {
    let gate = "!resources.?job.hasValue() || \
        timestamp(resources.job.metadata.creationTimestamp) < timestamp(now()) - duration('10m')";
    assert_eq!(value(gate), json!(true));
    let program = Environment::standard()
        .with_variables([("resources", Type::Dyn)])
        .compile_predicate(gate)
        .unwrap();
    let at = |created: &str| {
        let resources = json!({"job": {"metadata": {"creationTimestamp": created}}});
        program
            .evaluate_bool(&Bindings::new(now()).bind("resources", &resources))
            .unwrap()
    };
    assert!(at("2026-03-01T11:49:59Z"));
    assert!(!at("2026-03-01T11:50:00Z"));
}

#[test]
fn now_is_fixed_whole_seconds_in_utc() {
    assert_eq!(value("now()"), json!("2026-03-01T12:00:00Z"));
    assert_eq!(
        value("timestamp(now()) == timestamp('2026-03-01T12:00:00Z')"),
        json!(true)
    );
    assert_eq!(value("[1, 2].all(x, now() == now())"), json!(true));
}

#[test]
fn fields_with_dashes_need_backticks_or_an_index() {
    assert_eq!(value("cluster.labels.`a-b`"), json!("dashed"));
    assert_eq!(value("cluster.labels.`app.kubernetes.io/name`"), json!("x"));
    assert_eq!(value("cluster.labels['a-b']"), json!("dashed"));
    assert_eq!(
        value("has(cluster.labels.`a-b`) && cluster.labels.?`a-c`.orValue('-') == '-'"),
        json!(true)
    );
}

#[test]
fn a_local_variable_is_bound_once_and_shadows() {
    assert_eq!(value("cel.bind(x, cluster.generation, x * x)"), json!(9));
    assert_eq!(value("cel.bind(cluster, 1, cluster + 1)"), json!(2));
    assert_eq!(
        value("[1, 2].map(x, [10].map(y, x * y)[0] + [x].map(x, x + 1)[0])"),
        json!([12, 23])
    );
}

#[test]
fn a_later_binding_of_the_same_name_wins() {
    let (a, b) = (json!(1), json!(2));
    let bindings = Bindings::new(now()).bind("x", &a).bind("x", &b);
    let program = Environment::unchecked().compile("x").unwrap();
    assert_eq!(program.evaluate_json(&bindings), Ok(json!(2)));
}

#[test]
fn a_variable_called_like_a_type_wins_over_the_type() {
    let data = json!("x");
    let program = Environment::unchecked()
        .compile("type == 'x' && int == type(1)")
        .unwrap();
    assert_eq!(
        program.evaluate_bool(&Bindings::new(now()).bind("type", &data)),
        Ok(true)
    );
    assert_eq!(program.references().count(), 0);
    let declared = Environment::standard().with_variables([("type", Type::String)]);
    let program = declared.compile("type == 'x'").unwrap();
    assert_eq!(
        program.evaluate_bool(&Bindings::new(now()).bind("type", &data)),
        Ok(true)
    );
}

#[test]
fn values_outlive_the_bindings_but_borrow_the_data() {
    let data = json!({"a": {"b": "text"}});
    let program = Environment::unchecked().compile("x.a.b").unwrap();
    let result = {
        let bindings = Bindings::new(now()).bind("x", &data);
        program.evaluate(&bindings).unwrap()
    };
    let Value::String(text) = &result else {
        panic!("{result:?}")
    };
    let original = data["a"]["b"].as_str().unwrap();
    assert!(std::ptr::eq(text.as_str(), original), "the text was copied");
}

#[test]
fn a_program_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let env = Environment::unchecked();
    shared(&env);
    shared(&env.compile("x").unwrap());
}
