//! Whatever is written, every node's span is the text it came from.

use hyperfleet_source::{Node, SourceFile, Value, yaml};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

/// JSON is YAML, so a JSON document is a flow-style YAML text with known content.
fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[ -~éü\n\t]{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::btree_map("[a-zé][a-z0-9_]{0,6}", inner, 0..4)
                .prop_map(|map| Json::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Block-style YAML: mappings and lists by indentation, strings in the style their text allows.
fn to_block(value: &Json, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Json::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                out.push_str(&format!("\n{pad}{key}:"));
                to_block(value, indent + 2, out);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("\n{pad}-"));
                to_block(item, indent + 2, out);
            }
        }
        Json::String(text) if is_literal(text) => {
            out.push_str(" |-\n");
            let lines: Vec<String> = text.lines().map(|line| format!("{pad}{line}")).collect();
            out.push_str(&lines.join("\n"));
        }
        other => out.push_str(&format!(" {other}")),
    }
}

fn is_literal(text: &str) -> bool {
    text.contains('\n')
        && text
            .lines()
            .all(|line| line.starts_with(|c: char| c.is_alphanumeric()))
        && !text.ends_with('\n')
        && !text.contains(['\t', '\u{7f}'])
}

fn check(node: &Node) {
    let file = &node.file;
    let text = file.text();
    assert!(node.span.end <= text.len() && node.span.start <= node.span.end);
    assert!(text.is_char_boundary(node.span.start) && text.is_char_boundary(node.span.end));
    match &node.value {
        Value::Sequence(items) => {
            for item in items {
                assert!(
                    node.span.contains(item.span),
                    "{item:?} outside of its list"
                );
                check(item);
            }
        }
        Value::Mapping(entries) => {
            for (key, value) in entries {
                assert!(node.span.contains(key.span) && node.span.contains(value.span));
                assert!(file.slice(key.span).trim_matches(['"', '\'']) == key.text);
                check(value);
            }
        }
        Value::String(content, hyperfleet_source::Style::Literal) => {
            let dedented: Vec<&str> = node.source_text().lines().map(str::trim_start).collect();
            assert_eq!(dedented.join("\n"), *content);
        }
        _ => {
            let alone = SourceFile::new("slice", node.source_text());
            assert_eq!(
                yaml::parse(&alone).as_ref().ok(),
                Some(node),
                "{:?}",
                node.source_text()
            );
        }
    }
}

proptest! {
    #[test]
    fn flow_style_keeps_values_and_places(value in any_json()) {
        let file = SourceFile::new("f", serde_json::to_string_pretty(&value).unwrap());
        let node = yaml::parse(&file).unwrap();
        prop_assert_eq!(node.to_json(), value);
        check(&node);
    }

    #[test]
    fn block_style_keeps_values_and_places(value in any_json()) {
        let mut text = String::new();
        to_block(&json!({ "root": value.clone() }), 0, &mut text);
        let file = SourceFile::new("f", text);
        let node = yaml::parse(&file).unwrap();
        prop_assert_eq!(&node.to_json()["root"], &value);
        check(&node);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "([a-c:\\-\\[\\]{}|>&*!'\"#, \t\n\r\\\\é0-9%@`?~<]|<<: |- |: ){0,60}") {
        let file = SourceFile::new("f", text);
        match yaml::parse_all(&file) {
            Ok(documents) => {
                for document in documents {
                    walk_positions(&document);
                }
            }
            Err(found) => {
                prop_assert!(!found.to_string().is_empty());
            }
        }
    }
}

fn walk_positions(node: &Node) {
    let text = node.file.text();
    assert!(text.get(node.span.start..node.span.end).is_some());
    match &node.value {
        Value::Sequence(items) => items.iter().for_each(walk_positions),
        Value::Mapping(entries) => entries.iter().for_each(|(_, value)| walk_positions(value)),
        Value::String(content, _) => {
            for offset in 0..=content.len() {
                let at = node.position_in(offset);
                assert!(node.span.start <= at && at <= node.span.end);
            }
        }
        _ => {}
    }
}
