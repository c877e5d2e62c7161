//! A cluster and an API in memory, whose calls fail when they are told to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use hyperfleet_adapter::Api;
use hyperfleet_client::header::HeaderMap;
use hyperfleet_client::{Answer, Call, CallError, Cause, Method, Retry, StatusCode};
use hyperfleet_core::ownership::Keyring;
use hyperfleet_transport::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError, claim,
};
use serde_json::{Value as Json, json};

use hyperfleet_adapter::stamp::OWNERSHIP;

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It never arrives.
    Lost,
    /// It is carried out, and nobody hears of it.
    Unheard,
    /// The server refuses it.
    Refused,
}

#[derive(Default)]
pub(super) struct Cluster {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<ObjectRef, Json>,
    made: u64,
    now: DateTime<Utc>,
    /// For the calls to come, one each.
    faults: VecDeque<Option<Fault>>,
    /// Uids of objects whose deletion was asked for.
    deletions: Vec<String>,
    writes: u64,
}

impl Cluster {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn is_at(&self, now: DateTime<Utc>) {
        self.state().now = now;
    }

    pub(super) fn will_fail(&self, faults: &[Option<Fault>]) {
        self.state().faults = faults.iter().copied().collect();
    }

    pub(super) fn objects(&self) -> Vec<Json> {
        self.state().objects.values().cloned().collect()
    }

    pub(super) fn put(&self, object: Json) {
        let name = ObjectRef::of(&object).unwrap();
        self.state().objects.insert(name, object);
    }

    /// Somebody else changes an object.
    pub(super) fn tamper(&self, index: usize, change: impl FnOnce(&mut Json)) {
        let mut state = self.state();
        let many = state.objects.len();
        if let Some(object) = state.objects.values_mut().nth(index % many.max(1)) {
            change(object);
        }
    }

    /// Nothing holds on to what is being deleted any more.
    pub(super) fn release(&self) {
        let mut state = self.state();
        for object in state.objects.values_mut() {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("finalizers");
            }
        }
        state.objects.retain(|_, object| !is_going(object));
    }

    pub(super) fn remove(&self, object: &Json) {
        let name = ObjectRef::of(object).unwrap();
        self.state().objects.remove(&name);
    }

    /// Uids whose deletion was asked for since this was asked last.
    pub(super) fn take_deletions(&self) -> Vec<String> {
        std::mem::take(&mut self.state().deletions)
    }

    /// How many calls changed anything.
    pub(super) fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Whether a call goes through, is heard of, or neither.
    fn fate(&self) -> Option<Fault> {
        self.state().faults.pop_front().flatten()
    }

    fn call<T>(
        &self,
        operation: Operation,
        object: String,
        work: impl FnOnce(&mut State) -> Result<T, Failure>,
    ) -> Result<T, TransportError> {
        let failed = |failure: Failure| TransportError {
            target: Target::Kubernetes,
            operation,
            object: object.clone(),
            failure,
        };
        let away = || Failure::Unavailable {
            message: "the test says so".to_owned(),
        };
        match self.fate() {
            Some(Fault::Lost) => Err(failed(away())),
            Some(Fault::Refused) => Err(failed(Failure::Forbidden {
                message: "the test says so".to_owned(),
            })),
            Some(Fault::Unheard) => {
                let _ = work(&mut self.state());
                Err(failed(away()))
            }
            None => work(&mut self.state()).map_err(failed),
        }
    }
}

pub(super) fn is_going(object: &Json) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// Whether the object carries a signature that was made for it.
pub(super) fn is_signed(object: &Json, keys: &Keyring) -> bool {
    let signature = object["metadata"]["annotations"][OWNERSHIP].as_str();
    match (claim(object), signature) {
        (Some(claim), Some(signature)) => keys.verify(&claim, signature),
        _ => false,
    }
}

fn merge(target: &mut Json, patch: &Json) {
    let Json::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, change) in changes {
        match change {
            Json::Null => drop(target.as_object_mut().unwrap().remove(name)),
            _ => merge(&mut target[name], change),
        }
    }
}

fn matches(object: &Json, selector: &Selector) -> bool {
    let labels = &object["metadata"]["labels"];
    let mut wanted = selector.labels.iter();
    wanted.all(|(key, value)| labels[key] == value.as_str())
}

#[async_trait]
impl Transport for Cluster {
    async fn scope(&self, _: &ObjectKind) -> Result<Scope, TransportError> {
        Ok(Scope::Namespaced)
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Json>, TransportError> {
        self.call(Operation::Get, object.to_string(), |state| {
            Ok(state.objects.get(object).cloned())
        })
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        _: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Json>, TransportError> {
        self.call(Operation::List, kind.to_string(), |state| {
            let all = state.objects.iter();
            let wanted =
                all.filter(|(name, object)| name.kind == *kind && matches(object, selector));
            Ok(wanted.map(|(_, object)| object.clone()).collect())
        })
    }

    async fn apply(&self, manifest: &Json, mode: Mode) -> Result<Json, TransportError> {
        let name = ObjectRef::of(manifest).unwrap();
        self.call(Operation::Apply, name.to_string(), |state| {
            let mut object = match state.objects.get(&name) {
                Some(object) => object.clone(),
                None => {
                    state.made += 1;
                    json!({"metadata": {
                        "uid": format!("uid-{}", state.made),
                        "creationTimestamp": state.now.to_rfc3339(),
                    }})
                }
            };
            merge(&mut object, manifest);
            if mode == Mode::Commit {
                state.writes += 1;
                state.objects.insert(name.clone(), object.clone());
            }
            Ok(object)
        })
    }

    async fn create(&self, manifest: &Json) -> Result<Json, TransportError> {
        self.apply(manifest, Mode::Commit).await
    }

    async fn patch(&self, object: &ObjectRef, patch: &Json) -> Result<Json, TransportError> {
        self.call(Operation::Patch, object.to_string(), |state| {
            state.writes += 1;
            let Some(found) = state.objects.get_mut(object) else {
                let message = "it is not there".to_owned();
                return Err(Failure::NotFound { message });
            };
            merge(found, patch);
            Ok(found.clone())
        })
    }

    async fn delete(&self, name: &ObjectRef, how: &Delete) -> Result<Deletion, TransportError> {
        self.call(Operation::Delete, name.to_string(), |state| {
            state.writes += 1;
            let now = state.now.to_rfc3339();
            let Some(object) = state.objects.get_mut(name) else {
                return Ok(Deletion::Absent);
            };
            let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
            if how.uid.as_ref().is_some_and(|wanted| *wanted != uid) {
                return Err(Failure::Conflict {
                    manager: None,
                    fields: Vec::new(),
                    message: "it is another object".to_owned(),
                });
            }
            state.deletions.push(uid);
            if object["metadata"]["finalizers"].is_array() {
                object["metadata"]["deletionTimestamp"] = json!(now);
            } else {
                state.objects.remove(name);
            }
            Ok(Deletion::Accepted)
        })
    }
}

/// One resource, and what was reported about it.
#[derive(Clone, Default)]
pub(super) struct OneResource {
    pub(super) resource: Arc<Mutex<Option<Json>>>,
    pub(super) report: Arc<Mutex<Option<Json>>>,
}

#[async_trait]
impl Api for OneResource {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let answer = |body: &Json| Answer {
            status: StatusCode::OK,
            headers: HeaderMap::new(),
            body: body.to_string().into(),
            attempts: 1,
        };
        if let (Some(resource), true) =
            (&*self.resource.lock().unwrap(), call.method == Method::GET)
        {
            return Ok(answer(resource));
        }
        if self.resource.lock().unwrap().is_none() {
            return Err(CallError {
                method: call.method,
                url: call.url,
                attempts: 1,
                duration: Default::default(),
                cause: Cause::Status {
                    status: StatusCode::NOT_FOUND,
                    problem: None,
                    body: String::new(),
                },
            });
        }
        let report: Json = serde_json::from_slice(&call.body.unwrap()).unwrap();
        let said = answer(&report);
        *self.report.lock().unwrap() = Some(report);
        Ok(said)
    }

    fn retry(&self) -> Retry {
        Retry::NEVER
    }
}
