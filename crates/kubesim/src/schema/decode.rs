//! Reading a request body as a kind: unknown fields are dropped and named, wrong types refused.

use serde_json::{Map, Value};

use super::Shape;

/// Paths of the fields that were in the body but not in the schema, in order.
pub(crate) type Unknown = Vec<String>;

/// A value whose JSON type is not its field's.
pub(crate) struct WrongType {
    pub path: String,
    pub found: &'static str,
    pub wanted: &'static str,
}

/// Drops what the schema does not know, and nulls, which the wire format treats as absent.
pub(crate) fn decode(shape: &Shape, value: &mut Value) -> Result<Unknown, WrongType> {
    let mut unknown = Vec::new();
    walk(shape, value, "", &mut unknown)?;
    Ok(unknown)
}

fn walk(
    shape: &Shape,
    value: &mut Value,
    path: &str,
    unknown: &mut Unknown,
) -> Result<(), WrongType> {
    if value.is_null() {
        return Ok(());
    }
    let wrong = |value: &Value, wanted| {
        Err(WrongType {
            path: path.to_owned(),
            found: json_type(value),
            wanted,
        })
    };
    match shape.resolve() {
        Shape::Text if !value.is_string() => wrong(value, "string"),
        Shape::Boolean if !value.is_boolean() => wrong(value, "bool"),
        Shape::Integer if !is_integer(value) => wrong(value, "int64"),
        Shape::Number if !value.is_number() => wrong(value, "float64"),
        Shape::IntOrText if !(value.is_string() || value.is_number()) => wrong(value, "string"),
        Shape::List(list) => match value {
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    walk(&list.item, item, &format!("{path}[{index}]"), unknown)?;
                }
                Ok(())
            }
            other => wrong(other, "[]"),
        },
        Shape::Map { item, .. } => match value {
            Value::Object(map) => {
                for entry in map.values_mut() {
                    walk(item, entry, path, unknown)?;
                }
                Ok(())
            }
            other => wrong(other, "map"),
        },
        Shape::Struct(fields) => match value {
            Value::Object(map) => {
                if fields.fields.is_empty() && fields.rest.is_none() {
                    return Ok(());
                }
                walk_fields(shape, map, path, unknown)
            }
            other => wrong(other, "struct"),
        },
        _ => Ok(()),
    }
}

fn walk_fields(
    shape: &Shape,
    map: &mut Map<String, Value>,
    path: &str,
    unknown: &mut Unknown,
) -> Result<(), WrongType> {
    let Shape::Struct(fields) = shape.resolve() else {
        return Ok(());
    };
    let mut dropped = Vec::new();
    for (key, entry) in map.iter_mut() {
        let here = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match (fields.fields.get(key), &fields.rest) {
            (Some(field), _) => {
                walk(&field.shape, entry, &here, unknown)?;
                if entry.is_null() {
                    dropped.push(key.clone());
                }
            }
            (None, Some(rest)) => walk(rest, entry, &here, unknown)?,
            (None, None) => {
                unknown.push(here);
                dropped.push(key.clone());
            }
        }
    }
    for key in dropped {
        map.remove(&key);
    }
    Ok(())
}

/// Drops empty maps and lists of a built-in kind, which its wire format leaves out; empty structs stay.
pub(crate) fn drop_empty(shape: &Shape, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, entry) in map.iter_mut() {
                drop_empty(shape.below(key).0, entry);
            }
            if matches!(shape.resolve(), Shape::Struct(_)) {
                map.retain(|key, entry| match shape.below(key).0.resolve() {
                    Shape::Map { .. } => entry.as_object().is_none_or(|m| !m.is_empty()),
                    Shape::List(_) => entry.as_array().is_none_or(|l| !l.is_empty()),
                    _ => true,
                });
            }
        }
        Value::Array(items) => {
            if let Some(list) = shape.list() {
                for item in items {
                    drop_empty(&list.item, item);
                }
            }
        }
        _ => {}
    }
}

/// Go decodes `1.0` into an integer field as well.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0)
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
