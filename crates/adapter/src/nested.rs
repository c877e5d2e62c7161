//! Objects carried inside another one, as a ManifestWork carries them.

use hyperfleet_expr::template::Template;
use hyperfleet_transport::Selector;
use serde_json::Value as Json;

use crate::context::Context;
use crate::stamp::generation_of;
use crate::task::{DiscoverBy, Nested};

/// The object a nested discovery finds in `parent`, with the feedback the parent has about it.
pub(crate) fn find(nested: &Nested, parent: &Json, context: &Context) -> Option<Json> {
    let render = |template: &Template| template.render(&context.data(), context.now).ok();
    let discovery = &nested.discovery;
    let namespace = discovery.namespace.as_ref().and_then(render);
    let in_namespace = |object: &Json| {
        namespace
            .as_deref()
            .is_none_or(|wanted| object["metadata"]["namespace"].as_str() == Some(wanted))
    };
    let manifests = parent["spec"]["workload"]["manifests"].as_array()?;
    let candidates = manifests.iter().filter(|object| in_namespace(object));
    let found = match &discovery.by {
        DiscoverBy::Name(name) => {
            let name = render(name)?;
            let mut named = candidates
                .filter(|object| object["metadata"]["name"].as_str() == Some(name.as_str()));
            named.next()
        }
        DiscoverBy::Labels(labels) => {
            let labels = labels
                .iter()
                .map(|(key, value)| Some((render(key)?, render(value)?)));
            let selector = Selector {
                labels: labels.collect::<Option<_>>()?,
            };
            candidates
                .filter(|object| selector.matches(object))
                .max_by_key(|object| generation_of(object))
        }
    };
    found.map(|object| with_feedback(object.clone(), parent))
}

/// The feedback has no object of its own to live in, so it is put at the top of this one.
fn with_feedback(mut object: Json, parent: &Json) -> Json {
    let entries = parent["status"]["resourceStatus"]["manifests"].as_array();
    let same = |entry: &&Json| {
        let meta = &entry["resourceMeta"];
        let metadata = &object["metadata"];
        let namespace = |value: &Json| value["namespace"].as_str().unwrap_or_default().to_owned();
        meta["name"] == metadata["name"]
            && namespace(meta) == namespace(metadata)
            && (meta["kind"].is_null() || meta["kind"] == object["kind"])
    };
    if let Some(entry) = entries.into_iter().flatten().find(same) {
        for key in ["statusFeedback", "conditions"] {
            if !entry[key].is_null() {
                object[key] = entry[key].clone();
            }
        }
    }
    object
}
