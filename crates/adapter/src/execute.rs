//! Operations, carried out.

use std::time::Duration;

use hyperfleet_transport::{Delete, Failure, Mode, Transport, TransportError};
use serde_json::Value as Json;
use tokio::time::{Instant, sleep};

use crate::plan::{Action, Operation, Target};
use crate::stamp;

/// What the target has after an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// This object.
    Object(Json),
    /// Nothing any more.
    Gone,
    /// What it had before.
    Unchanged,
}

/// How long a replaced object may take to go. Longer, and the next event finishes the job.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a deleted object is waited for. Most go at once, and then the owner is finalized by
/// this event rather than by the next.
const GLANCE: Duration = Duration::from_millis(500);

pub(crate) async fn execute(
    operation: &Operation,
    transport: &dyn Transport,
) -> Result<Effect, TransportError> {
    match operation.action {
        Action::Create | Action::Update => apply(operation, transport).await,
        Action::Recreate => {
            for target in &operation.targets {
                delete(target, transport).await?;
            }
            for target in &operation.targets {
                if let Some(remaining) = wait_until_gone(target, transport, PATIENCE).await? {
                    return Ok(Effect::Object(remaining));
                }
            }
            apply(operation, transport).await
        }
        Action::Delete => {
            for target in &operation.targets {
                delete(target, transport).await?;
            }
            for target in &operation.targets {
                if let Some(remaining) = wait_until_gone(target, transport, GLANCE).await? {
                    return Ok(Effect::Object(remaining));
                }
            }
            Ok(Effect::Gone)
        }
        Action::Patch => patch(operation, transport).await,
        Action::Detach => detach(&operation.targets, transport).await,
        Action::Prune => {
            for target in &operation.targets {
                delete(target, transport).await?;
            }
            Ok(Effect::Unchanged)
        }
        Action::Skip | Action::Nothing | Action::Blocked => Ok(Effect::Unchanged),
    }
}

async fn apply(operation: &Operation, transport: &dyn Transport) -> Result<Effect, TransportError> {
    match &operation.manifest {
        Some(manifest) => Ok(Effect::Object(
            transport.apply(manifest, Mode::Commit).await?,
        )),
        None => Ok(Effect::Unchanged),
    }
}

async fn patch(operation: &Operation, transport: &dyn Transport) -> Result<Effect, TransportError> {
    let mut effect = Effect::Unchanged;
    let Some(object) = &operation.object else {
        return Ok(effect);
    };
    for patch in &operation.patches {
        effect = Effect::Object(transport.patch(object, patch).await?);
    }
    Ok(effect)
}

/// One that went meanwhile needs no letting go. The first is the current one.
async fn detach(targets: &[Target], transport: &dyn Transport) -> Result<Effect, TransportError> {
    let mut effect = None;
    for target in targets {
        let patch = stamp::unmark(target.uid.as_deref());
        let after = match transport.patch(&target.object, &patch).await {
            Ok(object) => Effect::Object(object),
            Err(error) if matches!(error.failure, Failure::NotFound { .. }) => Effect::Gone,
            Err(error) => return Err(error),
        };
        effect.get_or_insert(after);
    }
    Ok(effect.unwrap_or(Effect::Unchanged))
}

async fn delete(target: &Target, transport: &dyn Transport) -> Result<(), TransportError> {
    let options = Delete {
        propagation: target.propagation,
        uid: target.uid.clone(),
        resource_version: None,
    };
    transport.delete(&target.object, &options).await.map(drop)
}

/// The object, as long as it is still the same one.
async fn remaining(
    target: &Target,
    transport: &dyn Transport,
) -> Result<Option<Json>, TransportError> {
    let object = transport.get(&target.object).await?;
    Ok(object.filter(|object| {
        target.uid.is_none() || object["metadata"]["uid"].as_str() == target.uid.as_deref()
    }))
}

async fn wait_until_gone(
    target: &Target,
    transport: &dyn Transport,
    patience: Duration,
) -> Result<Option<Json>, TransportError> {
    let end = Instant::now() + patience;
    let mut pause = Duration::from_millis(20);
    loop {
        match remaining(target, transport).await? {
            None => return Ok(None),
            Some(object) if Instant::now() + pause > end => return Ok(Some(object)),
            Some(_) => sleep(pause).await,
        }
        pause = (pause * 2).min(Duration::from_secs(1));
    }
}
