//! The two faces of an Event: `v1` and `events.k8s.io/v1` show the same stored object with different field names.
//! Stored is the core form.

use std::sync::Arc;

use serde_json::Value;

use crate::catalog::{Catalog, Resource};

const NAMES: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Whether this is the `events.k8s.io` face.
pub(crate) fn is_new_form(resource: &Resource) -> bool {
    resource.group == "events.k8s.io"
}

/// The stored object as this resource shows it; custom kinds get the version that was asked for.
pub(crate) fn outgoing(resource: &Resource, object: &Value) -> Value {
    let mut object = object.clone();
    if object["kind"] != resource.kind.as_str() {
        return object;
    }
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".into(), resource.api_version().into());
        if is_new_form(resource) {
            for (core, new) in NAMES {
                if let Some(value) = fields.remove(core) {
                    fields.insert(new.to_owned(), value);
                }
            }
        }
    }
    object
}

/// A body in either form as the core form, in which events are stored and checked.
pub(crate) fn incoming(resource: &Resource, mut object: Value) -> Value {
    if is_new_form(resource)
        && let Some(fields) = object.as_object_mut()
    {
        if fields
            .get("apiVersion")
            .is_some_and(|v| *v == resource.api_version())
        {
            fields.insert("apiVersion".into(), "v1".into());
        }
        for (core, new) in NAMES {
            if let Some(value) = fields.remove(new) {
                fields.insert(core.to_owned(), value);
            }
        }
    }
    object
}

/// The resource whose rules apply to what this one shows.
pub(crate) fn stored_as(catalog: &Catalog, resource: &Arc<Resource>) -> Arc<Resource> {
    let core = is_new_form(resource)
        .then(|| catalog.find("", "v1", "events"))
        .flatten();
    core.unwrap_or_else(|| Arc::clone(resource))
}
