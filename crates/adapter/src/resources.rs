//! Resources brought to where they should be: discovered together, then decided and done in order.

use futures::future::join_all;
use hyperfleet_transport::TransportError;

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
    let resources = &engine.task.resources;
    let stamp = Stamp {
        adapter: &engine.identity.name,
        resource_id: &progress.context.subject.id.clone(),
        generation: progress.context.generation,
    };
    let transport = engine.transport.as_ref();
    let looks = resources
        .iter()
        .map(|resource| discover::discover(resource, &progress.context, &stamp, transport));
    let mut found = Vec::with_capacity(resources.len());
    for (resource, look) in resources.iter().zip(join_all(looks).await) {
        match look {
            Ok(seen) => found.push(seen),
            Err(error) => {
                undiscovered(progress, resource, &error);
                found.push(Found::default());
            }
        }
    }
    if progress.fault.is_some() {
        return;
    }
    for (resource, seen) in resources.iter().zip(&found) {
        see(progress, resource, seen.current().cloned());
    }
    for (index, (resource, seen)) in resources.iter().zip(&found).enumerate() {
        let context = &progress.context;
        let operation = plan::decide(resource, context, &stamp, seen, permit);
        // After a failed apply nothing more is applied: what follows may build on it.
        let applies = matches!(
            operation.action,
            Action::Create | Action::Update | Action::Recreate
        );
        if applies && progress.fault.is_some() {
            break;
        }
        carry_out(engine, progress, resource, index, operation).await;
    }
}

async fn carry_out(
    engine: &Engine,
    progress: &mut Progress,
    resource: &Resource,
    index: usize,
    operation: Operation,
) {
    let action = operation.action;
    let effect = execute(&operation, engine.transport.as_ref()).await;
    tracing::debug!(
        resource = resource.name,
        operation = action.as_str(),
        reason = operation.reason,
        ok = effect.is_ok(),
        "resource"
    );
    if let Some(metrics) = &engine.metrics {
        metrics.operation(action.as_str(), &resource.kind.kind, effect.is_ok());
    }
    match effect {
        Ok(Effect::Object(object)) => see(progress, resource, Some(object)),
        Ok(Effect::Gone) => see(progress, resource, None),
        Ok(Effect::Unchanged) => {}
        Err(error) => refused(progress, resource, &error),
    }
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
