//! What was asked of the API, and what it acknowledged: the other half of every history.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use serde_json::Value;

/// One resource, as whoever changed it knows it.
#[derive(Debug, Clone)]
pub struct Known {
    pub plural: &'static str,
    pub name: String,
    /// The spec last acknowledged.
    pub spec: Value,
    /// The generation last acknowledged.
    pub generation: i64,
    /// Specs that were sent since, and never answered: each may have been taken.
    pub maybe: Vec<Value>,
    /// When its deletion was asked for; said before it is asked.
    pub deletion_asked: Option<DateTime<Utc>>,
    /// Whether its deletion was acknowledged.
    pub deleted: bool,
    /// Whether it was taken away without waiting for its adapters: the sweeper removes what is left, in no order.
    pub forced: bool,
}

/// All changes of one run.
#[derive(Debug, Default)]
pub struct Ledger {
    known: Mutex<BTreeMap<String, Known>>,
    /// Objects that the test itself took away: kind, namespace, name.
    meddled: Mutex<Vec<(String, String, String)>>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn created(&self, plural: &'static str, resource: &Value) {
        let text = |key: &str| resource[key].as_str().unwrap_or_default().to_owned();
        let known = Known {
            plural,
            name: text("name"),
            spec: resource["spec"].clone(),
            generation: resource["generation"].as_i64().unwrap_or_default(),
            maybe: Vec::new(),
            deletion_asked: None,
            deleted: false,
            forced: false,
        };
        self.lock().insert(text("id"), known);
    }

    /// A change that was acknowledged.
    pub fn changed(&self, id: &str, resource: &Value) {
        if let Some(known) = self.lock().get_mut(id) {
            known.spec = resource["spec"].clone();
            known.generation = resource["generation"].as_i64().unwrap_or_default();
            known.maybe.clear();
        }
    }

    /// A change that nobody answered.
    pub fn maybe_changed(&self, id: &str, spec: &Value) {
        if let Some(known) = self.lock().get_mut(id) {
            known.maybe.push(spec.clone());
        }
    }

    pub fn deletion_asked(&self, ids: &[String]) {
        for id in ids {
            if let Some(known) = self.lock().get_mut(id) {
                known.deletion_asked.get_or_insert_with(Utc::now);
            }
        }
    }

    pub fn deleted(&self, ids: &[String]) {
        for id in ids {
            if let Some(known) = self.lock().get_mut(id) {
                known.deleted = true;
            }
        }
    }

    /// Said before it is asked.
    pub fn forced(&self, id: &str) {
        if let Some(known) = self.lock().get_mut(id) {
            known.forced = true;
        }
    }

    pub fn is_forced(&self, id: &str) -> bool {
        self.lock().get(id).is_some_and(|known| known.forced)
    }

    /// The node pools of a cluster that were made here are deleted with it: their owner is known by the API alone, so
    /// whoever deletes names them all.
    pub fn is_deletion_asked(&self, id: &str) -> bool {
        self.lock()
            .get(id)
            .is_some_and(|known| known.deletion_asked.is_some())
    }

    pub fn meddled(&self, kind: &str, namespace: &str, name: &str) {
        let mut meddled = self.meddled.lock().unwrap_or_else(PoisonError::into_inner);
        meddled.push((kind.to_owned(), namespace.to_owned(), name.to_owned()));
    }

    pub fn was_meddled_with(&self, kind: &str, namespace: &str, name: &str) -> bool {
        let meddled = self.meddled.lock().unwrap_or_else(PoisonError::into_inner);
        meddled
            .iter()
            .any(|(k, ns, n)| (k.as_str(), ns.as_str(), n.as_str()) == (kind, namespace, name))
    }

    pub fn all(&self) -> BTreeMap<String, Known> {
        self.lock().clone()
    }
}
