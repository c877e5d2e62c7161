//! A ManifestWork and the resource bundle that Maestro keeps of it.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::ObjectKind;

/// The only kind Maestro keeps.
pub(super) const API_VERSION: &str = "work.open-cluster-management.io/v1";
/// The only kind Maestro keeps.
pub(super) const KIND: &str = "ManifestWork";
/// Its group and plural, as they are part of every id.
const GROUP_RESOURCE: &str = "manifestworks.work.open-cluster-management.io";

/// The one kind of object that Maestro keeps.
pub fn kind() -> ObjectKind {
    ObjectKind::new(API_VERSION, KIND)
}

/// Under which id Maestro keeps a work. It is computed, not given out: whoever knows source, consumer and name knows it.
pub(super) fn id(source: &str, consumer: &str, name: &str) -> String {
    let text = format!("{source}-{GROUP_RESOURCE}-{consumer}-{name}");
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).to_string()
}

/// The work a bundle is of, with the members every object has. `None` if it names none.
pub(super) fn work(mut bundle: Value) -> Option<Value> {
    let consumer = bundle["consumer_name"].as_str()?.to_owned();
    let version = bundle["version"].as_i64()?;
    let id = bundle["id"].as_str()?.to_owned();
    let mut metadata = match bundle["metadata"].take() {
        Value::Object(metadata) => metadata,
        _ => Map::new(),
    };
    // Bundles made by other means than a work have no metadata, and are known by their name or id only.
    if metadata.get("name").and_then(Value::as_str).is_none() {
        let name = bundle["name"].as_str().filter(|name| !name.is_empty());
        metadata.insert("name".to_owned(), json!(name.unwrap_or(&id)));
    }
    metadata.insert("namespace".to_owned(), json!(consumer));
    metadata.insert("uid".to_owned(), json!(id));
    metadata.insert("resourceVersion".to_owned(), json!(version.to_string()));
    metadata.insert("generation".to_owned(), json!(version));
    for (ours, theirs) in [
        ("creationTimestamp", "created_at"),
        ("deletionTimestamp", "deleted_at"),
    ] {
        match bundle[theirs].take() {
            Value::String(time) => drop(metadata.insert(ours.to_owned(), Value::String(time))),
            _ if metadata.get(ours).is_some_and(Value::is_null) => drop(metadata.remove(ours)),
            _ => {}
        }
    }
    let mut work = json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": metadata,
        "spec": {"workload": {"manifests": or_empty(bundle["manifests"].take())}},
    });
    for (ours, theirs) in [
        ("deleteOption", "delete_option"),
        ("manifestConfigs", "manifest_configs"),
    ] {
        let value = bundle[theirs].take();
        if !is_empty(&value) {
            work["spec"][ours] = value;
        }
    }
    if let Some(status) = status(bundle["status"].take()) {
        work["status"] = status;
    }
    Some(work)
}

/// As a ManifestWork has it. The version the status is about becomes `observedGeneration`: a status outlives the change
/// that makes it out of date.
fn status(mut status: Value) -> Option<Value> {
    status.as_object()?;
    let mut shown = json!({});
    let conditions = status["conditions"].take();
    if !conditions.is_null() {
        shown["conditions"] = conditions;
    }
    let manifests = status["resourceStatus"].take();
    if !manifests.is_null() {
        shown["resourceStatus"] = json!({ "manifests": manifests });
    }
    if let Some(version) = status["ObservedVersion"].as_i64() {
        shown["observedGeneration"] = json!(version);
    }
    Some(shown)
}

/// What an event carries of a work.
pub(super) fn payload(work: &Value) -> Value {
    let spec = &work["spec"];
    let mut payload = json!({"manifests": or_empty(spec["workload"]["manifests"].clone())});
    for (theirs, ours) in [
        ("deleteOption", "deleteOption"),
        ("manifestConfigs", "manifestConfigs"),
        // Spelt so by Maestro.
        ("executer", "executor"),
    ] {
        if !spec[ours].is_null() {
            payload[theirs] = spec[ours].clone();
        }
    }
    payload
}

/// The work as a look would find it once it is published: without what Maestro takes and does not show.
pub(super) fn shown(mut work: Value) -> Value {
    if let Some(Value::Object(spec)) = work.get_mut("spec") {
        spec.remove("executor");
        spec.retain(|key, value| key == "workload" || !is_empty(value));
    }
    work
}

fn or_empty(list: Value) -> Value {
    match list {
        Value::Null => json!([]),
        list => list,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_same_for_everybody_who_computes_it() {
        // uuid5(OID, "mw-manifestworks.work.open-cluster-management.io-cluster1-work1")
        let of = id("mw", "cluster1", "work1");
        assert_eq!(of, "ed48913a-d3e2-5a28-894c-97e605578cb6");
        assert_ne!(of, id("mw", "cluster2", "work1"));
    }

    #[test]
    fn a_bundle_becomes_the_work_it_was_made_of() {
        let work = work(json!({
            "id": "an-id", "consumer_name": "c1", "version": 3, "created_at": "2026-01-02T03:04:05Z",
            "metadata": {"name": "w", "namespace": "other", "labels": {"a": "b"}, "creationTimestamp": null},
            "manifests": [{"kind": "ConfigMap"}],
            "delete_option": {"propagationPolicy": "Orphan"},
            "status": {"ObservedVersion": 2, "SequenceID": "7", "conditions": [{"type": "Applied"}],
                "resourceStatus": [{"resourceMeta": {"name": "x"}}]},
        }));
        assert_eq!(
            work.unwrap(),
            json!({
                "apiVersion": API_VERSION, "kind": KIND,
                "metadata": {"name": "w", "namespace": "c1", "labels": {"a": "b"}, "uid": "an-id",
                    "resourceVersion": "3", "generation": 3, "creationTimestamp": "2026-01-02T03:04:05Z"},
                "spec": {"workload": {"manifests": [{"kind": "ConfigMap"}]},
                    "deleteOption": {"propagationPolicy": "Orphan"}},
                "status": {"observedGeneration": 2, "conditions": [{"type": "Applied"}],
                    "resourceStatus": {"manifests": [{"resourceMeta": {"name": "x"}}]}},
            })
        );
    }
}
