//! JSON Schema 2020-12 in the words of OpenAPI 3.0. What 3.0 has no word for is left out: the document then allows more
//! than the server, never less.

use serde_json::{Map, Value, json};

/// Words that 3.0 does not have.
const UNKNOWN: [&str; 24] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "definitions",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The schema in 3.0; `reference` says where a local reference leads there, if anywhere.
pub(super) fn to_openapi_3_0(schema: &Value, reference: &dyn Fn(&str) -> Option<String>) -> Value {
    let Value::Object(schema) = schema else {
        return match schema {
            Value::Bool(false) => json!({"not": {}}),
            _ => json!({}),
        };
    };
    let below = |value: &Value| to_openapi_3_0(value, reference);
    let mut converted = Map::new();
    for (word, value) in schema {
        if UNKNOWN.contains(&word.as_str()) {
            continue;
        }
        let value = match (word.as_str(), value) {
            ("properties", Value::Object(named)) => named
                .iter()
                .map(|(name, schema)| (name.clone(), below(schema)))
                .collect(),
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().map(below).collect(),
            ("not", schema) => below(schema),
            ("items", Value::Array(_)) | ("prefixItems", _) => {
                converted.insert("items".to_owned(), json!({}));
                continue;
            }
            ("items", _) if schema.contains_key("prefixItems") => json!({}),
            ("items", schema) => below(schema),
            ("additionalProperties", Value::Object(_)) => below(value),
            ("additionalProperties" | "patternProperties", _)
                if schema.contains_key("patternProperties") =>
            {
                continue;
            }
            _ => value.clone(),
        };
        converted.insert(word.clone(), value);
    }
    types(&mut converted);
    constants(&mut converted);
    bounds(&mut converted);
    references(converted, reference)
}

/// One type each, and `nullable`.
fn types(schema: &mut Map<String, Value>) {
    let mut kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.clone(),
        Some(kind @ Value::String(_)) => vec![kind.clone()],
        _ => return,
    };
    let count = kinds.len();
    kinds.retain(|kind| kind != "null");
    if kinds.len() < count {
        schema.insert("nullable".to_owned(), Value::Bool(true));
    }
    match kinds.as_slice() {
        [] => {
            schema.remove("type");
            schema.insert("enum".to_owned(), json!([null]));
        }
        [kind] => {
            if kind == "array" {
                schema.entry("items").or_insert_with(|| json!({}));
            }
            schema.insert("type".to_owned(), kind.clone());
        }
        // Each of several types would need words of its own; saying none allows them all.
        _ => {
            schema.remove("type");
            schema.remove("nullable");
        }
    }
}

fn constants(schema: &mut Map<String, Value>) {
    if let Some(value) = schema.remove("const") {
        schema.insert("enum".to_owned(), json!([value]));
    }
    if let Some(Value::Array(examples)) = schema.remove("examples")
        && let Some(first) = examples.into_iter().next()
    {
        schema.entry("example").or_insert(first);
    }
}

/// Exclusive bounds are flags in 3.0. Where both bounds are given, the one that allows more stays out.
fn bounds(schema: &mut Map<String, Value>) {
    for (exclusive, inclusive, tighter) in [
        (
            "exclusiveMinimum",
            "minimum",
            f64::gt as fn(&f64, &f64) -> bool,
        ),
        ("exclusiveMaximum", "maximum", f64::lt),
    ] {
        let Some(limit) = schema.get(exclusive).and_then(Value::as_f64) else {
            continue;
        };
        let other = schema.get(inclusive).and_then(Value::as_f64);
        if other.is_some_and(|other| tighter(&other, &limit)) {
            schema.remove(exclusive);
        } else if let Some(limit) = schema.insert(exclusive.to_owned(), Value::Bool(true)) {
            schema.insert(inclusive.to_owned(), limit);
        }
    }
}

/// Nothing may stand beside a reference in 3.0.
fn references(mut schema: Map<String, Value>, place: &dyn Fn(&str) -> Option<String>) -> Value {
    let Some(Value::String(target)) = schema.remove("$ref") else {
        return Value::Object(schema);
    };
    let Some(target) = place(&target) else {
        return Value::Object(schema);
    };
    let reference = json!({ "$ref": target });
    if schema.is_empty() {
        return reference;
    }
    match schema.get_mut("allOf") {
        Some(Value::Array(all)) => all.push(reference),
        _ => {
            schema.insert("allOf".to_owned(), json!([reference]));
        }
    }
    Value::Object(schema)
}
