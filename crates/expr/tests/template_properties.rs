//! Templates, YAML and limits hold for any input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::{DateTime, Utc};
use hyperfleet_expr::template::{Data, Limits, Template, parse_yaml};
use proptest::prelude::*;
use serde_json::{Value, json};

fn now() -> DateTime<Utc> {
    "2026-11-15T08:30:05Z".parse().unwrap()
}

/// Text made of pieces that mean something to the parser, so that more than
/// the first character is exercised.
fn template_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{{"),
        Just("}}"),
        Just("{{-"),
        Just("-}}"),
        Just(" "),
        Just("\n"),
        Just(".a"),
        Just(".b.c"),
        Just("$"),
        Just("$x"),
        Just(":="),
        Just("="),
        Just("|"),
        Just("("),
        Just(")"),
        Just("if "),
        Just("else "),
        Just("end"),
        Just("range "),
        Just("with "),
        Just("define \"t\""),
        Just("template \"t\" ."),
        Just("block \"u\" ."),
        Just("break"),
        Just("continue"),
        Just("\"s\""),
        Just("`r`"),
        Just("'c'"),
        Just("12"),
        Just("1.5"),
        Just("-3"),
        Just("printf \"%v\" "),
        Just("index . \"a\""),
        Just("nil"),
        Just("list 1 2"),
        Just("dict \"a\" 1"),
        Just("set "),
        Just("join \",\" "),
        Just("until 9"),
        Just("now"),
        Just(".Format \"2006\""),
        Just("/*"),
        Just("*/"),
        Just("é"),
        Just("include \"t\" ."),
        Just("toYaml "),
        Just("trunc 3 "),
        Just("date "),
        Just(","),
        Just("semver "),
        Just("regexFind \"a\" "),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Eighths: serde_json reads long fractions back one bit off.
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 8.0)),
        any::<String>().prop_map(Value::from),
        "[a-z0-9 :#\\-\n'\"]{0,12}".prop_map(Value::from),
        prop_oneof![
            Just("yes"),
            Just("null"),
            Just("~"),
            Just("012"),
            Just("1e3"),
            Just("0x1F"),
            Just(".inf"),
            Just("2026-01-01"),
            Just("- a"),
            Just("a: b"),
            Just("|"),
            Just(" x"),
            Just("x "),
            Just("---"),
            Just("a\n b\n"),
            Just("a\n\n\nb\n\n"),
            Just("12:30"),
            Just("1_000"),
            Just("..."),
            Just("*a"),
            Just("&a"),
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn small() -> Limits {
    Limits {
        output: 10_000,
        work: 20_000,
        depth: 20,
    }
}

fn try_out(text: &str) {
    let data = json!({"a": [1, "x", {"k": null}], "b": {"c": "text"}});
    if let Ok(template) = Template::parse("t", text) {
        let data = Data::from(data.as_object().unwrap());
        if let Ok(rendered) = template.render_within(&data, now(), small()) {
            assert!(rendered.len() <= 10_000);
            let _ = parse_yaml(&rendered);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_parses_or_fails_without_panic(text in ".{0,60}") {
        try_out(&text);
    }

    #[test]
    fn any_arrangement_of_template_pieces_renders_or_fails_without_panic(text in template_like()) {
        try_out(&text);
        try_out(&format!("{{{{ {text} }}}}"));
    }

    #[test]
    fn text_without_braces_renders_as_itself(text in "[^{]{0,60}") {
        let template = Template::parse("t", &text).unwrap();
        let data = serde_json::Map::new();
        prop_assert_eq!(template.render(&Data::from(&data), now()).unwrap(), text);
    }

    #[test]
    fn to_yaml_is_read_back_as_the_same_value(value in json_value()) {
        let template = Template::parse("t", "{{ toYaml .v }}").unwrap();
        let data = json!({"v": value});
        let rendered = template.render(&Data::from(data.as_object().unwrap()), now()).unwrap();
        let back = parse_yaml(&rendered);
        prop_assert_eq!(back.as_ref(), Ok(&data["v"]), "{}", rendered);
    }

    #[test]
    fn to_yaml_survives_indentation_inside_a_manifest(value in json_value()) {
        let template = Template::parse("t", "top:\n  x: {{- toYaml (dict \"v\" .v) | nindent 4 }}\n").unwrap();
        let data = json!({"v": value});
        let rendered = template.render_yaml(&Data::from(data.as_object().unwrap()), now());
        prop_assert_eq!(rendered, Ok(json!({"top": {"x": {"v": data["v"]}}})));
    }

    #[test]
    fn any_yaml_text_parses_or_fails_without_panic(text in "[a-c0-9:\\-\\[\\]{}&*!|>'\"#?, \n\t]{0,60}") {
        let _ = parse_yaml(&text);
    }

    #[test]
    fn json_is_printed_as_json(value in json_value()) {
        let template = Template::parse("t", "{{ toJson .v }}").unwrap();
        let data = json!({"v": value});
        let rendered = template.render(&Data::from(data.as_object().unwrap()), now()).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&rendered).unwrap(), data["v"].clone());
    }
}
