//! What the server keeps, and what may be done to it.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct State {
    pub(crate) consumers: BTreeSet<String>,
    pub(crate) bundles: BTreeMap<String, Bundle>,
    pub(crate) down: bool,
    pub(crate) mute: bool,
    pub(crate) failing: usize,
    pub(crate) callers: Vec<String>,
    pub(crate) events: usize,
}

pub(crate) struct Bundle {
    pub(crate) source: String,
    pub(crate) consumer: String,
    pub(crate) version: i32,
    pub(crate) metadata: Value,
    pub(crate) payload: Value,
    status: Value,
    created: String,
    deleted: Option<String>,
}

/// What an event says about a bundle.
pub(crate) struct Wish {
    pub(crate) id: String,
    pub(crate) source: String,
    pub(crate) consumer: String,
    pub(crate) version: i32,
    pub(crate) metadata: Value,
    pub(crate) payload: Value,
}

impl State {
    /// Notes a caller; tells whether nobody is answered now.
    pub(crate) fn meet(&mut self, caller: &str) -> bool {
        self.callers.push(caller.to_owned());
        let fails = self.failing > 0;
        self.failing = self.failing.saturating_sub(1);
        self.down || fails
    }

    pub(crate) fn create(&mut self, wish: Wish) -> Result<(), String> {
        check(&wish.payload).map_err(|why| {
            format!("failed to create resource: maestro-8: the manifest in the resource is invalid, {why}")
        })?;
        if !self.consumers.contains(&wish.consumer) {
            // The words of its database.
            return Err(
                "failed to create resource: maestro-9: Unable to create Resource: ERROR: insert or update on table \
                 \"resources\" violates foreign key constraint \"fk_resources_consumers\" (SQLSTATE 23503)"
                    .to_owned(),
            );
        }
        if self.bundles.contains_key(&wish.id) {
            return Err(
                "failed to create resource: maestro-6: This Resource already exists".to_owned(),
            );
        }
        let bundle = Bundle {
            source: wish.source,
            consumer: wish.consumer,
            version: 1,
            metadata: wish.metadata,
            payload: wish.payload,
            status: Value::Null,
            created: now(),
            deleted: None,
        };
        self.bundles.insert(wish.id, bundle);
        Ok(())
    }

    pub(crate) fn update(&mut self, wish: Wish) -> Result<(), String> {
        let Some(found) = self.bundles.get_mut(&wish.id) else {
            let id = wish.id;
            return Err(format!(
                "failed to get resource: maestro-7: Resource with id='{id}' not found"
            ));
        };
        if found.deleted.is_some() {
            let id = wish.id;
            return Err(format!(
                "failed to update resource: maestro-6: the resource is under deletion, id: {id}"
            ));
        }
        if wish.version != 0 && wish.version != found.version {
            return Err(format!(
                "failed to update resource: maestro-6: the resource version is not the latest, the latest version: {}",
                found.version
            ));
        }
        check(&wish.payload).map_err(|why| {
            format!("failed to update resource: maestro-8: the new manifest in the resource is invalid, {why}")
        })?;
        found.version += 1;
        found.metadata = wish.metadata;
        found.payload = wish.payload;
        Ok(())
    }

    /// One that is not there is as good as deleted.
    pub(crate) fn mark_deleted(&mut self, id: &str) {
        if let Some(found) = self.bundles.get_mut(id) {
            found.deleted.get_or_insert_with(now);
        }
    }

    fn find(&mut self, consumer: &str, name: &str) -> Option<(&String, &mut Bundle)> {
        self.bundles.iter_mut().find(|(_, bundle)| {
            bundle.consumer == consumer && bundle.metadata["name"].as_str() == Some(name)
        })
    }

    pub(crate) fn report(&mut self, consumer: &str, name: &str, mut status: Value) -> bool {
        let Some((_, bundle)) = self.find(consumer, name) else {
            return false;
        };
        // The members Go gives to a struct without names for JSON.
        status["ObservedVersion"] = json!(bundle.version);
        status["SequenceID"] = json!("1");
        bundle.status = status;
        true
    }

    pub(crate) fn confirm_deletion(&mut self, consumer: &str, name: &str) -> bool {
        let found = self.find(consumer, name);
        let found = found.filter(|(_, bundle)| bundle.deleted.is_some());
        let id = found.map(|(id, _)| id.clone());
        id.is_some_and(|id| self.bundles.remove(&id).is_some())
    }

    pub(crate) fn shown(&self) -> Vec<Value> {
        let bundles = self.bundles.iter();
        bundles.map(|(id, bundle)| bundle.shown(id)).collect()
    }
}

impl Bundle {
    pub(crate) fn shown(&self, id: &str) -> Value {
        let mut metadata = self.metadata.clone();
        metadata["creationTimestamp"] = json!(self.created);
        let mut shown = json!({
            "id": id,
            "kind": "ResourceBundle",
            "href": format!("/api/maestro/v1/resource-bundles/{id}"),
            "name": id,
            "consumer_name": self.consumer,
            "version": self.version,
            "created_at": self.created,
            "updated_at": self.created,
            "manifests": self.payload["manifests"],
        });
        for (theirs, ours) in [
            ("deleteOption", "delete_option"),
            ("manifestConfigs", "manifest_configs"),
        ] {
            if !self.payload[theirs].is_null() {
                shown[ours] = self.payload[theirs].clone();
            }
        }
        if let Some(deleted) = &self.deleted {
            metadata["deletionTimestamp"] = json!(deleted);
            shown["deleted_at"] = json!(deleted);
        }
        shown["metadata"] = metadata;
        if !self.status.is_null() {
            shown["status"] = self.status.clone();
        }
        shown
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

fn check(payload: &Value) -> Result<(), String> {
    let manifests = payload["manifests"].as_array();
    let manifests = manifests.filter(|manifests| !manifests.is_empty());
    for manifest in manifests.ok_or("manifest bundle is empty")? {
        for (pointer, field) in [
            ("/apiVersion", "apiVersion"),
            ("/kind", "kind"),
            ("/metadata/name", "metadata.name"),
        ] {
            let said = manifest.pointer(pointer).and_then(Value::as_str);
            if said.is_none_or(str::is_empty) {
                return Err(format!("{field}: Required value: field not set"));
            }
        }
    }
    Ok(())
}
