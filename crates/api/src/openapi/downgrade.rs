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

/// Of these, those whose loss changes nothing.
const HARMLESS: [&str; 8] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "$vocabulary",
    "definitions",
];

/// The schema in 3.0; `reference` says where a local reference leads there, if anywhere.
pub(super) fn to_openapi_3_0(schema: &Value, reference: &dyn Fn(&str) -> Option<String>) -> Value {
    Downgrade {
        reference,
        exact: true,
    }
    .schema(schema)
}

struct Downgrade<'a> {
    reference: &'a dyn Fn(&str) -> Option<String>,
    /// Whether nothing had to be left out so far.
    exact: bool,
}

impl Downgrade<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(schema) = schema else {
            return match schema {
                Value::Bool(false) => json!({"not": {}}),
                _ => json!({}),
            };
        };
        let mut converted = Map::new();
        for (word, value) in schema {
            if UNKNOWN.contains(&word.as_str()) {
                self.exact &= HARMLESS.contains(&word.as_str());
                continue;
            }
            if let Some((word, value)) = self.word(schema, word, value) {
                converted.insert(word.to_owned(), value);
            }
        }
        self.types(&mut converted);
        self.constants(&mut converted);
        bounds(&mut converted);
        self.references(converted)
    }

    fn word<'s>(
        &mut self,
        schema: &Map<String, Value>,
        word: &'s str,
        value: &Value,
    ) -> Option<(&'s str, Value)> {
        let value = match (word, value) {
            ("properties", Value::Object(named)) => named
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema)))
                .collect(),
            ("allOf" | "anyOf", Value::Array(list)) => self.list(list),
            ("oneOf", Value::Array(list)) => {
                let (forms, exact) = self.apart(|inner| inner.list(list));
                // Forms that allow more than they should may both fit what only one should.
                return match exact {
                    true => Some(("oneOf", forms)),
                    false => (!schema.contains_key("anyOf")).then_some(("anyOf", forms)),
                };
            }
            ("not", schema) => {
                let (barred, exact) = self.apart(|inner| inner.schema(schema));
                // What allows more forbids more when it is turned round.
                return exact.then_some(("not", barred));
            }
            ("items", Value::Array(_)) | ("prefixItems", _) => {
                self.exact = false;
                return Some(("items", json!({})));
            }
            ("items", _) if schema.contains_key("prefixItems") => return None,
            ("items", schema) => self.schema(schema),
            ("additionalProperties" | "patternProperties", _)
                if schema.contains_key("patternProperties") =>
            {
                self.exact = false;
                return None;
            }
            ("additionalProperties", Value::Object(_)) => self.schema(value),
            _ => value.clone(),
        };
        Some((word, value))
    }

    fn list(&mut self, schemas: &[Value]) -> Value {
        schemas.iter().map(|schema| self.schema(schema)).collect()
    }

    /// Converts something, and tells whether that was exact.
    fn apart(&mut self, convert: impl FnOnce(&mut Self) -> Value) -> (Value, bool) {
        let before = std::mem::replace(&mut self.exact, true);
        let converted = convert(self);
        let exact = self.exact;
        self.exact &= before;
        (converted, exact)
    }

    /// One type each, and `nullable`.
    fn types(&mut self, schema: &mut Map<String, Value>) {
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
                self.exact &= !schema.contains_key("enum") && !schema.contains_key("const");
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
                self.exact = false;
                schema.remove("type");
                schema.remove("nullable");
            }
        }
    }

    fn constants(&mut self, schema: &mut Map<String, Value>) {
        if let Some(value) = schema.remove("const") {
            self.exact &= !schema.contains_key("enum");
            schema.insert("enum".to_owned(), json!([value]));
        }
        if let Some(Value::Array(examples)) = schema.remove("examples")
            && let Some(first) = examples.into_iter().next()
        {
            schema.entry("example").or_insert(first);
        }
    }

    /// Nothing may stand beside a reference in 3.0.
    fn references(&mut self, mut schema: Map<String, Value>) -> Value {
        let Some(Value::String(target)) = schema.remove("$ref") else {
            return Value::Object(schema);
        };
        // What is referred to may be inexact, and whether it is cannot be told while it refers back.
        self.exact = false;
        let Some(target) = (self.reference)(&target) else {
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

#[cfg(test)]
mod tests;
