//! Removal of custom kinds: their objects go first.

use std::sync::Arc;

use serde_json::Value;

use super::Reaction;
use crate::cluster::CUSTOM_CLEANUP;
use crate::meta;
use crate::store::{Change, Verb};

pub(super) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

pub(super) fn react(reaction: &mut Reaction<'_>, change: &Change) {
    if change.storage == DEFINITIONS {
        if change.verb == Verb::Deleted {
            reaction.state.catalog.forget_custom(&change.object);
        } else if meta::is_deleting(&change.object) {
            clean(reaction, meta::name(&change.object));
        }
    } else if change.verb == Verb::Deleted {
        clean(reaction, &change.storage);
    }
}

/// A definition is named like the storage of its objects.
fn clean(reaction: &mut Reaction<'_>, storage: &str) {
    let Some(definition) = reaction.state.store.get(DEFINITIONS, "", storage).cloned() else {
        return;
    };
    if !meta::is_deleting(&definition) {
        return;
    }
    let objects: Vec<Arc<Value>> = reaction
        .state
        .store
        .range(storage, "", None)
        .map(|(_, object)| Arc::clone(object))
        .collect();
    for object in objects.iter().filter(|o| !meta::is_deleting(o)) {
        reaction.delete(object, "Background");
    }
    if reaction.state.store.count(storage) == 0 {
        reaction.edit(meta::uid(&definition), "", |object| {
            let rest = meta::finalizers(object)
                .into_iter()
                .filter(|f| *f != CUSTOM_CLEANUP)
                .map(str::to_owned)
                .collect();
            meta::set_finalizers(object, rest);
        });
    }
}
