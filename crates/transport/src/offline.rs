//! Recorded objects in place of a target, for trying a configuration without one.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::Value;

use crate::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError,
};

/// Holds what it is given. An applied object takes the recorded state of its name, if there is one,
/// so that a run can be shown what a finished Job looks like.
#[derive(Debug)]
pub struct OfflineTransport {
    target: Target,
    objects: Mutex<BTreeMap<ObjectRef, Value>>,
    recorded: BTreeMap<String, Value>,
}

/// Kinds that live in the cluster as a whole; every other one is taken to live in a namespace
/// exactly when it is given one.
const CLUSTER_KINDS: [&str; 8] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "PriorityClass",
    "StorageClass",
];

impl OfflineTransport {
    /// With objects by `metadata.name`, each of which has `apiVersion` and `kind`; deleted ones go as the sort of target
    /// lets them: at once, or, from Maestro, only when an agent says so, which here nobody is.
    pub fn new(target: Target, recorded: BTreeMap<String, Value>) -> Self {
        let objects = recorded
            .values()
            .filter_map(|object| Some((key(&ObjectRef::of(object).ok()?), object.clone())))
            .collect();
        Self {
            target,
            objects: Mutex::new(objects),
            recorded,
        }
    }

    /// What it holds now.
    pub fn objects(&self) -> Vec<Value> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ObjectRef, Value>> {
        self.objects.lock().unwrap_or_else(|held| held.into_inner())
    }

    fn store(
        &self,
        operation: Operation,
        manifest: &Value,
        mode: Mode,
    ) -> Result<Value, TransportError> {
        let object = ObjectRef::of(manifest).map_err(|error| TransportError {
            target: self.target,
            operation,
            object: "the manifest".to_owned(),
            failure: Failure::Invalid {
                causes: Vec::new(),
                message: error.to_string(),
            },
        })?;
        let stored = self.recorded.get(&object.name).unwrap_or(manifest).clone();
        if mode == Mode::Commit {
            let mut objects = self.lock();
            let place = place(&objects, &object);
            objects.insert(place, stored.clone());
        }
        Ok(stored)
    }
}

/// Cluster-scoped kinds ignore a namespace, as a server does.
fn key(object: &ObjectRef) -> ObjectRef {
    let mut key = object.clone();
    if CLUSTER_KINDS.contains(&key.kind.kind.as_str()) {
        key.namespace = None;
    }
    key
}

/// Under which name an object is held: a recorded one that does not say where it lives lives anywhere.
fn place(objects: &BTreeMap<ObjectRef, Value>, object: &ObjectRef) -> ObjectRef {
    let exact = key(object);
    let anywhere = ObjectRef {
        namespace: None,
        ..exact.clone()
    };
    match !objects.contains_key(&exact) && objects.contains_key(&anywhere) {
        true => anywhere,
        false => exact,
    }
}

#[async_trait]
impl Transport for OfflineTransport {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        Ok(match CLUSTER_KINDS.contains(&kind.kind.as_str()) {
            true => Scope::Cluster,
            false => Scope::Namespaced,
        })
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        let objects = self.lock();
        Ok(objects.get(&place(&objects, object)).cloned())
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        let objects = self.lock();
        let wanted = |object: &ObjectRef| {
            object.kind == *kind
                && (namespace.is_none()
                    || object.namespace.is_none()
                    || object.namespace.as_deref() == namespace)
        };
        Ok(objects
            .iter()
            .filter(|(object, value)| wanted(object) && selector.matches(value))
            .map(|(_, value)| value.clone())
            .collect())
    }

    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError> {
        self.store(Operation::Apply, manifest, mode)
    }

    async fn create(&self, manifest: &Value) -> Result<Value, TransportError> {
        self.store(Operation::Create, manifest, Mode::Commit)
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError> {
        let mut objects = self.lock();
        let place = place(&objects, object);
        let Some(found) = objects.get_mut(&place) else {
            return Err(TransportError {
                target: self.target,
                operation: Operation::Patch,
                object: object.to_string(),
                failure: Failure::NotFound {
                    message: "there is no such recorded object".to_owned(),
                },
            });
        };
        merge(found, patch);
        Ok(found.clone())
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        _options: &Delete,
    ) -> Result<Deletion, TransportError> {
        let mut objects = self.lock();
        let place = place(&objects, object);
        let found = match self.target {
            Target::Kubernetes => objects.remove(&place).is_some(),
            Target::Maestro => match objects.get_mut(&place) {
                Some(found) => {
                    found["metadata"]["deletionTimestamp"] = Value::from("1970-01-01T00:00:00Z");
                    true
                }
                None => false,
            },
        };
        Ok(match found {
            true => Deletion::Accepted,
            false => Deletion::Absent,
        })
    }
}

/// RFC 7396.
pub(crate) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn an_applied_object_takes_the_recorded_state_of_its_name() {
        let done = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "check", "namespace": "a"}, "status": {"succeeded": 1}});
        let offline = OfflineTransport::new(
            Target::Kubernetes,
            BTreeMap::from([("check".to_owned(), done.clone())]),
        );
        let manifest = json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "check", "namespace": "a"}});
        assert_eq!(offline.apply(&manifest, Mode::Commit).await.unwrap(), done);
    }

    #[tokio::test]
    async fn a_recorded_object_without_a_place_is_found_in_any() {
        let work = json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
            "metadata": {"name": "w"}});
        let recorded = BTreeMap::from([("w".to_owned(), work.clone())]);
        let offline = OfflineTransport::new(Target::Maestro, recorded);
        let object = ObjectKind::of(&work).unwrap().named(Some("cluster1"), "w");
        assert_eq!(offline.get(&object).await.unwrap(), Some(work));
        let gone = offline.delete(&object, &Delete::default()).await.unwrap();
        assert_eq!(gone, Deletion::Accepted);
        let left = offline.get(&object).await.unwrap().unwrap();
        assert!(
            left["metadata"]["deletionTimestamp"].is_string(),
            "no agent confirms it"
        );
    }

    #[test]
    fn a_merge_patch_removes_with_null_and_keeps_the_rest() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "d": [1]});
        merge(
            &mut target,
            &json!({"a": {"b": null}, "d": [2], "e": {"f": null}}),
        );
        assert_eq!(target, json!({"a": {"c": 2}, "d": [2], "e": {}}));
    }
}
