//! The served world: catalog and store behind one lock, and the verbs that change it.
//!
//! A verb takes the lock, decides, commits and lets go; nothing waits while holding it.

mod create;
mod delete;
mod list;
mod patch;
mod review;
mod scale;
mod update;
mod write;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::Notify;

use crate::catalog::{Catalog, Resource};
use crate::failure::Failure;
use crate::meta;
use crate::options::Options;
use crate::query::Query;
use crate::store::Store;

pub(crate) use create::create;
pub(crate) use delete::{
    CUSTOM_CLEANUP, DeleteOptions, delete, delete_collection, remove_if_finalized,
};
pub(crate) use list::{Page, list};
pub(crate) use patch::{PatchKind, patch};
pub(crate) use review::review;
pub(crate) use scale::{read_scale, write_scale};
pub(crate) use update::update;
pub(crate) use write::store_update;

/// What a request names.
#[derive(Debug, Clone)]
pub(crate) struct Call<'a> {
    pub resource: &'a Arc<Resource>,
    pub namespace: &'a str,
    pub name: &'a str,
    pub subresource: &'a str,
    pub query: &'a Query,
    pub now: DateTime<Utc>,
}

impl Call<'_> {
    pub(crate) fn not_found(&self) -> Failure {
        Failure::not_found(self.resource, self.name)
    }
}

/// A successful answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub code: u16,
    pub object: Arc<Value>,
    pub warnings: Vec<String>,
}

impl Answer {
    pub(crate) fn ok(object: impl Into<Arc<Value>>) -> Answer {
        Answer {
            code: 200,
            object: object.into(),
            warnings: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    pub catalog: Catalog,
    pub store: Store,
}

impl State {
    pub(crate) fn get(&self, call: &Call<'_>) -> Result<Arc<Value>, Failure> {
        self.store
            .get(&call.resource.storage(), call.namespace, call.name)
            .cloned()
            .ok_or_else(|| call.not_found())
    }
}

/// Everything a running server shares.
#[derive(Debug)]
pub(crate) struct Cluster {
    state: Mutex<State>,
    pub options: Options,
    /// Something was committed: the controllers and the saver look.
    pub changed: Notify,
    pub dirty: Notify,
}

impl Cluster {
    pub(crate) fn new(state: State, options: Options) -> Cluster {
        Cluster {
            state: Mutex::new(state),
            options,
            changed: Notify::new(),
            dirty: Notify::new(),
        }
    }

    /// The state is consistent between statements, so a panic elsewhere does not spoil it.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a verb and wakes who reacts to its result.
    pub(crate) fn write<T>(&self, verb: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let before = state.store.revision();
        let result = verb(&mut state);
        let changed = state.store.revision() != before;
        drop(state);
        if changed {
            self.changed.notify_one();
            self.dirty.notify_one();
        }
        result
    }
}

/// Refuses writes into namespaces that are not there or on their way out.
fn check_namespace(state: &State, call: &Call<'_>, name: &str) -> Result<(), Failure> {
    if !call.resource.namespaced {
        return Ok(());
    }
    let Some(namespace) = state.store.get("namespaces", "", call.namespace) else {
        let namespaces = state
            .catalog
            .find("", "v1", "namespaces")
            .ok_or_else(Failure::no_such_path)?;
        return Err(Failure::not_found(&namespaces, call.namespace));
    };
    if meta::is_deleting(namespace) {
        let why = format!(
            "unable to create new content in namespace {} because it is being terminated",
            call.namespace
        );
        let cause = format!("namespace {} is being terminated", call.namespace);
        return Err(Failure::forbidden(call.resource, name, &why).with_cause(
            "NamespaceTerminating",
            &cause,
            "metadata.namespace",
        ));
    }
    Ok(())
}
