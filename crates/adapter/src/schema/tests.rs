use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hyperfleet_source::{SourceFile, yaml};

use super::*;
use crate::config::parse_task;

/// Every key of every mapping, at least once.
const COMPLETE: &str = include_str!("tests/complete.yaml");

/// A key that resembles no other.
const UNKNOWN: &str = "qqqqqqqqqqqq";

fn json_of(text: &str) -> Json {
    yaml::parse(&SourceFile::new("t.yaml", text))
        .unwrap()
        .to_json()
}

fn refusals(document: &Json) -> Vec<String> {
    let schema = task();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = validator.iter_errors(document);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// What the reader has against a document.
fn mistakes(document: &Json) -> Vec<hyperfleet_source::Diagnostic> {
    // JSON is YAML.
    let file = SourceFile::new("t.yaml", document.to_string());
    match parse_task(
        &file,
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/schema/tests/t.yaml")
            .as_path(),
    ) {
        Ok(_) => Vec::new(),
        Err(found) => found.into_vec(),
    }
}

/// Pointers to all mappings of a document that the schema closes: those in which an unknown key is a mistake.
fn closed_mappings(document: &Json) -> Vec<String> {
    let mut found = Vec::new();
    visit(document, &mut String::new(), &mut found);
    found.retain(|pointer| {
        let mut changed = document.clone();
        changed.pointer_mut(pointer).unwrap()[UNKNOWN] = json!("x");
        !refusals(&changed).is_empty()
    });
    found
}

fn visit(node: &Json, pointer: &mut String, found: &mut Vec<String>) {
    let inner: Vec<(String, &Json)> = match node {
        Json::Object(fields) => {
            found.push(pointer.clone());
            fields
                .iter()
                .map(|(key, value)| (key.replace('/', "~1"), value))
                .collect()
        }
        Json::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(index, item)| (index.to_string(), item))
                .collect()
        }
        _ => return,
    };
    for (key, value) in inner {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key);
        visit(value, pointer, found);
        pointer.truncate(length);
    }
}

#[test]
fn the_complete_file_is_right_to_the_reader_and_to_the_schema() {
    let document = json_of(COMPLETE);
    let told: Vec<String> = mistakes(&document)
        .iter()
        .map(|one| one.message.clone())
        .collect();
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(refusals(&document), Vec::<String>::new());
}

/// The reader says which keys it knows when it meets one it does not. In every mapping of the complete file, these are
/// the keys of the schema: no more, no fewer.
#[test]
fn the_reader_knows_the_keys_that_the_schema_has() {
    let document = json_of(COMPLETE);
    let mut compared = 0;
    for pointer in closed_mappings(&document) {
        let mut changed = document.clone();
        changed.pointer_mut(&pointer).unwrap()[UNKNOWN] = json!("x");
        let mistakes = mistakes(&changed);
        let unknown = mistakes.iter().find(|one| one.message.contains(UNKNOWN));
        let unknown = unknown.unwrap_or_else(|| panic!("the reader takes any key at {pointer:?}"));
        let help = unknown.help.clone().unwrap();
        let names = help.split('`').skip(1).step_by(2).map(str::to_owned);
        let read: BTreeSet<String> = names.collect();
        let said = keys_at(&document, &pointer);
        assert_eq!(read, said, "at {pointer:?}");
        compared += 1;
    }
    assert!(compared > 40, "only {compared} mappings were compared");
}

/// The keys that the schema knows at a place, in snake_case: those that do not make it refuse the mapping as unknown.
fn keys_at(document: &Json, pointer: &str) -> BTreeSet<String> {
    let candidates: BTreeSet<String> = all_keys().into_keys().collect();
    let schema = task();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut changed = document.clone();
    let place = changed
        .pointer_mut(pointer)
        .unwrap()
        .as_object_mut()
        .unwrap();
    place.clear();
    for candidate in &candidates {
        place.insert(candidate.clone(), Json::Null);
    }
    let mut unknown = BTreeSet::new();
    for error in validator.iter_errors(&changed) {
        collect_unknown(&error, pointer, &mut unknown);
    }
    &candidates - &unknown
}

fn collect_unknown(
    error: &jsonschema::ValidationError<'_>,
    pointer: &str,
    unknown: &mut BTreeSet<String>,
) {
    use jsonschema::error::ValidationErrorKind;
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
            if error.instance_path().as_str() == pointer =>
        {
            unknown.extend(unexpected.iter().cloned());
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            for error in context.iter().flatten() {
                collect_unknown(error, pointer, unknown);
            }
        }
        _ => {}
    }
}

/// Every key of the types, and how often it occurs.
fn all_keys() -> BTreeMap<String, usize> {
    fn collect(schema: &Json, keys: &mut BTreeMap<String, usize>) {
        match schema {
            Json::Object(fields) => {
                if let Some(Json::Object(properties)) = fields.get("properties") {
                    for key in properties.keys() {
                        *keys.entry(key.clone()).or_default() += 1;
                    }
                }
                fields.values().for_each(|field| collect(field, keys));
            }
            Json::Array(items) => items.iter().for_each(|item| collect(item, keys)),
            _ => {}
        }
    }
    let mut keys = BTreeMap::new();
    collect(&schema_for!(written::Task).to_value(), &mut keys);
    keys
}

#[test]
fn older_spellings_and_the_wrapper_are_right_too() {
    for text in [
        "params:\n- name: a\n  source: {apiCall: {url: x, retryAttempts: 2}}\n",
        "resources:\n- alias: a\n  manifest: {apiVersion: v1, kind: ConfigMap}\n  discovery: {bySelectors: {labelSelector: {a: b}}}\n",
        "apiVersion: hyperfleet.redhat.com/v1alpha1\nkind: AdapterConfig\nmetadata: {name: a}\nspec: {params: [], hyperfleetApi: {timeout: 2s}}\n",
    ] {
        assert_eq!(refusals(&json_of(text)), Vec::<String>::new(), "{text}");
    }
    let wrong = json_of("params:\n- name: a\n  sorce: event.id\n");
    assert!(!refusals(&wrong).is_empty());
    let wrong = json_of("apiVersion: a\nspec: {parms: []}\n");
    assert!(!refusals(&wrong).is_empty());
}

#[test]
fn the_shipped_adapters_are_right() {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters");
    let mut seen = 0;
    for directory in std::fs::read_dir(adapters).unwrap() {
        let directory = directory.unwrap().path();
        let files = [
            ("adapter-task-config.yaml", task()),
            ("adapter-config.yaml", deployment()),
        ];
        for (name, schema) in files {
            let Ok(text) = std::fs::read_to_string(directory.join(name)) else {
                continue;
            };
            let validator = jsonschema::validator_for(&schema).unwrap();
            let document = json_of(&text);
            let errors: Vec<String> = validator
                .iter_errors(&document)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert_eq!(
                errors,
                Vec::<String>::new(),
                "{}/{name}",
                directory.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 2, "only {seen} files");
}

/// They are in the tree so that editors can be pointed at them, and so that a change shows in a change's diff.
#[test]
fn the_files_in_the_tree_are_what_the_types_say() {
    let pretty = |schema: &Json| serde_json::to_string_pretty(schema).unwrap() + "\n";
    for (name, made) in [
        ("schemas/adapter-task.schema.json", pretty(&task())),
        ("schemas/adapter-config.schema.json", pretty(&deployment())),
        ("adapter-reference.md", reference()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(name);
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == made,
            "docs/{name} is not what the types say; `INSTA_UPDATE=always cargo test -p hyperfleet-adapter schema` rewrites it"
        );
    }
}
