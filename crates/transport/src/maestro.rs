//! A Maestro server as a target: it keeps ManifestWorks for clusters it calls consumers, and an agent in each of them
//! fetches and applies what they carry.
//!
//! ```text
//!  get, list ──────────► REST /api/maestro/v1/resource-bundles ──► a ManifestWork, with what the agent said of it
//!  apply, patch, delete ► read it ─► change it here ─► CloudEvent over gRPC, with the version that was read
//! ```
//!
//! The consumer is the namespace of a work. Nothing is remembered between calls, so that calls for different consumers
//! cannot get into each other's way; a change made meanwhile is refused by Maestro because of the version.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::offline::merge;
use crate::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError,
};

mod bundle;
mod check;
mod client;
mod config;
mod connect;
mod event;
mod publish;
mod rest;
mod survey;
mod wire;

pub use bundle::kind as work_kind;
pub use client::{
    MAESTRO_VARIABLES, MaestroAuth, MaestroAuthType, MaestroClient, MaestroProbes, MaestroTlsFiles,
};
pub use config::{MaestroConfig, MaestroError, MaestroKeepalive, MaestroSecurity, MaestroTls};
use connect::Connections;
use event::Request;

/// The first wait before another attempt; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// One Maestro server, as one source.
pub struct MaestroTransport {
    config: MaestroConfig,
    connections: Connections,
}

impl MaestroTransport {
    /// Connects to nothing yet. Runs inside a Tokio runtime only.
    pub fn new(config: MaestroConfig) -> Result<Self, MaestroError> {
        let wrong = |key: &'static str, problem: &str| MaestroError::Config {
            key,
            problem: problem.to_owned(),
        };
        if config.source_id.is_empty() {
            return Err(wrong(
                "source_id",
                "it is missing: say in whose name works are kept",
            ));
        }
        // It becomes part of searches.
        if config.source_id.contains(['\'', '\\', '%'])
            || config.source_id.contains(char::is_control)
        {
            return Err(wrong(
                "source_id",
                "quotes, backslashes, `%` and control characters are not for names",
            ));
        }
        if http::HeaderValue::from_str(&config.client_id).is_err() {
            return Err(wrong(
                "client_id",
                "it has characters that cannot be sent in a header",
            ));
        }
        Ok(Self {
            connections: Connections::new(config.clone())?,
            config,
        })
    }

    /// As [`new`](Self::new), and returns only once the server has answered a read.
    pub async fn connect(config: MaestroConfig) -> Result<Self, MaestroError> {
        let server = config.http_address.clone();
        let transport = Self::new(config)?;
        match transport.page_of(None, None).await {
            Ok(_) => Ok(transport),
            Err(Failure::Unavailable { message }) => Err(MaestroError::Unreachable {
                server,
                reason: message,
            }),
            Err(failure) => Err(MaestroError::Refused {
                server,
                reason: failure.to_string(),
            }),
        }
    }

    /// Tries again while the server cannot be reached, as often as is configured. Whatever the server has answered
    /// stands. An event that arrived although its answer did not is refused the second time, for its version is old.
    async fn patiently<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut wait = FIRST_WAIT;
        for _ in 1..self.config.attempts.max(1) {
            match attempt().await {
                Err(Failure::Unavailable { message }) => {
                    tracing::debug!(message, ?wait, "Maestro is not available: trying again");
                }
                answered => return answered,
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        attempt().await
    }

    async fn send(&self, request: Request, work: &Value, version: i32) -> Result<(), Failure> {
        let event = event::event(request, &self.config.source_id, work, version);
        self.publish(event).await
    }

    /// Publishes a new work. A refusal is looked into: Maestro's words for a consumer it does not know are those of its
    /// database.
    async fn make(&self, object: &ObjectRef, manifest: &Value) -> Result<Value, Failure> {
        let consumer = check::place(object)?;
        let mut work = manifest.clone();
        work["metadata"]["uid"] = json!(bundle::id(&self.config.source_id, consumer, &object.name));
        match self.send(Request::Create, &work, 0).await {
            Ok(()) => {}
            Err(failure @ Failure::Other { .. }) => {
                return Err(match self.is_registered(consumer).await {
                    Ok(false) => unregistered(consumer),
                    _ => failure,
                });
            }
            Err(failure) => return Err(failure),
        }
        self.as_kept(object, work).await
    }

    /// Publishes a changed work, unless it is the one Maestro has.
    async fn change(
        &self,
        object: &ObjectRef,
        live: &Value,
        wanted: Value,
    ) -> Result<Value, Failure> {
        if bundle::shown(wanted.clone()) == bundle::shown(live.clone()) {
            return Ok(live.clone());
        }
        check::manifest(&wanted)?;
        self.send(Request::Update, &wanted, version(live)?).await?;
        self.as_kept(object, wanted).await
    }

    /// What Maestro has now; if somebody took it away already, what was sent.
    async fn as_kept(&self, object: &ObjectRef, sent: Value) -> Result<Value, Failure> {
        let consumer = check::place(object)?;
        Ok(match self.read(consumer, &object.name).await? {
            Some(kept) => kept,
            None => bundle::shown(sent),
        })
    }

    async fn apply_work(&self, manifest: &Value, mode: Mode) -> Result<Value, Failure> {
        let object = check::manifest(manifest)?;
        let consumer = check::place(&object)?;
        match (self.read(consumer, &object.name).await?, mode) {
            (None, Mode::Commit) => self.make(&object, manifest).await,
            (None, Mode::DryRun) => match self.is_registered(consumer).await? {
                true => Ok(bundle::shown(manifest.clone())),
                false => Err(unregistered(consumer)),
            },
            (Some(live), Mode::DryRun) => Ok(bundle::shown(applied(&live, manifest))),
            (Some(live), Mode::Commit) => {
                let wanted = applied(&live, manifest);
                self.change(&object, &live, wanted).await
            }
        }
    }

    async fn patch_work(&self, object: &ObjectRef, patch: &Value) -> Result<Value, Failure> {
        let consumer = check::place(object)?;
        let live = self.read(consumer, &object.name).await?;
        let live = live.ok_or_else(|| Failure::NotFound {
            message: format!("Maestro keeps no work {} for {consumer}", object.name),
        })?;
        let uid = patch.pointer("/metadata/uid");
        if uid.is_some_and(|uid| *uid != live["metadata"]["uid"]) {
            return Err(conflict("it is another work of the same name by now"));
        }
        let mut wanted = live.clone();
        merge(&mut wanted, patch);
        for field in [
            "/apiVersion",
            "/kind",
            "/metadata/name",
            "/metadata/namespace",
        ] {
            if wanted.pointer(field) != live.pointer(field) {
                let field = field.trim_start_matches('/').replace('/', ".");
                return Err(Failure::Invalid {
                    causes: vec![format!("{field}: cannot be changed")],
                    message: format!("a patch cannot change {field}"),
                });
            }
        }
        // What the agent said, and what Maestro counts, is not ours to write.
        wanted["status"] = live["status"].clone();
        if live["status"].is_null()
            && let Some(fields) = wanted.as_object_mut()
        {
            fields.remove("status");
        }
        self.change(object, &live, wanted).await
    }

    async fn delete_work(&self, object: &ObjectRef, options: &Delete) -> Result<Deletion, Failure> {
        let consumer = check::place(object)?;
        let Some(live) = self.read(consumer, &object.name).await? else {
            return Ok(Deletion::Absent);
        };
        let metadata = &live["metadata"];
        let same = |wanted: &Option<String>, is: &Value| {
            wanted.as_deref().is_none_or(|wanted| *is == wanted)
        };
        if !same(&options.uid, &metadata["uid"])
            || !same(&options.resource_version, &metadata["resourceVersion"])
        {
            return Err(conflict("it changed since it was looked at"));
        }
        match self.send(Request::Delete, &live, version(&live)?).await {
            Ok(()) => Ok(Deletion::Accepted),
            Err(Failure::NotFound { .. }) => Ok(Deletion::Absent),
            Err(failure) => Err(failure),
        }
    }
}

/// The live work with what the manifest says: all of its spec, and its labels and annotations over those that are
/// there. Whose a label that is not mentioned any more was, nobody remembers; so it stays.
fn applied(live: &Value, manifest: &Value) -> Value {
    let mut wanted = live.clone();
    wanted["spec"] = manifest["spec"].clone();
    for key in ["labels", "annotations"] {
        let Some(said) = manifest["metadata"][key].as_object() else {
            continue;
        };
        let place = &mut wanted["metadata"][key];
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        if let Some(there) = place.as_object_mut() {
            there.extend(said.clone());
        }
    }
    wanted
}

fn version(live: &Value) -> Result<i32, Failure> {
    let version = live["metadata"]["generation"].as_i64();
    version
        .and_then(|version| i32::try_from(version).ok())
        .ok_or_else(|| Failure::Other {
            status: None,
            message: "Maestro's version of it is no number".to_owned(),
        })
}

fn unregistered(consumer: &str) -> Failure {
    Failure::NotFound {
        message: format!(
            "consumer {consumer:?} is not registered in Maestro; register it, or correct target_cluster"
        ),
    }
}

fn conflict(message: &str) -> Failure {
    Failure::Conflict {
        manager: None,
        fields: Vec::new(),
        message: message.to_owned(),
    }
}

fn failed(operation: Operation, object: impl ToString, failure: Failure) -> TransportError {
    TransportError {
        target: Target::Maestro,
        operation,
        object: object.to_string(),
        failure,
    }
}

/// What a manifest is about, as far as it says.
fn named(manifest: &Value) -> String {
    ObjectRef::of(manifest).map_or_else(|_| "the work".to_owned(), |object| object.to_string())
}

#[async_trait]
impl Transport for MaestroTransport {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        let known = check::kind(kind);
        known.map_err(|failure| failed(Operation::Discover, kind, failure))?;
        Ok(Scope::Namespaced)
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        let failed = |failure| failed(Operation::Get, object, failure);
        let consumer = check::place(object).map_err(failed)?;
        self.read(consumer, &object.name).await.map_err(failed)
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        let failed = |failure| {
            let object = format!("{} with {}", kind.kind, selector.query());
            failed(Operation::List, object, failure)
        };
        check::kind(kind).map_err(failed)?;
        if let Some(wrong) = namespace.and_then(|name| check::label("target_cluster", name)) {
            return Err(failed(Failure::Invalid {
                message: wrong.clone(),
                causes: vec![wrong],
            }));
        }
        let mut works = self.works(namespace).await.map_err(failed)?;
        works.retain(|work| selector.matches(work));
        Ok(works)
    }

    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError> {
        let done = self.apply_work(manifest, mode).await;
        done.map_err(|failure| failed(Operation::Apply, named(manifest), failure))
    }

    async fn create(&self, manifest: &Value) -> Result<Value, TransportError> {
        let failed = |failure| failed(Operation::Create, named(manifest), failure);
        let object = check::manifest(manifest).map_err(failed)?;
        self.make(&object, manifest).await.map_err(failed)
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError> {
        let done = self.patch_work(object, patch).await;
        done.map_err(|failure| failed(Operation::Patch, object, failure))
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: &Delete,
    ) -> Result<Deletion, TransportError> {
        let done = self.delete_work(object, options).await;
        done.map_err(|failure| failed(Operation::Delete, object, failure))
    }
}

#[cfg(test)]
mod properties;
