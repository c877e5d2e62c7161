//! Reading and writing the parts of `metadata` that rules depend on, on plain JSON objects.

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Map, Value, json};

pub(crate) const FOREGROUND: &str = "foregroundDeletion";
pub(crate) const ORPHAN: &str = "orphan";

pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

pub(crate) fn uid(object: &Value) -> &str {
    text(object, "/metadata/uid")
}

pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "/metadata/deletionTimestamp").is_empty()
}

pub(crate) fn generation(object: &Value) -> i64 {
    object
        .pointer("/metadata/generation")
        .and_then(Value::as_i64)
        .unwrap_or(0)
}

pub(crate) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object
        .get("metadata")?
        .get("annotations")?
        .get(key)?
        .as_str()
}

pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    list(object, "/metadata/finalizers")
        .iter()
        .filter_map(Value::as_str)
        .collect()
}

pub(crate) fn has_finalizer(object: &Value, finalizer: &str) -> bool {
    finalizers(object).contains(&finalizer)
}

pub(crate) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

pub(crate) fn owners(object: &Value) -> &[Value] {
    list(object, "/metadata/ownerReferences")
}

/// The owner that manages the object, if it has one.
pub(crate) fn controller(object: &Value) -> Option<&Value> {
    owners(object)
        .iter()
        .find(|owner| owner["controller"] == true)
}

/// `metadata` as a map, created when the object has none or something else in its place.
pub(crate) fn metadata_mut(object: &mut Value) -> &mut Map<String, Value> {
    object_at(object, "metadata")
}

/// The map under `key`, created when absent.
pub(crate) fn object_at<'a>(value: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    let slot = &mut value[key];
    if !slot.is_object() {
        *slot = json!({});
    }
    match slot {
        Value::Object(map) => map,
        _ => unreachable!("made an object just above"),
    }
}

/// Sets a value unless one is there: defaults never override what the user wrote.
pub(crate) fn fill(map: &mut Value, key: &str, value: impl Into<Value>) {
    if let Value::Object(map) = map
        && map.get(key).is_none_or(Value::is_null)
    {
        map.insert(key.to_owned(), value.into());
    }
}

pub(crate) fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    let meta = metadata_mut(object);
    if finalizers.is_empty() {
        meta.remove("finalizers");
    } else {
        meta.insert("finalizers".into(), finalizers.into());
    }
}

/// The wire form of `metav1.Time`: whole seconds, UTC, `Z`.
pub(crate) fn time(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

pub(crate) fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text)
        .ok()
        .map(|t| t.with_timezone(&Utc))
}
