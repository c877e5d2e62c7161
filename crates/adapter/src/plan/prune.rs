//! Old versions that have been kept long enough.

use hyperfleet_core::time::Time;
use hyperfleet_transport::Propagation;
use serde_json::Value as Json;

use super::{Action, Found, Operation, Target, is_terminating};
use crate::context::Context;
use crate::task::Resource;

/// What goes after `operation` has left `current` as the version that counts. Nothing goes unless that is certain.
pub fn prune(
    resource: &Resource,
    context: &Context,
    found: &Found,
    operation: &Operation,
    current: Option<&Json>,
) -> Option<Operation> {
    let retention = resource.retention.as_ref()?;
    let settled = match operation.action {
        Action::Create | Action::Update | Action::Recreate | Action::Patch => true,
        // A resource whose own `when` does not hold is left as it is, old versions included.
        Action::Skip => operation.gate != Some(super::decide::WHEN),
        Action::Detach | Action::Delete | Action::Prune | Action::Nothing | Action::Blocked => {
            false
        }
    };
    let current = current.filter(|_| settled)?;
    let is_current = |version: &Json| match (uid(version), uid(current)) {
        (Some(one), Some(other)) => one == other,
        _ => version["metadata"]["name"] == current["metadata"]["name"],
    };
    // The newest come first; of two that were made in the same second, the one that comes later in there is older.
    let old: Vec<&Json> = found
        .versions
        .iter()
        .rev()
        .filter(|version| !is_current(version) && !is_terminating(version))
        .collect();
    let created: Vec<Option<Time>> = old.iter().map(|version| created(version)).collect();
    let targets: Vec<Target> = retention
        .expired(&created, context.now)
        .into_iter()
        .filter_map(|index| Target::of(&resource.kind, old[index], Propagation::Background))
        .collect();
    if targets.is_empty() {
        return None;
    }
    let reason = format!(
        "{} of {} old versions are kept no longer",
        targets.len(),
        old.len()
    );
    Some(Operation {
        resource: resource.name.clone(),
        action: Action::Prune,
        reason,
        gate: Some("retention"),
        object: None,
        manifest: None,
        patches: Vec::new(),
        targets,
        cause: None,
    })
}

fn uid(version: &Json) -> Option<&str> {
    version["metadata"]["uid"].as_str()
}

fn created(version: &Json) -> Option<Time> {
    version["metadata"]["creationTimestamp"]
        .as_str()?
        .parse()
        .ok()
}
