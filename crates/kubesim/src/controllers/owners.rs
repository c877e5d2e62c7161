//! Garbage collection by owner references.

use std::sync::Arc;

use serde_json::Value;

use super::Reaction;
use crate::meta;
use crate::store::{Change, Verb};

pub(super) fn react(reaction: &mut Reaction<'_>, change: &Change) {
    let object = &change.object;
    let uid = meta::uid(object).to_owned();
    if change.storage == "events" {
        return;
    }
    if change.verb == Verb::Deleted {
        for (_, dependent) in reaction.state.store.dependents(&uid) {
            collect(reaction, &dependent);
        }
    } else if let Some((_, current)) = reaction.current(&uid) {
        if meta::is_deleting(&current) {
            advance_deletion(reaction, &current);
        }
        if !meta::owners(&current).is_empty() {
            collect(reaction, &current);
        }
    }
    // An owner that waits for this dependent may be able to go now.
    let owners: Vec<Value> = change
        .previous
        .iter()
        .flat_map(|previous| meta::owners(previous).to_vec())
        .chain(meta::owners(object).to_vec())
        .collect();
    for owner in owners {
        if let Some((_, owner)) = reaction.current(meta::text(&owner, "/uid"))
            && meta::is_deleting(&owner)
        {
            advance_deletion(reaction, &owner);
        }
    }
}

/// What the two garbage collection finalizers stand for.
fn advance_deletion(reaction: &mut Reaction<'_>, object: &Arc<Value>) {
    let uid = meta::uid(object);
    if meta::has_finalizer(object, meta::ORPHAN) {
        for (_, dependent) in reaction.state.store.dependents(uid) {
            drop_references(reaction, &dependent, &[uid.to_owned()]);
        }
        drop_finalizer(reaction, uid, meta::ORPHAN);
    } else if meta::has_finalizer(object, meta::FOREGROUND) {
        let dependents = reaction.state.store.dependents(uid);
        let mut blocked = false;
        for (_, dependent) in &dependents {
            blocked |= meta::owners(dependent).iter().any(|owner| {
                meta::text(owner, "/uid") == uid && owner["blockOwnerDeletion"] == true
            });
        }
        if !blocked {
            drop_finalizer(reaction, uid, meta::FOREGROUND);
        }
        for (_, dependent) in dependents {
            collect(reaction, &dependent);
        }
    }
}

fn drop_finalizer(reaction: &mut Reaction<'_>, uid: &str, finalizer: &str) {
    reaction.edit(uid, "", |object| {
        let rest = meta::finalizers(object)
            .into_iter()
            .filter(|f| *f != finalizer)
            .map(str::to_owned)
            .collect();
        meta::set_finalizers(object, rest);
    });
}

fn drop_references(reaction: &mut Reaction<'_>, dependent: &Value, owners: &[String]) {
    reaction.edit(meta::uid(dependent), "", |object| {
        let rest: Vec<Value> = meta::owners(object)
            .iter()
            .filter(|owner| !owners.iter().any(|uid| meta::text(owner, "/uid") == uid))
            .cloned()
            .collect();
        let metadata = meta::metadata_mut(object);
        if rest.is_empty() {
            metadata.remove("ownerReferences");
        } else {
            metadata.insert("ownerReferences".into(), rest.into());
        }
    });
}

#[derive(PartialEq)]
enum Owner {
    Solid,
    /// Gone, or never there under that name and uid.
    Absent,
    /// Going, as soon as its dependents have.
    Waiting,
    /// Of a kind nobody serves: nothing can be said.
    Unknown,
}

/// Deletes a dependent without an owner; strips references to owners that are gone from one that still has another.
fn collect(reaction: &mut Reaction<'_>, dependent: &Value) {
    if meta::is_deleting(dependent) && !meta::has_finalizer(dependent, meta::FOREGROUND) {
        return;
    }
    let owners: Vec<(String, Owner)> = meta::owners(dependent)
        .iter()
        .map(|owner| {
            (
                meta::text(owner, "/uid").to_owned(),
                classify(reaction, dependent, owner),
            )
        })
        .collect();
    let has = |kind: Owner| owners.iter().any(|(_, owner)| *owner == kind);
    if owners.is_empty() || has(Owner::Unknown) {
        return;
    }
    if has(Owner::Solid) {
        let gone: Vec<String> = owners
            .iter()
            .filter(|(_, owner)| *owner != Owner::Solid)
            .map(|(uid, _)| uid.clone())
            .collect();
        if !gone.is_empty() {
            drop_references(reaction, dependent, &gone);
        }
        return;
    }
    if meta::is_deleting(dependent) {
        return;
    }
    let has_dependents = !reaction
        .state
        .store
        .dependents(meta::uid(dependent))
        .is_empty();
    let policy = if has(Owner::Waiting) && has_dependents {
        "Foreground"
    } else if meta::has_finalizer(dependent, meta::ORPHAN) {
        "Orphan"
    } else if meta::has_finalizer(dependent, meta::FOREGROUND) {
        "Foreground"
    } else {
        "Background"
    };
    reaction.delete(dependent, policy);
}

fn classify(reaction: &Reaction<'_>, dependent: &Value, owner: &Value) -> Owner {
    let (api_version, kind) = (meta::text(owner, "/apiVersion"), meta::text(owner, "/kind"));
    let Some(resource) = reaction.state.catalog.find_kind(api_version, kind) else {
        return Owner::Unknown;
    };
    let namespace = if resource.namespaced {
        meta::namespace(dependent)
    } else {
        ""
    };
    match reaction
        .state
        .store
        .get(&resource.storage(), namespace, meta::text(owner, "/name"))
    {
        Some(found) if meta::uid(found) == meta::text(owner, "/uid") => {
            if meta::is_deleting(found) && meta::has_finalizer(found, meta::FOREGROUND) {
                Owner::Waiting
            } else {
                Owner::Solid
            }
        }
        _ => Owner::Absent,
    }
}
