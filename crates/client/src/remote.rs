//! A resource as an API of any version tells it.
//!
//! Ours has more in `status` than the Go API v1.0; what only one of them has is optional here. Nothing
//! in an object of the fleet makes reading it fail: whoever reads decides what a missing member means.

use std::collections::BTreeMap;

use hyperfleet_core::time::Time;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One object of the fleet, with the JSON it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteResource {
    /// Empty if there was none.
    pub id: String,
    pub kind: String,
    pub name: String,
    pub href: String,
    /// 0 if there was none.
    pub generation: i64,
    pub labels: BTreeMap<String, String>,
    pub owner_references: Option<RemoteReference>,
    pub created_time: Option<Time>,
    pub updated_time: Option<Time>,
    /// Set once deletion was asked for.
    pub deleted_time: Option<Time>,
    pub status: RemoteStatus,
    /// All of it, as it came.
    pub raw: Value,
}

/// Points at another resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteReference {
    pub id: String,
    pub kind: String,
    pub href: String,
}

/// What is known about a resource.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RemoteStatus {
    /// Absent in the Go API v1.0.
    pub phase: Option<String>,
    pub conditions: Vec<RemoteCondition>,
    /// In the order of their names. Absent in the Go API v1.0.
    pub adapters: Vec<RemoteAdapter>,
    /// Absent in the Go API v1.0.
    pub last_updated_time: Option<Time>,
}

/// What one adapter says, in a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RemoteAdapter {
    /// Empty if it was not asked for.
    pub name: String,
    pub available: String,
    pub observed_generation: i64,
    /// Empty until it says anything about it.
    pub finalized: String,
}

/// One condition of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct RemoteCondition {
    pub kind: String,
    /// `True`, `False`, or whatever else stood there.
    pub status: String,
    pub reason: String,
    pub message: String,
    pub observed_generation: i64,
    pub last_updated_time: Option<Time>,
    pub last_transition_time: Option<Time>,
}

impl RemoteResource {
    /// Reads an object; `None` if it is none.
    pub fn from_json(raw: Value) -> Option<RemoteResource> {
        raw.as_object()?;
        let labels = raw["labels"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect();
        let status = &raw["status"];
        Some(RemoteResource {
            id: text(&raw, "id"),
            kind: text(&raw, "kind"),
            name: text(&raw, "name"),
            href: text(&raw, "href"),
            generation: raw["generation"].as_i64().unwrap_or(0),
            labels,
            owner_references: reference(&raw["owner_references"]),
            created_time: time(&raw, "created_time"),
            updated_time: time(&raw, "updated_time"),
            deleted_time: time(&raw, "deleted_time"),
            status: RemoteStatus {
                phase: status["phase"].as_str().map(str::to_owned),
                conditions: status["conditions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(condition)
                    .collect(),
                adapters: status["adapters"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(adapter)
                    .collect(),
                last_updated_time: time(status, "last_updated_time"),
            },
            raw,
        })
    }

    pub fn is_deleting(&self) -> bool {
        self.deleted_time.is_some()
    }

    /// The condition of this type; the last one, should there be several.
    pub fn condition(&self, kind: &str) -> Option<&RemoteCondition> {
        self.status
            .conditions
            .iter()
            .rev()
            .find(|condition| condition.kind == kind)
    }
}

impl<'de> Deserialize<'de> for RemoteResource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RemoteResource::from_json(Value::deserialize(deserializer)?)
            .ok_or_else(|| D::Error::custom("a resource is a JSON object"))
    }
}

fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_default().to_owned()
}

fn time(object: &Value, name: &str) -> Option<Time> {
    object[name].as_str()?.parse().ok()
}

/// One object despite the plural; a list of owners counts by its first.
fn reference(json: &Value) -> Option<RemoteReference> {
    let object = match json {
        Value::Array(items) => items.first()?,
        object => object,
    };
    object.as_object()?;
    Some(RemoteReference {
        id: text(object, "id"),
        kind: text(object, "kind"),
        href: text(object, "href"),
    })
}

fn adapter(json: &Value) -> RemoteAdapter {
    RemoteAdapter {
        name: text(json, "name"),
        available: text(json, "available"),
        observed_generation: json["observed_generation"].as_i64().unwrap_or(0),
        finalized: text(json, "finalized"),
    }
}

fn condition(json: &Value) -> RemoteCondition {
    RemoteCondition {
        kind: text(json, "type"),
        status: text(json, "status"),
        reason: text(json, "reason"),
        message: text(json, "message"),
        observed_generation: json["observed_generation"].as_i64().unwrap_or(0),
        last_updated_time: time(json, "last_updated_time"),
        last_transition_time: time(json, "last_transition_time"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_resource_of_the_older_api_has_no_phase_and_is_read_all_the_same() {
        let resource = RemoteResource::from_json(json!({
            "id": "c1", "kind": "Cluster", "name": "one", "href": "/api/hyperfleet/v1/clusters/c1",
            "generation": 2, "labels": {"region": "us", "odd": 3},
            "updated_time": "2026-01-01T00:00:00Z",
            "status": {"conditions": [{"type": "Reconciled", "status": "True", "observed_generation": 2,
                "last_updated_time": "2026-01-01T00:00:05.5Z"}]},
        }))
        .unwrap();
        assert_eq!(resource.generation, 2);
        assert_eq!(resource.labels.len(), 1);
        assert_eq!(resource.status.phase, None);
        assert_eq!(
            resource
                .condition("Reconciled")
                .unwrap()
                .observed_generation,
            2
        );
        assert_eq!(resource.condition("Ready"), None);
        assert!(!resource.is_deleting());
        assert_eq!(resource.raw["labels"]["odd"], 3);
    }

    #[test]
    fn nothing_that_is_missing_or_odd_makes_reading_fail() {
        let bare = RemoteResource::from_json(json!({})).unwrap();
        assert_eq!((bare.id.as_str(), bare.generation), ("", 0));
        let odd = RemoteResource::from_json(json!({
            "id": 7, "status": "none", "deleted_time": "soon", "owner_references": [{"id": "p"}],
        }))
        .unwrap();
        assert_eq!(odd.id, "");
        assert_eq!(odd.deleted_time, None);
        assert_eq!(odd.owner_references.unwrap().id, "p");
        assert_eq!(RemoteResource::from_json(json!("text")), None);
    }
}
