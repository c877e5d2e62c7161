//! Where in a schema its subschemas are, and to what they apply.

use serde_json::{Map, Value};

/// What a subschema is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applies<'s> {
    /// The same value as the schema it is in.
    Here,
    /// One property.
    Property(&'s str),
    /// Properties that are not known by name, or their names.
    Properties,
    /// Items of a list.
    Items,
    /// Nothing, until something refers to it.
    Nothing,
}

/// Keywords that hold one schema.
const SINGLE: [(&str, Applies<'static>); 12] = [
    ("not", Applies::Here),
    ("if", Applies::Here),
    ("then", Applies::Here),
    ("else", Applies::Here),
    ("additionalProperties", Applies::Properties),
    ("unevaluatedProperties", Applies::Properties),
    ("propertyNames", Applies::Properties),
    ("items", Applies::Items),
    ("additionalItems", Applies::Items),
    ("unevaluatedItems", Applies::Items),
    ("contains", Applies::Items),
    ("contentSchema", Applies::Nothing),
];

/// Keywords that hold a list of schemas.
const LISTS: [(&str, Applies<'static>); 5] = [
    ("allOf", Applies::Here),
    ("anyOf", Applies::Here),
    ("oneOf", Applies::Here),
    ("prefixItems", Applies::Items),
    ("items", Applies::Items),
];

/// Keywords that hold schemas by name.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];

/// One subschema: its JSON pointer from the schema it is in, itself, and what it applies to.
pub(super) type Sub<'s> = (String, &'s Value, Applies<'s>);

pub(super) fn subschemas(schema: &Map<String, Value>) -> Vec<Sub<'_>> {
    let mut found = Vec::new();
    for (keyword, applies) in SINGLE {
        if let Some(sub @ (Value::Object(_) | Value::Bool(_))) = schema.get(keyword) {
            found.push((format!("/{keyword}"), sub, applies));
        }
    }
    for (keyword, applies) in LISTS {
        let subs = schema.get(keyword).and_then(Value::as_array);
        for (index, sub) in subs.into_iter().flatten().enumerate() {
            found.push((format!("/{keyword}/{index}"), sub, applies));
        }
    }
    for keyword in NAMED {
        let subs = schema.get(keyword).and_then(Value::as_object);
        for (name, sub) in subs.into_iter().flatten() {
            let applies = match keyword {
                "properties" => Applies::Property(name),
                "patternProperties" => Applies::Properties,
                "dependentSchemas" => Applies::Here,
                _ => Applies::Nothing,
            };
            let name = name.replace('~', "~0").replace('/', "~1");
            found.push((format!("/{keyword}/{name}"), sub, applies));
        }
    }
    found
}

/// Every schema in a schema, itself included, with its JSON pointer.
pub(super) fn all(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut ahead = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = ahead.pop() {
        if let Value::Object(object) = schema {
            let subs = subschemas(object).into_iter();
            ahead.extend(subs.map(|(below, sub, _)| (format!("{pointer}{below}"), sub)));
        }
        found.push((pointer, schema));
    }
    found
}
