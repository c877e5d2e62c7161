//! How controllers write: as themselves, through the same rules as everyone else.

use std::sync::Arc;

use chrono::Utc;
use serde_json::{Value, json};

use super::Reaction;
use crate::catalog::Resource;
use crate::cluster::{Call, DeleteOptions, create, delete, store_update};
use crate::meta;
use crate::ownership::{self, Writer};
use crate::query::Query;

const MANAGER: &str = "kube-controller-manager";

impl Reaction<'_> {
    /// The object's current state, if it is still there.
    pub(super) fn current(&self, uid: &str) -> Option<(Arc<Resource>, Arc<Value>)> {
        let (storage, object) = self.state.store.by_uid(uid)?;
        Some((
            self.state.catalog.find_storage(storage)?,
            Arc::clone(object),
        ))
    }

    /// Changes an object in place; nothing is written when `change` leaves it as it was.
    pub(super) fn edit(&mut self, uid: &str, subresource: &str, change: impl FnOnce(&mut Value)) {
        let Some((resource, old)) = self.current(uid) else {
            return;
        };
        let mut new = (*old).clone();
        change(&mut new);
        if new == *old {
            return;
        }
        let api_version = resource.api_version();
        let writer = Writer {
            manager: MANAGER,
            api_version: &api_version,
            subresource,
            now: Utc::now(),
        };
        ownership::update(&resource.shape, &old, &mut new, &[], &writer);
        store_update(self.state, &resource, new);
    }

    pub(super) fn set_status(&mut self, uid: &str, status: Value) {
        self.edit(uid, "status", |object| object["status"] = status);
    }

    /// Creates an object of a built-in kind; an existing one is left alone.
    pub(super) fn create(
        &mut self,
        group: &str,
        plural: &str,
        namespace: &str,
        object: Value,
    ) -> Option<Arc<Value>> {
        let resource = self.state.catalog.find(group, "v1", plural)?;
        let query = Query {
            field_manager: MANAGER.into(),
            ..Query::default()
        };
        let call = Call {
            resource: &resource,
            namespace,
            name: "",
            subresource: "",
            query: &query,
            now: Utc::now(),
        };
        match create(self.state, &call, object) {
            Ok(answer) => Some(answer.object),
            Err(failure) => {
                // Expected while a namespace goes away, or when it exists already.
                tracing::debug!(
                    plural,
                    namespace,
                    message = failure.message,
                    "a controller's create was refused"
                );
                None
            }
        }
    }

    pub(super) fn delete(&mut self, object: &Value, policy: &str) {
        let Some((resource, _)) = self.current(meta::uid(object)) else {
            return;
        };
        let query = Query {
            field_manager: MANAGER.into(),
            ..Query::default()
        };
        let call = Call {
            resource: &resource,
            namespace: meta::namespace(object),
            name: meta::name(object),
            subresource: "",
            query: &query,
            now: Utc::now(),
        };
        let body =
            json!({ "propagationPolicy": policy, "preconditions": { "uid": meta::uid(object) } });
        let result = DeleteOptions::parse(&call, Some(&body))
            .and_then(|options| delete(self.state, &call, &options));
        if let Err(failure) = result {
            tracing::debug!(
                message = failure.message,
                "a controller's delete was refused"
            );
        }
    }
}
