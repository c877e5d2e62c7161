//! The tables of `docs/templates.md` are true and complete.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use chrono::{DateTime, Utc};
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use hyperfleet_expr::path::Path;
use hyperfleet_expr::rules::Rule;
use hyperfleet_expr::template::{Data, Template, function_names};
use serde_json::{Map, Value};

const PAGE: &str = include_str!("../../../docs/templates.md");

fn now() -> DateTime<Utc> {
    "2026-11-15T08:30:05Z".parse().unwrap()
}

fn data() -> Map<String, Value> {
    let (_, rest) = PAGE.split_once("```json\n").unwrap();
    serde_json::from_str(rest.split_once("```").unwrap().0).unwrap()
}

/// The rows of all tables whose first column has that title.
fn rows(title: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut inside = false;
    for line in PAGE.lines() {
        let Some(line) = line
            .strip_prefix("| ")
            .and_then(|line| line.strip_suffix(" |"))
        else {
            inside &= line.starts_with("|---");
            continue;
        };
        // A bar inside a cell is escaped.
        let line = line.replace("\\|", "\0");
        let (first, second) = line.split_once(" | ").unwrap();
        let cell = |text: &str| {
            let text = text.replace('\0', "|");
            let bare = text
                .strip_prefix("`` ")
                .and_then(|text| text.strip_suffix(" ``"));
            bare.unwrap_or(text.trim_matches('`')).to_owned()
        };
        match inside {
            true => rows.push((cell(first), cell(second))),
            false => inside = first == title,
        }
    }
    assert!(!rows.is_empty(), "no table {title}");
    rows
}

#[test]
fn every_example_of_a_template_prints_what_the_page_says() {
    let data = data();
    for (text, wanted) in rows("template") {
        let template = Template::parse("t", &text).unwrap();
        let got = match template.render(&Data::from(&data), now()) {
            Ok(text) => text.replace('\n', "⏎"),
            Err(error) => format!("error: {}", error.message),
        };
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn every_function_has_an_example() {
    let examples: Vec<String> = rows("template").into_iter().map(|(text, _)| text).collect();
    let uses = |name: &str| {
        let mut words = examples
            .iter()
            .flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.'));
        words.any(|word| word == name)
    };
    // `now` stands before its methods, too.
    let missing: Vec<_> = function_names()
        .into_iter()
        .filter(|name| *name != "now" && !uses(name))
        .collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");
}

#[test]
fn every_example_of_a_path_finds_what_the_page_says() {
    let data = Value::Object(data());
    for (text, wanted) in rows("path") {
        let path = Path::parse(&text).unwrap();
        let found = path
            .get(&data)
            .map_or("nothing".to_owned(), |value| value.to_string());
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn every_example_of_a_rule_gives_what_the_page_says() {
    let data = data();
    let names = data.keys().map(|name| (name.clone(), Type::Dyn));
    let environment = Environment::standard().with_variables(names);
    for (text, wanted) in rows("rule") {
        let rule = Rule::compile_value(&text, &environment).unwrap();
        let value = rule
            .evaluate_json(&Bindings::new(now()).bind_all(&data))
            .unwrap();
        assert_eq!(value.to_string(), wanted, "{text}");
    }
}
