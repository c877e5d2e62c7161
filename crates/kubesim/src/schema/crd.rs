//! Custom kinds: the shape of an `openAPIV3Schema`, its defaults, and the checks it asks for.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::{Field, Identity, ListShape, Shape, StructShape};
use crate::failure::Cause;

/// The shape of a whole custom object: the definition's schema plus what every object has.
pub(crate) fn from_open_api(schema: &Value) -> Shape {
    let mut shape = match convert(schema) {
        Shape::Struct(shape) => *shape,
        _ => StructShape {
            rest: Some(Shape::Any { granular: true }),
            ..StructShape::default()
        },
    };
    for key in ["apiVersion", "kind"] {
        shape.fields.insert(
            key.into(),
            Field {
                shape: Shape::Text,
                retain_keys: false,
            },
        );
    }
    let meta = Field {
        shape: Shape::Named("meta.v1.ObjectMeta".into()),
        retain_keys: false,
    };
    shape.fields.insert("metadata".into(), meta);
    shape.atomic = false;
    Shape::Struct(Box::new(shape))
}

fn convert(schema: &Value) -> Shape {
    let keeps_unknown = schema["x-kubernetes-preserve-unknown-fields"] == true;
    if schema["x-kubernetes-int-or-string"] == true {
        return Shape::IntOrText;
    }
    match schema["type"].as_str() {
        Some("string") => Shape::Text,
        Some("integer") => Shape::Integer,
        Some("number") => Shape::Number,
        Some("boolean") => Shape::Boolean,
        Some("array") => Shape::List(Box::new(ListShape {
            identity: identity(schema),
            patch_key: None,
            item: convert(&schema["items"]),
        })),
        Some("object") => {
            let atomic = schema["x-kubernetes-map-type"] == "atomic";
            if schema["x-kubernetes-embedded-resource"] == true {
                return Shape::Any { granular: true };
            }
            if let (None, Some(item)) =
                (schema.get("properties"), schema.get("additionalProperties"))
                && *item != false
            {
                let item = if item.is_object() {
                    convert(item)
                } else {
                    Shape::Any { granular: true }
                };
                return Shape::Map {
                    atomic,
                    item: Box::new(item),
                };
            }
            let fields: BTreeMap<String, Field> = schema["properties"]
                .as_object()
                .map(|properties| {
                    properties
                        .iter()
                        .map(|(name, s)| {
                            (
                                name.clone(),
                                Field {
                                    shape: convert(s),
                                    retain_keys: false,
                                },
                            )
                        })
                        .collect()
                })
                .unwrap_or_default();
            if fields.is_empty() && keeps_unknown {
                return Shape::Any { granular: !atomic };
            }
            let rest = keeps_unknown.then_some(Shape::Any { granular: true });
            Shape::Struct(Box::new(StructShape {
                atomic,
                fields,
                rest,
            }))
        }
        _ => Shape::Any {
            granular: keeps_unknown,
        },
    }
}

fn identity(schema: &Value) -> Identity {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => Identity::Set,
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            Identity::Keys(
                keys.iter()
                    .filter_map(Value::as_str)
                    .map(|k| {
                        let default = schema
                            .pointer(&format!("/items/properties/{k}/default"))
                            .cloned();
                        (k.to_owned(), default)
                    })
                    .collect(),
            )
        }
        _ => Identity::Atomic,
    }
}

/// Fills in the schema's `default`s where a parent is present and the field is not.
pub(crate) fn fill_defaults(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if let Some(default) = property.get("default")
                    && map
                        .get(name)
                        .is_none_or(|v| v.is_null() && property["nullable"] != true)
                {
                    map.insert(name.clone(), default.clone());
                }
                if let Some(inner) = map.get_mut(name) {
                    fill_defaults(property, inner);
                }
            }
            if schema["additionalProperties"].is_object() {
                for inner in map.values_mut() {
                    fill_defaults(&schema["additionalProperties"], inner);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                fill_defaults(&schema["items"], item);
            }
        }
        _ => {}
    }
}

/// Checks `value` against the schema's types, bounds, enums, patterns and required fields.
pub(crate) fn validate(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        let names: Vec<String> = allowed
            .iter()
            .map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        causes.push(Cause::unsupported(path, value, &names));
    }
    if let Some(wanted) = schema["type"].as_str()
        && !has_type(wanted, value)
    {
        let found = type_name(value);
        causes.push(Cause {
            reason: "FieldValueTypeInvalid",
            field: path.to_owned(),
            message: format!(
                "Invalid value: {:?}: {path} in body must be of type {wanted}: {found:?}",
                found
            ),
        });
        return;
    }
    match value {
        Value::Object(map) => {
            for name in schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
            {
                if !map.contains_key(name) {
                    causes.push(Cause::required(join(path, name), ""));
                }
            }
            for (name, inner) in map {
                if let Some(property) = schema["properties"].get(name) {
                    validate(property, inner, &join(path, name), causes);
                } else if schema["additionalProperties"].is_object() {
                    validate(
                        &schema["additionalProperties"],
                        inner,
                        &join(path, name),
                        causes,
                    );
                }
            }
        }
        Value::Array(items) => {
            bound(
                schema,
                "minItems",
                path,
                causes,
                |min| (items.len() as f64) >= min,
                value,
                "should have at least",
                "items",
            );
            bound(
                schema,
                "maxItems",
                path,
                causes,
                |max| (items.len() as f64) <= max,
                value,
                "should have at most",
                "items",
            );
            for (index, item) in items.iter().enumerate() {
                validate(&schema["items"], item, &format!("{path}[{index}]"), causes);
            }
        }
        Value::String(text) => {
            let length = text.chars().count() as f64;
            bound(
                schema,
                "minLength",
                path,
                causes,
                |min| length >= min,
                value,
                "should be at least",
                "chars long",
            );
            bound(
                schema,
                "maxLength",
                path,
                causes,
                |max| length <= max,
                value,
                "should be at most",
                "chars long",
            );
            if let Some(pattern) = schema["pattern"].as_str()
                && Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text))
            {
                causes.push(Cause::invalid(
                    path,
                    value,
                    &format!("{path} in body should match '{pattern}'"),
                ));
            }
        }
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            bound(
                schema,
                "minimum",
                path,
                causes,
                |min| number >= min,
                value,
                "should be greater than or equal to",
                "",
            );
            bound(
                schema,
                "maximum",
                path,
                causes,
                |max| number <= max,
                value,
                "should be less than or equal to",
                "",
            );
        }
        _ => {}
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one line per bound at the call site reads better than a struct"
)]
fn bound(
    schema: &Value,
    keyword: &str,
    path: &str,
    causes: &mut Vec<Cause>,
    holds: impl Fn(f64) -> bool,
    value: &Value,
    words: &str,
    unit: &str,
) {
    if let Some(limit) = schema[keyword].as_f64()
        && !holds(limit)
    {
        let detail = format!("{path} in body {words} {limit} {unit}");
        causes.push(Cause::invalid(path, value, detail.trim_end()));
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn has_type(wanted: &str, value: &Value) -> bool {
    match wanted {
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0)
        }
        "number" => value.is_number(),
        other => type_name(value) == other,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
