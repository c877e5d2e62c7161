//! One event, tried out: offline with recorded answers, or against the live API and cluster with
//! server-side dry runs ([`preview`]).
//!
//! ```text
//!  event.json ──────────► Engine ─► Trace ─► text │ JSON
//!  api-responses.json ──► RecordedApi ──┘│
//!  discovery.json ──────► OfflineTransport, for Kubernetes and for Maestro
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use hyperfleet_broker::{Event, EventError};
use hyperfleet_transport::{OfflineTransport, Preview, Target};
use serde::Serialize;
use serde_json::Value as Json;

use crate::config::Deployment;
use crate::pipeline::{Engine, Outcome, Run, Status};
use crate::plan::Operation;
use crate::task::Task;

mod preview;
mod recorded;
mod text;

pub use preview::preview;
pub use recorded::{Exchange, RecordedApi, RecordingError};

/// What is tried out.
#[derive(Debug)]
pub struct Inputs {
    /// The event, as JSON text.
    pub event: Vec<u8>,
    /// Recorded answers of the API; without, every call is answered with `200 {}`.
    pub responses: Option<Vec<u8>>,
    /// Objects that exist, by name.
    pub discovery: Option<Vec<u8>>,
    /// The environment, of which the task sees what it names.
    pub environment: BTreeMap<String, String>,
}

/// Why nothing could be tried out.
#[derive(Debug, thiserror::Error)]
pub enum DryRunError {
    /// The event cannot be read.
    #[error("the event: {0}")]
    Event(#[from] EventError),
    /// The recorded answers cannot be used.
    #[error("the API responses: {0}")]
    Responses(#[from] RecordingError),
    /// The recorded objects cannot be read.
    #[error("the discovery file: expected objects by name: {0}")]
    Discovery(serde_json::Error),
}

/// What happened.
#[derive(Debug, Serialize)]
pub struct Trace {
    /// `success`, `skipped`, `failed`, `retry` or `malformed`.
    pub status: &'static str,
    /// Why it is not `success`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The phase and step that failed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<String>,
    /// What would be done to which object, and why.
    pub operations: Vec<Operation>,
    /// What the target says would become of each object, when it was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub previews: Vec<Preview>,
    /// Calls and how they were answered.
    pub requests: Vec<Exchange>,
    /// What would be reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Json>,
}

impl Trace {
    /// For people. `verbose` adds manifests and bodies.
    pub fn text(&self, verbose: bool) -> String {
        text::render(self, verbose)
    }

    /// 0 when all would be well, also when there is nothing to do; 1 when the event would fail.
    pub fn exit_code(&self) -> u8 {
        u8::from(!matches!(self.status, "success" | "skipped"))
    }
}

/// Tries an event out.
pub async fn dry_run(
    deployment: &Deployment,
    task: Task,
    inputs: Inputs,
    now: DateTime<Utc>,
) -> Result<Trace, DryRunError> {
    let event = Event::decode(&inputs.event)?;
    let api = &deployment.clients.hyperfleet_api;
    let api = Arc::new(RecordedApi::new(inputs.responses.as_deref(), api)?);
    let objects: BTreeMap<String, Json> = match &inputs.discovery {
        Some(text) => serde_json::from_slice(text).map_err(DryRunError::Discovery)?,
        None => BTreeMap::new(),
    };
    let offline = |target| Arc::new(OfflineTransport::new(target, objects.clone()));
    let named = task.environment.iter();
    let env = named
        .filter_map(|name| Some((name.clone(), inputs.environment.get(name)?.clone())))
        .collect();
    let engine = Engine {
        task: Arc::new(task),
        identity: deployment.adapter.clone(),
        config: Arc::new(deployment.redacted()),
        env,
        api: api.clone(),
        transport: offline(Target::Kubernetes),
        maestro: offline(Target::Maestro),
        metrics: None,
        keys: None,
    };
    let run = engine.handle(&event, now).await;
    Ok(trace(run, api.exchanges()))
}

fn trace(mut run: Run, mut requests: Vec<Exchange>) -> Trace {
    if let Some(context) = &run.context {
        let operations = run.operations.iter_mut();
        let documents = operations.flat_map(|one| one.manifest.iter_mut().chain(&mut one.patches));
        let bodies = requests.iter_mut().filter_map(|one| one.body.as_mut());
        for document in documents.chain(bodies).chain(&mut run.report) {
            context.hide_secrets(document);
        }
    }
    let (status, reason) = match run.outcome {
        Outcome::Done(Status::Success) => ("success", None),
        Outcome::Done(Status::Skipped) => ("skipped", run.skipped),
        Outcome::Done(Status::Failed) => ("failed", None),
        Outcome::Retry { reason, .. } => ("retry", Some(reason)),
        Outcome::Malformed(reason) => ("malformed", Some(reason)),
    };
    let fault = run.fault.as_ref();
    Trace {
        status,
        reason: reason.or_else(|| fault.map(|fault| fault.message.clone())),
        failed_at: fault.map(|fault| format!("{}/{}", fault.phase, fault.step)),
        operations: run.operations.into_iter().map(hidden).collect(),
        previews: Vec::new(),
        requests,
        report: run.report,
    }
}

/// Without the values of Secrets.
fn hidden(mut operation: Operation) -> Operation {
    let object = operation.object.as_ref();
    let is_secret = object.is_some_and(|object| object.kind.kind == "Secret");
    let documents = operation.manifest.iter_mut().chain(&mut operation.patches);
    for document in documents.filter(|_| is_secret) {
        for key in ["data", "stringData"] {
            let values = document.get_mut(key).and_then(Json::as_object_mut);
            for value in values.into_iter().flat_map(|values| values.values_mut()) {
                *value = Json::from("(hidden)");
            }
        }
    }
    operation
}

#[cfg(test)]
mod tests;
