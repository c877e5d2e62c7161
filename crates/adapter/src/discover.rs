//! What the target has, before anything is decided.

use std::cmp::Reverse;

use hyperfleet_expr::template::Template;
use hyperfleet_transport::{Failure, Mode, ObjectRef, Selector, Transport, TransportError};
use serde_json::Value as Json;

use crate::context::Context;
use crate::drift;
use crate::owned;
use crate::plan::{self, Drift, Found, RenderError};
use crate::stamp::{ADAPTER, ALIAS, Stamp, generation_of};
use crate::task::{Destination, DiscoverBy, Discovery, Resource};

/// Why it is not known what the target has.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiscoverError {
    #[error("cannot render the discovery of `{resource}`: {message}")]
    Render { resource: String, message: String },
    #[error("{0}")]
    Transport(#[from] TransportError),
}

/// All versions of a resource, the current one first.
pub(crate) async fn discover(
    resource: &Resource,
    context: &Context,
    stamp: &Stamp<'_>,
    transport: &dyn Transport,
) -> Result<Found, DiscoverError> {
    let manifest = plan::render_unowned(resource, context, stamp);
    let found = find(resource, context, &manifest, stamp.adapter, transport).await;
    let mut versions = match found {
        Ok(versions) => versions,
        // Nothing of a kind that does not exist can exist.
        Err(DiscoverError::Transport(error))
            if matches!(error.failure, Failure::UnknownKind { .. }) =>
        {
            Vec::new()
        }
        Err(error) => return Err(error),
    };
    order(&mut versions, context.generation);
    Ok(Found {
        versions,
        drift: Drift::None,
    })
}

/// How the current version differs from what would be applied, once everything it may refer to is known.
pub(crate) async fn drift(
    resource: &Resource,
    context: &Context,
    stamp: &Stamp<'_>,
    found: &Found,
    transport: &dyn Transport,
) -> Result<Drift, TransportError> {
    match (found.current(), plan::render(resource, context, stamp)) {
        (Some(live), Ok(manifest)) if !context.deleting => {
            drifted(resource, &manifest, live, (transport, stamp.adapter)).await
        }
        _ => Ok(Drift::None),
    }
}

async fn find(
    resource: &Resource,
    context: &Context,
    manifest: &Result<Json, RenderError>,
    adapter: &str,
    transport: &dyn Transport,
) -> Result<Vec<Json>, DiscoverError> {
    let failed = |message: String| DiscoverError::Render {
        resource: resource.name.clone(),
        message,
    };
    let named = |manifest: &Result<Json, RenderError>| {
        let manifest = manifest.as_ref();
        let manifest = manifest.map_err(|error| failed(error.to_string()))?;
        ObjectRef::of(manifest).map_err(|error| failed(error.to_string()))
    };
    let Some(discovery) = &resource.discovery else {
        let object = named(manifest)?;
        return Ok(transport.get(&object).await?.into_iter().collect());
    };
    let render = |template: &Template| {
        let text = template.render(&context.data(), context.now);
        text.map_err(|error| failed(error.to_string()))
    };
    let namespace = match &resource.destination {
        Destination::Kubernetes => discovery.namespace.as_ref().map(render).transpose()?,
        Destination::Maestro { cluster } => Some(render(cluster)?.trim().to_owned()),
    };
    match &discovery.by {
        DiscoverBy::Name(name) => {
            let name = render(name)?;
            // Without a namespace of its own, it is looked for where it is applied.
            let namespace = match namespace {
                Some(namespace) => Some(namespace),
                None => named(manifest).ok().and_then(|object| object.namespace),
            };
            let object = resource.kind.named(namespace.as_deref(), &name);
            Ok(transport.get(&object).await?.into_iter().collect())
        }
        DiscoverBy::Labels(_) => {
            let selector = selector(discovery, &render)?;
            let list = transport.list(&resource.kind, namespace.as_deref(), &selector);
            let mut versions = list.await?;
            let said = manifest.as_ref().ok();
            let said = said.and_then(|manifest| manifest["metadata"]["labels"][ADAPTER].as_str());
            let adapter = said.unwrap_or(adapter);
            versions.retain(|version| is_version(version, adapter, &resource.name));
            Ok(versions)
        }
    }
}

/// Labels are often those of the owner alone: what says that it belongs to another adapter, or to another resource of
/// this one, is no version of this resource.
fn is_version(object: &Json, adapter: &str, alias: &str) -> bool {
    let metadata = &object["metadata"];
    let says = |mark: &Json, ours: &str| mark.as_str().is_none_or(|mark| mark == ours);
    says(&metadata["labels"][ADAPTER], adapter) && says(&metadata["annotations"][ALIAS], alias)
}

fn selector(
    discovery: &Discovery,
    render: &impl Fn(&Template) -> Result<String, DiscoverError>,
) -> Result<Selector, DiscoverError> {
    let DiscoverBy::Labels(labels) = &discovery.by else {
        return Ok(Selector::default());
    };
    let labels = labels
        .iter()
        .map(|(key, value)| Ok((render(key)?, render(value)?)));
    Ok(Selector {
        labels: labels.collect::<Result<_, DiscoverError>>()?,
    })
}

/// The version of this generation first, else the newest; what is on its way out counts last.
pub(crate) fn order(versions: &mut [Json], generation: Option<i64>) {
    let metadata = |version: &Json, key: &str| {
        version["metadata"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    versions.sort_by_key(|version| {
        let of = generation_of(version);
        (
            plan::is_terminating(version),
            of != generation,
            Reverse(of),
            Reverse(metadata(version, "creationTimestamp")),
            // Two of the same second: names that count up or tell the time put the newest last.
            Reverse(metadata(version, "name")),
        )
    });
}

/// Asks the server only about differences that can be seen, and believes it: it knows which ways
/// of writing a value are the same.
async fn drifted(
    resource: &Resource,
    manifest: &Json,
    live: &Json,
    (transport, adapter): (&dyn Transport, &str),
) -> Result<Drift, TransportError> {
    let same_object = live["metadata"]["name"] == manifest["metadata"]["name"];
    let same_generation = generation_of(live) == generation_of(manifest);
    if !same_object || !same_generation || plan::is_terminating(live) {
        return Ok(Drift::None);
    }
    let abandoned = match resource.destination {
        Destination::Kubernetes => {
            let manager = format!("hyperfleet-adapter/{adapter}");
            owned::abandoned(&manager, manifest, live)
        }
        // Nobody else writes to the spec of a work, so all of it is ours.
        Destination::Maestro { .. } => drift::differences(&live["spec"], &manifest["spec"]),
    };
    if drift::differences(manifest, live).is_empty() && abandoned.is_empty() {
        return Ok(Drift::None);
    }
    match transport.apply(manifest, Mode::DryRun).await {
        Ok(after) => {
            let changes = drift::changes(live, &after);
            Ok(match changes.is_empty() {
                true => Drift::None,
                false => Drift::Fields(changes),
            })
        }
        Err(error) => match error.failure {
            Failure::Invalid { message, .. } => Ok(Drift::Immutable(message)),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::stamp::GENERATION;

    #[test]
    fn the_version_of_this_generation_comes_first_then_the_newest() {
        let version = |name: &str, generation: i64| {
            json!({"metadata": {"name": name,
                "annotations": {GENERATION: generation.to_string()}}})
        };
        let names = |generation: Option<i64>| {
            let mut versions = vec![version("a", 1), version("c", 3), version("b", 2)];
            order(&mut versions, generation);
            let names = versions
                .iter()
                .map(|version| version["metadata"]["name"].clone());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(Some(2)), ["b", "c", "a"]);
        assert_eq!(names(Some(9)), ["c", "b", "a"]);
    }
}
