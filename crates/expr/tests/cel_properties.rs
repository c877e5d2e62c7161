//! Any text, any soup of tokens: no panic, bounded work, and places that lie within the source.

use chrono::DateTime;
use hyperfleet_expr::cel::{Bindings, Environment, ErrorKind, Limits, Type, Value};
use proptest::prelude::*;
use serde_json::json;

fn small() -> Limits {
    Limits {
        steps: 2_000,
        expression_bytes: 4096,
        string_bytes: 4096,
        collection_items: 200,
        regex_bytes: 16 * 1024,
        ..Limits::default()
    }
}

/// Compiles in every mode and evaluates what compiles.
fn exercise(source: &str) -> Result<(), TestCaseError> {
    let data = json!({
        "a": {"b": [1, 2.5, "x", null, true, {"c": "2026-01-01T00:00:00Z"}]},
        "s": "äbc",
        "n": -3,
        "list": [3, 1, 2],
    });
    let bindings =
        Bindings::new(DateTime::UNIX_EPOCH).bind_all(data.as_object().expect("an object"));
    let checked = Environment::standard().with_variables([
        ("a", Type::Dyn),
        ("s", Type::String),
        ("n", Type::Int),
    ]);
    for env in [
        checked,
        Environment::unchecked(),
        Environment::syntax_only(),
    ] {
        match env.with_limits(small()).compile(source) {
            Ok(program) => {
                if let Err(error) = program.evaluate_json(&bindings) {
                    prop_assert!(
                        error.span.end <= source.len() && source.get(error.span.clone()).is_some()
                    );
                    prop_assert!(!error.message.is_empty() && error.message.len() < 1000);
                    error.render(source);
                }
            }
            Err(problems) => {
                prop_assert!(problems.len() > 0);
                for problem in &problems {
                    prop_assert!(source.get(problem.span.clone()).is_some(), "{problem:?}");
                }
                problems.to_string();
            }
        }
    }
    Ok(())
}

const TOKENS: &[&str] = &[
    "a",
    "s",
    "n",
    "list",
    "x",
    "now",
    "in",
    "true",
    "false",
    "null",
    "1",
    "0",
    "-1",
    "2u",
    "1.5",
    "1e400",
    "0x1F",
    "9223372036854775807",
    "'t'",
    "\"\\u00e4\"",
    "b'\\xff'",
    "r'\\d+'",
    "'''q'''",
    "'1h'",
    "'%s %d'",
    "''",
    ".",
    ".?",
    ",",
    "(",
    ")",
    "[",
    "[?",
    "]",
    "{",
    "{?",
    "}",
    "?",
    ":",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "`b-c`",
    ".b",
    ".c",
    ".size()",
    ".map(x, ",
    ".filter(x, ",
    ".all(x, ",
    ".exists(i, x, ",
    ".transformMap(k, v, ",
    ".transformList(k, v, ",
    ".sortBy(x, ",
    ".optMap(x, ",
    "cel.bind(x, ",
    "has(",
    "size(",
    "string(",
    "int(",
    "timestamp(",
    "duration(",
    "optional.of(",
    ".orValue(",
    ".format([",
    ".matches(",
    ".replace(",
    ".split(",
    ".join(",
    ".flatten(",
    ".sort()",
    ".distinct()",
    "lists.range(",
    "math.greatest(",
    "toJson(",
    "dig(",
    "conditionAge(",
    "type(",
    "dyn(",
    ".getHours('Europe/Berlin')",
    " ",
    "\n",
    "//c\n",
    "\\",
    "\u{1F600}",
];

/// Expressions that parse, so that evaluation gets its share.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "a.b",
        "s",
        "n",
        "list",
        "1",
        "-7",
        "2u",
        "0.5",
        "'x'",
        "''",
        "b'y'",
        "null",
        "true",
        "[]",
        "{}",
        "now()",
        "timestamp(now())",
        "duration('90s')",
        "a.?z",
        "a.b[?5].?c",
        "optional.none()",
        "int",
        "x",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let op = prop::sample::select(vec![
            "+", "-", "*", "/", "%", "==", "!=", "<", ">=", "in", "&&", "||",
        ]);
        let call = prop::sample::select(vec![
            "size($)",
            "string($)",
            "int($)",
            "double($)",
            "type($)",
            "$.size()",
            "$.sort()",
            "$.flatten(9)",
            "$.distinct()",
            "$.reverse()",
            "$.join('-')",
            "$.trim()",
            "$.hasValue()",
            "$.value()",
            "toJson($)",
            "optional.of($)",
            "optional.ofNonZeroValue($)",
            "lists.range($)",
            "math.abs($)",
            "math.least($, 1)",
            "timestamp($)",
            "duration($)",
            "$.getMonth()",
            "base64.encode(bytes($))",
            "$.first()",
            "-$",
            "!$",
            "has($.b)",
            "$.b",
            "$[0]",
            "$[?'b']",
            "dig($, 'b.0')",
            "[$, $]",
            "{'k': $}",
            "{$: 1}",
            "'%s %d'.format([$, $])",
            "$.map(x, x)",
            "$.filter(x, x != null)",
            "$.all(x, x > 0)",
            "$.transformMap(i, x, [x, x])",
            "$.sortBy(x, x)",
            "cel.bind(x, $, [x, x])",
            "$.matches($)",
            "$.replace('', $)",
            "$.split('')",
            "$.substring(1)",
            "$.charAt($)",
            "$.indexOf($)",
            "$.slice(0, $)",
            "conditionStatus($, 'x')",
            "$.optMap(x, [x])",
            "$.orValue($)",
            "sets.contains($, $)",
        ]);
        prop_oneof![
            (inner.clone(), op, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (call, inner.clone()).prop_map(|(call, arg)| call.replace('$', &format!("({arg})"))),
            (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_never_panics(source in any::<String>()) {
        exercise(&source)?;
    }

    #[test]
    fn token_soup_never_panics(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        exercise(&tokens.concat())?;
        exercise(&tokens.join(" "))?;
    }

    #[test]
    fn well_formed_expressions_give_a_value_or_an_error(source in expression()) {
        let env = Environment::syntax_only().with_limits(small());
        prop_assert!(env.compile(&source).is_ok(), "{}", source);
        exercise(&source)?;
    }

    /// What the checker accepts can fail at run time, but never for a function nobody defined.
    #[test]
    fn a_checked_expression_never_lacks_a_function(source in expression()) {
        let env = Environment::unchecked().with_limits(small());
        if let Ok(program) = env.compile(&source) {
            let bindings = Bindings::new(DateTime::UNIX_EPOCH);
            if let Err(error) = program.evaluate(&bindings) {
                prop_assert!(!error.message.contains("unknown function"));
            }
        }
    }

    /// Folding constants at compile time gives what evaluating them gives.
    #[test]
    fn folding_changes_no_result(left in -100i64..100, right in -100i64..100, op in prop::sample::select(vec!["+", "-", "*", "/", "%", "<", "=="])) {
        let env = Environment::unchecked();
        let folded = env.compile(&format!("{left} {op} {right}")).expect("valid");
        let computed = env.compile(&format!("l {op} r")).expect("valid");
        let bindings = Bindings::new(DateTime::UNIX_EPOCH)
            .bind_value("l", Value::Int(left))
            .bind_value("r", Value::Int(right));
        let (a, b) = (folded.evaluate_json(&bindings), computed.evaluate_json(&bindings));
        match (a, b) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a, b),
            (Err(a), Err(b)) => prop_assert_eq!(a.kind, b.kind),
            (a, b) => prop_assert!(false, "{:?} and {:?}", a, b),
        }
    }

    #[test]
    fn text_survives_quoting(text in any::<String>()) {
        let env = Environment::unchecked();
        let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind_value("t", Value::str(&text));
        let quote = env.compile("strings.quote(t)").expect("valid");
        let quoted = quote.evaluate(&bindings).expect("a value");
        let literal = env.compile(quoted.as_str().expect("text")).expect("a literal");
        let read = literal.evaluate(&bindings).expect("a value");
        prop_assert_eq!(read.as_str(), Some(text.as_str()));
    }

    #[test]
    fn durations_survive_printing(nanos in any::<i64>()) {
        let program = Environment::unchecked().compile("duration(string(d)) == d").expect("valid");
        let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind_value("d", Value::Duration(nanos));
        prop_assert_eq!(program.evaluate_bool(&bindings), Ok(true));
    }

    #[test]
    fn timestamps_survive_printing(seconds in -62_135_596_800i64..253_402_300_800, nanos in 0u32..1_000_000_000) {
        let time = DateTime::from_timestamp(seconds, nanos).expect("in range");
        let program = Environment::unchecked().compile("timestamp(string(t)) == t").expect("valid");
        let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind_value("t", Value::Timestamp(time));
        prop_assert_eq!(program.evaluate_bool(&bindings), Ok(true));
    }

    #[test]
    fn json_passes_through_unchanged(numbers in prop::collection::vec(any::<i64>(), 0..5), text in ".{0,10}", flag in any::<bool>()) {
        let data = json!({"n": numbers, "t": text, "f": flag, "z": null, "o": {"n": [1.5, {}]}});
        let program = Environment::unchecked().compile("{'whole': x, 'parts': [x.n, x.t, x.f, x.z, x.o]}").expect("valid");
        let bindings = Bindings::new(DateTime::UNIX_EPOCH).bind("x", &data);
        let wanted = json!({"whole": data, "parts": [data["n"], data["t"], data["f"], data["z"], data["o"]]});
        prop_assert_eq!(program.evaluate_json(&bindings).expect("a value"), wanted);
    }
}

#[test]
fn an_exhausted_budget_is_reported_as_such() {
    let env = Environment::unchecked().with_limits(small());
    let program = env
        .compile("lists.range(199).all(x, lists.range(199).all(y, x + y >= 0))")
        .expect("valid");
    let error = program
        .evaluate(&Bindings::new(DateTime::UNIX_EPOCH))
        .expect_err("too much work");
    assert_eq!(error.kind, ErrorKind::LimitExceeded);
}
