//! Resources brought to where they should be: discovered together, then decided and done in order.

use futures::future::join_all;
use hyperfleet_transport::TransportError;
use tokio::time::Instant;
use tracing::{Instrument as _, Span, info_span};

use crate::context::Fault;
use crate::discover::{self, DiscoverError};
use crate::execute::{Effect, execute};
use crate::nested;
use crate::pipeline::{Engine, Progress};
use crate::plan::{self, Action, Found, Operation, Permit};
use crate::stamp::Stamp;
use crate::task::Resource;

/// What was done, and what could not be.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) operations: Vec<Operation>,
    /// Why each resource was not created though nothing failed, by position.
    pub(crate) withheld: Vec<Option<String>>,
}

impl Work {
    pub(crate) fn none(resources: &[Resource]) -> Self {
        Self {
            operations: Vec::new(),
            withheld: vec![None; resources.len()],
        }
    }
}

/// Discovers everything first: if the target cannot be read, nothing is touched.
pub(crate) async fn converge(engine: &Engine, progress: &mut Progress, permit: Permit) {
    let resource_id = progress.context.subject.id.clone();
    let stamp = Stamp {
        adapter: &engine.identity.name,
        resource_id: &resource_id,
        generation: progress.context.generation,
        keys: engine.keys.as_deref(),
    };
    let Some(found) = look(engine, progress, &stamp).await else {
        return;
    };
    match progress.context.deleting {
        true => take_down(engine, progress, &stamp, &found, permit).await,
        false => bring_up(engine, progress, &stamp, &found, permit).await,
    }
}

/// What there is; `None` when it cannot be found out.
async fn look(engine: &Engine, progress: &mut Progress, stamp: &Stamp<'_>) -> Option<Vec<Found>> {
    let resources = &engine.task.resources;
    let looks = resources.iter().map(|resource| {
        let transport = engine.transport_of(resource);
        discover::discover(resource, &progress.context, stamp, transport)
            .instrument(info_span!("discover", resource = resource.name))
    });
    let mut found = Vec::with_capacity(resources.len());
    for (resource, look) in resources.iter().zip(join_all(looks).await) {
        match look {
            Ok(seen) => found.push(seen),
            Err(error) => undiscovered(progress, resource, &error),
        }
    }
    if progress.fault.is_some() {
        return None;
    }
    for (resource, seen) in resources.iter().zip(&found) {
        if let (Some(metrics), Some(object)) = (&engine.metrics, seen.current()) {
            metrics.found(object);
        }
        see(progress, resource, seen.current().cloned());
    }
    let drifts = resources.iter().zip(&found).map(|(resource, seen)| {
        let transport = engine.transport_of(resource);
        discover::drift(resource, &progress.context, stamp, seen, transport)
    });
    let drifts = join_all(drifts).await;
    for ((resource, seen), drift) in resources.iter().zip(&mut found).zip(drifts) {
        match drift {
            Ok(drift) => seen.drift = drift,
            Err(error) => refused(progress, resource, &error),
        }
    }
    progress.fault.is_none().then_some(found)
}

/// In the order they are written, because what comes later may build on what comes first.
async fn bring_up(
    engine: &Engine,
    progress: &mut Progress,
    stamp: &Stamp<'_>,
    found: &[Found],
    permit: Permit,
) {
    for (index, (resource, seen)) in engine.task.resources.iter().zip(found).enumerate() {
        let operation = plan::decide(resource, &progress.context, stamp, seen, permit);
        // After a failed apply nothing more is applied: what follows may build on it.
        let applies = matches!(
            operation.action,
            Action::Create | Action::Update | Action::Recreate | Action::Patch
        );
        if applies && progress.fault.is_some() {
            break;
        }
        carry_out(engine, progress, index, operation.clone()).await;
        let current = progress.context.resource(&resource.name);
        let prune = match progress.fault {
            None => plan::prune(resource, &progress.context, seen, &operation, current),
            Some(_) => None,
        };
        if let Some(prune) = prune {
            carry_out(engine, progress, index, prune).await;
        }
    }
}

/// In the reverse order, dependents first; and again as long as something went, because another gate may have waited
/// for that.
async fn take_down(
    engine: &Engine,
    progress: &mut Progress,
    stamp: &Stamp<'_>,
    found: &[Found],
    permit: Permit,
) {
    let resources = &engine.task.resources;
    let mut left: Vec<usize> = (0..resources.len()).rev().collect();
    loop {
        let mut went = false;
        let mut waiting = Vec::new();
        for index in left {
            let context = &progress.context;
            let operation = plan::decide(&resources[index], context, stamp, &found[index], permit);
            match operation.action {
                Action::Delete | Action::Detach => {
                    went |= carry_out(engine, progress, index, operation).await;
                }
                _ => waiting.push((index, operation)),
            }
        }
        if !went || waiting.is_empty() {
            for (index, operation) in waiting.into_iter().rev() {
                carry_out(engine, progress, index, operation).await;
            }
            return;
        }
        left = waiting.into_iter().map(|(index, _)| index).collect();
    }
}

/// Does it, and notes what became of it. Tells whether the object is there no more, or not ours any more.
async fn carry_out(
    engine: &Engine,
    progress: &mut Progress,
    index: usize,
    operation: Operation,
) -> bool {
    let resource = &engine.task.resources[index];
    let action = operation.action;
    let (metrics, kind) = (engine.metrics.as_ref(), resource.kind.kind.as_str());
    let under_way = metrics.and_then(|metrics| metrics.begins(action, kind));
    let started = Instant::now();
    let span = match action.touches() {
        true => info_span!(
            "operation",
            resource = resource.name,
            operation = action.as_str(),
            kind
        ),
        false => Span::none(),
    };
    let doing = execute(&operation, engine.transport_of(resource));
    let effect = doing.instrument(span).await;
    drop(under_way);
    if let Some(metrics) = metrics {
        metrics.ends(action, kind, &effect, started.elapsed());
    }
    tracing::debug!(
        resource = resource.name,
        operation = action.as_str(),
        gate = operation.gate,
        reason = operation.reason,
        ok = effect.is_ok(),
        "resource"
    );
    let went = match effect {
        Ok(Effect::Object(object)) => {
            see(progress, resource, Some(object));
            action == Action::Detach
        }
        Ok(Effect::Gone) => {
            see(progress, resource, None);
            true
        }
        Ok(Effect::Unchanged) => false,
        Err(error) => {
            refused(progress, resource, &error);
            false
        }
    };
    match action {
        Action::Blocked => progress.fail(Fault {
            phase: "resources",
            step: resource.name.clone(),
            reason: operation.cause.unwrap_or("Blocked").to_owned(),
            message: format!("resource `{}`: {}", resource.name, operation.reason),
        }),
        Action::Skip if progress.context.resource(&resource.name).is_none() => {
            progress.context.skip(&operation.reason);
            progress.work.withheld[index] = Some(operation.reason.clone());
        }
        _ => {}
    }
    progress.work.operations.push(operation);
    went
}

/// `resources.<name>`, and those carried inside it.
fn see(progress: &mut Progress, resource: &Resource, object: Option<serde_json::Value>) {
    for inner in &resource.nested {
        let parent = object.as_ref();
        let found = parent.and_then(|parent| nested::find(inner, parent, &progress.context));
        progress.context.set_resource(&inner.name, found);
    }
    progress.context.set_resource(&resource.name, object);
}

fn undiscovered(progress: &mut Progress, resource: &Resource, error: &DiscoverError) {
    match error {
        DiscoverError::Transport(error) => refused(progress, resource, error),
        DiscoverError::Render { .. } => progress.fail(Fault {
            phase: "resources",
            step: resource.name.clone(),
            reason: "TemplateError".to_owned(),
            message: error.to_string(),
        }),
    }
}

fn refused(progress: &mut Progress, resource: &Resource, error: &TransportError) {
    let message = format!("resource `{}`: {error}", resource.name);
    if error.is_transient() {
        progress.retry(&message, error.retry_after());
    }
    progress.fail(Fault {
        phase: "resources",
        step: resource.name.clone(),
        reason: error.reason().to_owned(),
        message,
    });
}
