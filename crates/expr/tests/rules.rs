//! Aggregation rules: every example of the status guide, and the subset around them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use hyperfleet_expr::rules::{Rule, lower};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Adapter statuses as the guide's variables: `[name, available, applied, health, generation]`.
fn variables(adapters: &[(&str, &str, &str, &str, i64)], optional: &[&str]) -> Map<String, Value> {
    let all: Vec<Value> = adapters
        .iter()
        .map(|(adapter, available, applied, health, generation)| {
            json!({"adapter": adapter, "available": available, "applied": applied,
                   "health": health, "observed_generation": generation})
        })
        .collect();
    let is_optional = |status: &&Value| optional.contains(&status["adapter"].as_str().unwrap());
    let map: Map<String, Value> = all
        .iter()
        .map(|status| {
            (
                status["adapter"].as_str().unwrap().to_owned(),
                status.clone(),
            )
        })
        .collect();
    let value = json!({
        "requiredAdapters": all.iter().filter(|s| !is_optional(s)).collect::<Vec<_>>(),
        "optionalAdapters": all.iter().filter(is_optional).collect::<Vec<_>>(),
        "allAdapters": all,
        "adapters": map,
        "currentGeneration": 2,
    });
    value.as_object().unwrap().clone()
}

fn environment() -> Environment {
    Environment::standard().with_variables([
        ("requiredAdapters", Type::List),
        ("optionalAdapters", Type::List),
        ("allAdapters", Type::List),
        ("adapters", Type::Map),
        ("currentGeneration", Type::Int),
    ])
}

/// validation, dns, controlplane, nodepool as in "Example Evaluation".
fn half_ready() -> Map<String, Value> {
    variables(
        &[
            ("validation", "False", "True", "True", 2),
            ("dns", "False", "True", "True", 2),
            ("controlplane", "True", "True", "True", 2),
            ("nodepool", "True", "True", "True", 2),
            ("validation-backup", "True", "True", "True", 2),
        ],
        &["validation-backup"],
    )
}

fn all_ready() -> Map<String, Value> {
    variables(
        &[
            ("validation", "True", "True", "True", 2),
            ("dns", "True", "True", "True", 2),
            ("controlplane", "True", "True", "True", 2),
            ("nodepool", "True", "True", "True", 2),
            ("validation-backup", "True", "True", "True", 2),
        ],
        &["validation-backup"],
    )
}

/// One adapter is behind and unhealthy, and nothing optional reported.
fn degraded() -> Map<String, Value> {
    variables(
        &[
            ("validation", "True", "True", "True", 2),
            ("dns", "True", "True", "False", 1),
            ("controlplane", "True", "True", "True", 2),
            ("nodepool", "False", "True", "True", 2),
        ],
        &[],
    )
}

fn holds(rule: &str, data: &Map<String, Value>) -> Result<bool, String> {
    let rule = Rule::compile(rule, &environment()).map_err(|e| e.to_string())?;
    let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind_all(data);
    rule.evaluate(&bindings).map_err(|e| e.message)
}

/// The value of an expression over `numbers`, `text`, `object` and `nothing`.
fn value(rule: &str) -> Result<Value, String> {
    let data = json!({
        "numbers": [1, 2, 3, 4], "text": "hello", "nothing": null, "names": ["b", "a"],
        "object": {"a": 1, "b": {"c": "deep"}, "n": null}, "half": 0.5,
        "people": [{"name": "ann", "age": 30, "tags": ["x"]}, {"name": "bob", "age": 20, "tags": []}],
    });
    let rule = Rule::compile_value(rule, &Environment::unchecked()).map_err(|e| e.to_string())?;
    let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind_all(data.as_object().unwrap());
    rule.evaluate_json(&bindings).map_err(|e| e.message)
}

#[test]
fn every_expression_of_the_guide_gives_what_the_guide_says() {
    // seed 003: the expression, then half ready, all ready, degraded.
    let cases = [
        (
            r#"all(requiredAdapters, {.available == "True"})"#,
            [false, true, false],
        ),
        (
            r#"any(allAdapters, {.health == "False"})"#,
            [false, false, true],
        ),
        (
            r#"adapters["nodepool"].available == "True""#,
            [true, true, false],
        ),
        (
            r#"adapters["nodepool"].available == "True" && adapters["nodepool"].health == "True" && adapters["nodepool"].observed_generation == currentGeneration"#,
            [true, true, false],
        ),
        (
            r#"adapters["validation"].available == "True""#,
            [false, true, true],
        ),
        (
            r#"all(requiredAdapters, {.available == "True" && .health == "True"})"#,
            [false, true, false],
        ),
        (
            "all(requiredAdapters, {.observed_generation == currentGeneration})",
            [true, true, false],
        ),
        (
            r#"len(filter(requiredAdapters, {.available == "True"})) >= 3"#,
            [false, true, true],
        ),
        (
            r#"adapters["validation"].available == "True" || all(optionalAdapters, {.available == "True"})"#,
            [true, true, true],
        ),
        (
            r#"any(allAdapters, {.applied == "True" && .available == "False"})"#,
            [true, false, true],
        ),
        (
            r#"adapters["validation"].observed_generation == currentGeneration && adapters["validation"].available == "True""#,
            [false, true, true],
        ),
        (
            r#"len(filter(requiredAdapters, {.available == "True"})) >= len(requiredAdapters) * 0.75"#,
            [false, true, true],
        ),
        (
            r#"adapters["validation"].available == "True" && (adapters["dns"].available == "True" || adapters["controlplane"].available == "True")"#,
            [false, true, true],
        ),
        (
            "all(allAdapters, {.observed_generation == currentGeneration})",
            [true, true, false],
        ),
        (
            r#"len(filter(allAdapters, {.applied == "True" && .available == "False"})) == 2"#,
            [true, false, false],
        ),
        (
            "any(allAdapters, {.observed_generation < currentGeneration})",
            [false, false, true],
        ),
        (
            "any(allAdapters, {.observed_generation > currentGeneration})",
            [false, false, false],
        ),
    ];
    for (rule, wanted) in cases {
        let got = [half_ready(), all_ready(), degraded()].map(|data| holds(rule, &data));
        assert_eq!(got, wanted.map(Ok), "{rule}");
    }
}

#[test]
fn the_fallback_rule_holds_when_only_the_backup_reported() {
    let rule = r#"adapters["validation"].available == "True" || adapters["validation-backup"].available == "True""#;
    assert_eq!(holds(rule, &half_ready()), Ok(true));
    let only_backup = variables(&[("validation-backup", "True", "True", "True", 2)], &[]);
    assert_eq!(holds(rule, &only_backup), Ok(true));
}

#[test]
fn an_adapter_that_did_not_report_is_nil_and_nil_has_no_fields() {
    let error = holds(
        r#"adapters["dns"].available == "True""#,
        &variables(&[], &[]),
    )
    .unwrap_err();
    assert_eq!(
        error,
        r#"nil has no field `available`, in `adapters["dns"].available`"#
    );
    assert_eq!(
        holds(
            r#"adapters["dns"]?.available == "True""#,
            &variables(&[], &[])
        ),
        Ok(false)
    );
    assert_eq!(
        holds(r#"adapters["dns"] == nil"#, &variables(&[], &[])),
        Ok(true)
    );
    assert_eq!(
        holds(
            r#"(adapters["dns"]?.available ?? "Unknown") == "Unknown""#,
            &variables(&[], &[])
        ),
        Ok(true)
    );
}

#[test]
fn the_functions_of_the_subset_work() {
    for (rule, wanted) in [
        ("all(numbers, {# > 0})", json!(true)),
        ("all(numbers, # > 1)", json!(false)),
        ("any(people, .age < 25)", json!(true)),
        ("none(people, {.age > 40})", json!(true)),
        ("one(people, {.name == 'bob'})", json!(true)),
        ("filter(numbers, {# % 2 == 0})", json!([2, 4])),
        ("map(people, {.name})", json!(["ann", "bob"])),
        ("map(people, #.age + 1)", json!([31, 21])),
        ("count(people, .age > 25)", json!(1)),
        ("count([true, false, true])", json!(2)),
        ("find(people, .name == 'bob').age", json!(20)),
        ("find(people, .name == 'eve')", json!(null)),
        ("len(numbers)", json!(4)),
        ("len(text)", json!(5)),
        ("len(object)", json!(3)),
        ("first(numbers) + last(numbers)", json!(5)),
        ("sum(map(people, .age))", json!(50)),
        ("upper(text) + lower('X') + trim(' y ')", json!("HELLOxy")),
        ("any(people, {any(.tags, # == 'x')})", json!(true)),
        (
            "people | filter(.age > 25) | map(.name) | first()",
            json!("ann"),
        ),
        ("all(people, {.name in ['ann', 'bob']})", json!(true)),
        ("all([], {# == 1})", json!(true)),
    ] {
        assert_eq!(value(rule), Ok(wanted), "{rule}");
    }
}

#[test]
fn operators_bind_as_in_expr_lang() {
    for (rule, wanted) in [
        ("1 + 2 * 3", json!(7)),
        ("(1 + 2) * 3", json!(9)),
        ("2 ** 3 ** 0", json!(2.0)),
        ("7 / 2", json!(3.5)),
        ("7 % 4", json!(3)),
        ("-2 + 5", json!(3)),
        ("1 - 2 - 3", json!(-4)),
        ("4 * half", json!(2.0)),
        ("1 == 1.0", json!(true)),
        ("1 < 2 and 2 < 3", json!(true)),
        ("true or false and false", json!(true)),
        ("not false and true", json!(true)),
        ("!(1 > 2) && not (2 > 3)", json!(true)),
        ("true ? 'a' : 'b'", json!("a")),
        ("false ? 1 : true ? 2 : 3", json!(2)),
        ("nothing ?? 'x'", json!("x")),
        ("object.n ?? object.a", json!(1)),
        ("nothing ?? nothing ?? 3", json!(3)),
        ("object.missing ?? 'd' == 'd'", json!(true)),
        ("2 in numbers", json!(true)),
        ("2.0 in numbers", json!(true)),
        ("5 not in numbers", json!(true)),
        ("'a' in object", json!(true)),
        ("'a' in nothing", json!(false)),
        ("text contains 'ell'", json!(true)),
        ("text startsWith 'he' && text endsWith 'lo'", json!(true)),
        ("text matches '^h.*o$'", json!(true)),
        ("text not contains 'x'", json!(true)),
        ("'a' < 'b'", json!(true)),
        ("'a' + \"b\" + `c`", json!("abc")),
        ("object.b.c", json!("deep")),
        ("object['b']['c']", json!("deep")),
        ("object?.b?.c", json!("deep")),
        ("nothing?.b", json!(null)),
        ("object.missing", json!(null)),
        ("numbers[0] + numbers[-1]", json!(5)),
        ("numbers[9]", json!(null)),
        ("[1, 'a', true, nil]", json!([1, "a", true, null])),
        ("{a: 1, 'b-c': [2]}", json!({"a": 1, "b-c": [2]})),
        ("nothing < 3", json!(false)),
        ("nothing >= 3", json!(false)),
        ("nothing == 3", json!(false)),
        ("nothing != 3", json!(true)),
        ("0x1F + 1_000 // a comment", json!(1031)),
        ("/* a comment */ 2", json!(2)),
    ] {
        assert_eq!(value(rule), Ok(wanted), "{rule}");
    }
}

#[test]
fn values_of_the_wrong_kind_are_errors_that_quote_the_rule() {
    assert_eq!(
        value("text + 1").unwrap_err(),
        "`+` does not work on string and int, in `text + 1`"
    );
    assert_eq!(
        value("text < 1").unwrap_err(),
        "string and int have no order, in `text < 1`"
    );
    assert_eq!(
        value("len(1)").unwrap_err(),
        "int has no length, in `len(1)`"
    );
    assert_eq!(
        value("all(text, # == 1)").unwrap_err(),
        "expected a list, not string, in `all(text, # == 1)`"
    );
    assert_eq!(
        value("numbers % 2").unwrap_err(),
        "`%` does not work on list and int, in `numbers % 2`"
    );
    assert_eq!(value("1 % 0").unwrap_err(), "division by zero, in `1 % 0`");
    assert_eq!(
        value("nothing.x").unwrap_err(),
        "nil has no field `x`, in `nothing.x`"
    );
}

#[test]
fn an_unknown_variable_points_into_the_rule() {
    let problems = Rule::compile(
        "len(requiredAdapters) > 0 && len(requiredAdapter) > 1",
        &environment(),
    )
    .unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!(&problems.source()[problem.span.clone()], "requiredAdapter");
    assert_eq!(
        problem.help.as_deref(),
        Some("did you mean `requiredAdapters`?")
    );
}

#[test]
fn a_rule_must_be_true_or_false() {
    assert!(Rule::compile("len(allAdapters)", &environment()).is_err());
    assert!(Rule::compile("'x'", &environment()).is_err());
}

#[test]
fn syntax_mistakes_say_where_and_what() {
    let error = |rule: &str| {
        let problems = lower(rule).unwrap_err();
        let problem = problems.iter().next().unwrap();
        (problem.span.start, problem.message.clone())
    };
    assert_eq!(error(""), (0, "the rule is empty".to_owned()));
    assert_eq!(error("all(x, {.a == })").0, 14);
    assert_eq!(error("1 +"), (3, "the rule ends too early".to_owned()));
    assert_eq!(error("a b").1, "unexpected `b`");
    assert_eq!(
        error("al(x, .a)").1,
        "the function `al` is not known; did you mean \"all\"?"
    );
    assert_eq!(error("all(x)").1, "`all` takes 2 arguments, got 1");
    assert_eq!(
        error(".a == 1").1,
        "this stands for the element of a list, so it needs a closure around it"
    );
    assert_eq!(
        error("x.filter(1)").1,
        "`filter` is called like a method; write filter(value, …)"
    );
    assert_eq!(error("x[1:2]").1, "slices are not part of this subset");
    assert_eq!(error("'abc").1, "this text has no closing quote");
    assert_eq!(error("x @ y").1, "unexpected character '@'");
    assert_eq!(error("== 1").1, "unexpected `==`");
    assert_eq!(error(&"(".repeat(500)).1, "the rule is nested too deeply");
}

#[test]
fn long_rules_work_and_endless_ones_are_refused() {
    let chain = |links: usize| format!("1 == 1{}", " && 1 == 1".repeat(links));
    assert_eq!(value(&chain(200)), Ok(json!(true)));
    assert!(lower(&chain(1000)).is_err());
    assert!(lower(&format!("a{}", ".b".repeat(5000))).is_err());
    assert!(lower(&format!("1{}", "+1".repeat(5000))).is_err());
    assert!(lower(&"!".repeat(5000)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_text_parses_or_fails_without_panic(text in ".{0,60}") {
        let _ = lower(&text);
    }

    /// What the parser accepts is CEL that compiles, whatever it is made of.
    #[test]
    fn an_accepted_rule_is_valid_cel(
        pieces in prop::collection::vec(prop_oneof![
            Just("all("), Just("map("), Just("len("), Just(")"), Just("{"), Just("}"), Just("."), Just("?."),
            Just("a"), Just("#"), Just("["), Just("]"), Just(","), Just(" in "), Just(" and "), Just(" not "),
            Just("=="), Just("<"), Just("+"), Just("-"), Just("?"), Just(":"), Just("??"), Just("1"), Just("1.5"),
            Just("'s'"), Just("nil"), Just(" contains "), Just("|"), Just("**"), Just("!"), Just("é"),
        ], 1..14)
    ) {
        let text = pieces.concat();
        if lower(&text).is_ok() {
            let compiled = Rule::compile_value(&text, &Environment::syntax_only());
            if text.is_ascii() {
                prop_assert!(compiled.is_ok(), "{text}\n{:?}\n{:?}", lower(&text), compiled.err());
            }
        }
    }
}

#[test]
fn a_rule_tells_which_adapters_it_names() {
    let rule = r#"adapters["dns"].available == "True" || any(allAdapters, {.adapter == adapters?.backup.adapter})"#;
    let rule = Rule::compile(rule, &environment()).unwrap();
    assert_eq!(rule.keys_of("adapters"), ["backup", "dns"]);
}
