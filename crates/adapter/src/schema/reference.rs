//! The reference of both files, as a page.

use std::collections::VecDeque;

use hyperfleet_source::schema::{Kind, leaves};
use schemars::schema_for;
use serde_json::{Map, Value as Json};

use super::written;
use hyperfleet_transport::MAESTRO_VARIABLES;

use crate::config::{Deployment, FLAGS, LOG_VARIABLES, VARIABLES};

const HEAD: &str = "\
# Adapter configuration: reference

Every key of the two files, made from the types that describe them; a test keeps this page and the editors' schemas \
([task](schemas/adapter-task.schema.json), [deployment](schemas/adapter-config.schema.json)) as the program has them. \
What the keys are for, with examples: [adapters.md](adapters.md) and [lifecycle.md](lifecycle.md).

Keys are snake_case; the task file may also be written in camelCase. Durations are Go's: `500ms`, `10s`, `1h30m`. A \
_template_ is Go's `text/template` ([templates.md](templates.md)), an _expression_ is CEL \
([expressions.md](expressions.md)).

## Task file
";

const DEPLOYMENT: &str = "\
## Deployment file

Precedence: flag, environment, file, default. Keys without a name of their own in the environment are set by \
`HYPERFLEET_` and the key in capitals, with `_` for the dot.

| key | default | environment | flag | |
|---|---|---|---|---|
";

/// Sections of older files: read, and never needed.
const OLDER: [&str; 4] = ["apiVersion", "kind", "metadata", "spec"];

/// The page.
pub fn markdown() -> String {
    let mut page = HEAD.to_owned();
    let task = schema_for!(written::Task).to_value();
    for (name, schema) in in_reading_order(&task) {
        page.push_str(&section(&task, &name, schema));
    }
    page.push('\n');
    page.push_str(DEPLOYMENT);
    page.push_str(&deployment());
    page
}

/// Mappings, each after the first that mentions it.
fn in_reading_order(root: &Json) -> Vec<(String, &Json)> {
    let mut order: Vec<(String, &Json)> = Vec::new();
    let mut waiting = VecDeque::from([("Task".to_owned(), root)]);
    while let Some((name, schema)) = waiting.pop_front() {
        if order.iter().any(|(known, _)| *known == name) {
            continue;
        }
        for property in properties(schema).into_iter().flat_map(Map::values) {
            for mentioned in mentions(root, property) {
                waiting.push_back(mentioned);
            }
        }
        order.push((name, schema));
    }
    order
}

fn properties(schema: &Json) -> Option<&Map<String, Json>> {
    schema.get("properties")?.as_object()
}

/// The mappings that a value may be or hold, through lists and choices.
fn mentions<'s>(root: &'s Json, schema: &'s Json) -> Vec<(String, &'s Json)> {
    if let Some((name, target)) = target(root, schema) {
        return match properties(target) {
            Some(_) => vec![(name.to_owned(), target)],
            None => mentions(root, target),
        };
    }
    let choices = ["anyOf", "oneOf"]
        .into_iter()
        .filter_map(|word| schema.get(word));
    let choices = choices.filter_map(Json::as_array).flatten();
    choices
        .chain(schema.get("items"))
        .flat_map(|inner| mentions(root, inner))
        .collect()
}

fn target<'s>(root: &'s Json, schema: &'s Json) -> Option<(&'s str, &'s Json)> {
    let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    Some((pointer.rsplit('/').next()?, root.pointer(pointer)?))
}

fn section(root: &Json, name: &str, schema: &Json) -> String {
    let mut text = format!("\n### {name}\n\n{}\n\n", description(schema));
    text.push_str("| key | | |\n|---|---|---|\n");
    let required = schema.get("required").and_then(Json::as_array);
    let is_required = |key: &str| required.is_some_and(|all| all.iter().any(|one| one == key));
    for (key, property) in properties(schema).into_iter().flatten() {
        let mut about = description(property);
        if is_required(key) {
            about = format!("Required. {about}");
        }
        let row = format!(
            "| `{key}` | {} | {} |\n",
            what(root, property),
            about.trim()
        );
        text.push_str(&row);
    }
    text
}

/// What a value is, in a few words.
fn what(root: &Json, schema: &Json) -> String {
    if let Some((name, target)) = target(root, schema) {
        return match properties(target) {
            Some(_) => format!("[{name}](#{})", name.to_lowercase()),
            None => what(root, target),
        };
    }
    if let Some(Json::Array(words)) = schema.get("enum") {
        let words = words.iter().filter_map(Json::as_str);
        return words
            .map(|word| format!("`{word}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    if let Some(Json::String(word)) = schema.get("const") {
        return format!("`{word}`");
    }
    let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    if let Some(Json::Array(choices)) = choices
        && properties(schema).is_none()
    {
        let choices = choices
            .iter()
            .filter(|one| one.get("type") != Some(&"null".into()));
        let words: Vec<String> = choices.map(|one| what(root, one)).collect();
        let short = words.iter().all(|word| word.starts_with('`'));
        return words.join(if short { ", " } else { " or " });
    }
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => return "anything".to_owned(),
    };
    match kinds.iter().copied().find(|kind| *kind != "null") {
        Some("array") => match schema.get("items") {
            Some(item) => format!("list of {}", what(root, item)),
            None => "list".to_owned(),
        },
        Some("object") => "mapping".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("number") => "number".to_owned(),
        _ if schema.get("format") == Some(&"duration".into()) => "duration".to_owned(),
        _ => "text".to_owned(),
    }
}

fn description(schema: &Json) -> String {
    let text = schema.get("description").and_then(Json::as_str);
    text.unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
}

fn deployment() -> String {
    let schema = schema_for!(Deployment);
    let defaults = serde_json::to_value(Deployment::default()).unwrap_or_default();
    let mut rows = String::new();
    for leaf in leaves(&schema) {
        if leaf
            .path
            .first()
            .is_some_and(|first| OLDER.contains(&first.as_str()))
        {
            continue;
        }
        let key = leaf.dotted();
        let named = |names: &mut dyn Iterator<Item = &(&str, &str)>| {
            let names = names.filter(|(_, path)| *path == key);
            names
                .map(|(name, _)| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let known = VARIABLES.iter().chain(&MAESTRO_VARIABLES);
        let mut variables = named(&mut known.chain(&LOG_VARIABLES));
        if variables.is_empty() && leaf.kind != Kind::Structured {
            let derived = key.replace('.', "_").to_uppercase();
            variables = format!("`HYPERFLEET_{derived}`");
        }
        let default = match defaults.pointer(&format!("/{}", leaf.path.join("/"))) {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(text)) if text.is_empty() => String::new(),
            Some(Json::Object(map)) if map.is_empty() => String::new(),
            Some(Json::String(text)) => format!("`{text}`"),
            Some(other) => format!("`{other}`"),
        };
        let about = leaf.description.unwrap_or_default().replace('\n', " ");
        let flags = named(&mut FLAGS.iter());
        rows.push_str(&format!(
            "| `{key}` | {default} | {variables} | {flags} | {about} |\n"
        ));
    }
    rows
}
