//! The schemas of OpenAPI 3.0, which look like JSON Schema and differ in a few words.

use serde_json::{Map, Value, json};

use super::subschema::subschemas;

/// Where an OpenAPI document keeps its schemas, and where JSON Schema does.
pub(super) const COMPONENTS: &str = "#/components/schemas/";
pub(super) const DEFINITIONS: &str = "#/$defs/";

/// The same schema as JSON Schema 2020-12.
///
/// - `nullable: true` beside a `type` adds the type `null`; without one it changes nothing.
/// - `exclusiveMinimum: true` makes the `minimum` exclusive, likewise for the maximum.
/// - Words beside a `$ref` are ignored.
/// - The formats `int32` and `int64` bound their numbers.
pub(crate) fn from_openapi_3_0(schema: &Value) -> Value {
    let Value::Object(schema) = schema else {
        return schema.clone();
    };
    if let Some(reference) = schema.get("$ref") {
        return json!({ "$ref": reference });
    }
    let mut converted = schema.clone();
    for (pointer, sub, _) in subschemas(schema) {
        put(&mut converted, &pointer, from_openapi_3_0(sub));
    }
    for (flag, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(Value::Bool(exclusive)) = converted.get(flag) {
            let limit = exclusive.then(|| converted.remove(bound)).flatten();
            converted.remove(flag);
            converted.extend(limit.map(|limit| (flag.to_owned(), limit)));
        }
    }
    if let (Some(Value::Bool(true)), Some(Value::String(kind))) =
        (converted.remove("nullable"), converted.get("type"))
    {
        let either = json!([kind, "null"]);
        converted.insert("type".to_owned(), either);
    }
    let bounds = match converted.get("format").and_then(Value::as_str) {
        Some("int32") => Some(json!({"minimum": i32::MIN, "maximum": i32::MAX})),
        Some("int64") => Some(json!({"minimum": i64::MIN, "maximum": i64::MAX})),
        _ => None,
    };
    if let Some(bounds) = bounds {
        let all = converted.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.push(bounds);
        }
    }
    Value::Object(converted)
}

fn put(schema: &mut Map<String, Value>, pointer: &str, sub: Value) {
    let mut steps = pointer.splitn(3, '/').skip(1);
    let keyword = steps.next().unwrap_or_default();
    let place = schema
        .get_mut(keyword)
        .and_then(|value| match steps.next() {
            None => Some(value),
            Some(rest) => value.pointer_mut(&format!("/{rest}")),
        });
    if let Some(place) = place {
        *place = sub;
    }
}

/// References into `components` as references into `$defs`.
pub(super) fn localise(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(localise),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(target) if key == "$ref" => {
                        if let Some(name) = target.strip_prefix(COMPONENTS) {
                            *target = format!("{DEFINITIONS}{name}");
                        }
                    }
                    other => localise(other),
                }
            }
        }
        _ => {}
    }
}
