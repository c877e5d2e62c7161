//! A resource's manifest, rendered, stamped and given its owner.

use hyperfleet_transport::ObjectRef;
use serde_json::{Value as Json, json};

use crate::context::Context;
use crate::danger::Danger;
use crate::stamp::{self, Stamp};
use crate::task::{Destination, Manifest, Resource};

/// Why there is no manifest to apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RenderError {
    /// The configuration has none.
    #[error("it has no manifest")]
    None,
    /// A template or a mark is wrong.
    #[error("{0}")]
    Failed(String),
    /// What should own it is not there yet.
    #[error("its owner `{0}` does not exist yet")]
    NoOwner(String),
    /// What should own it cannot.
    #[error("{0}")]
    ForeignOwner(String),
    /// It asks for a power it is not allowed.
    #[error("it asks for {0}, which `allow` of the resource does not name")]
    Dangerous(String),
}

/// With its owner, as it is applied.
pub(crate) fn render(
    resource: &Resource,
    context: &Context,
    stamp: &Stamp<'_>,
) -> Result<Json, RenderError> {
    let mut manifest = render_unowned(resource, context, stamp)?;
    refuse_dangers(resource, &manifest)?;
    if let Some(owner) = &resource.owner {
        let found = context.resource(owner);
        let found = found.ok_or_else(|| RenderError::NoOwner(owner.clone()))?;
        own(&mut manifest, owner, found)?;
    }
    Ok(manifest)
}

/// Without, which is enough to find it by.
pub(crate) fn render_unowned(
    resource: &Resource,
    context: &Context,
    stamp: &Stamp<'_>,
) -> Result<Json, RenderError> {
    let data = context.data();
    let rendered = match &resource.manifest {
        None => return Err(RenderError::None),
        Some(Manifest::Structure(structure)) => structure.render(&data, context.now),
        Some(Manifest::Text(template)) => template.render_yaml(&data, context.now),
    };
    let failed = |error: String| RenderError::Failed(error);
    let mut manifest = rendered.map_err(|error| failed(context.with_cause(error.to_string())))?;
    ObjectRef::of(&manifest).map_err(|error| failed(error.to_string()))?;
    // The cluster a work is for is its namespace, whatever it says itself.
    if let Destination::Maestro { cluster } = &resource.destination {
        let cluster = cluster.render(&data, context.now);
        let cluster = cluster.map_err(|error| failed(context.with_cause(error.to_string())))?;
        manifest["metadata"]["namespace"] = json!(cluster.trim());
    }
    let stamped = stamp.apply(&resource.name, &mut manifest);
    stamped.map_err(|error| failed(error.to_string()))?;
    if resource.destination.is_maestro() {
        let carried = stamp::mark_carried(&mut manifest);
        carried.map_err(|error| failed(error.to_string()))?;
    }
    Ok(manifest)
}

/// Refuses what a template made of an object that looked harmless.
pub(crate) fn refuse_dangers(resource: &Resource, object: &Json) -> Result<(), RenderError> {
    let asked = Danger::of(object);
    let refused: Vec<String> = asked
        .difference(&resource.allow)
        .map(|danger| format!("`{danger}`"))
        .collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(RenderError::Dangerous(refused.join(", "))),
    }
}

/// Kubernetes lets a namespaced owner own in its namespace only, and would collect what is owned from elsewhere.
fn own(manifest: &mut Json, name: &str, owner: &Json) -> Result<(), RenderError> {
    let namespace = |object: &Json| object["metadata"]["namespace"].as_str().map(str::to_owned);
    if let Some(theirs) = namespace(owner) {
        let ours = namespace(manifest);
        if ours.as_ref() != Some(&theirs) {
            return Err(RenderError::ForeignOwner(format!(
                "its owner `{name}` lives in the namespace `{theirs}`, and it lives in {}: an owner must live in the \
                 same namespace, or in none",
                ours.map_or_else(|| "none".to_owned(), |ours| format!("`{ours}`"))
            )));
        }
    }
    let metadata = &owner["metadata"];
    // An owner that would only just be created is known by no uid yet; only a trial without a cluster sees that.
    let uid = metadata["uid"]
        .as_str()
        .unwrap_or("(known when the owner is created)");
    let reference = json!({
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": uid,
    });
    let references = &mut manifest["metadata"]["ownerReferences"];
    match references.as_array_mut() {
        Some(written) if written.iter().any(|one| one["uid"] == reference["uid"]) => {}
        Some(written) => written.push(reference),
        None => *references = json!([reference]),
    }
    Ok(())
}
