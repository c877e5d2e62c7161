//! Field management: who owns which field, what an apply changes, and when it conflicts.
//!
//! The rules are those of structured-merge-diff, which kube-apiserver uses: [`apply`] merges a configuration and removes
//! what its manager stopped applying, [`update`] records who changed what by any other verb.

mod compare;
mod conflict;
mod fieldset;
mod managers;
mod merge;
mod remove;
mod walk;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::failure::Failure;
use crate::meta;
use crate::schema::Shape;

use compare::compare;
use fieldset::Set;
use managers::{Entry, Managers, Operation};
use walk::{name_fields, to_set};

pub(crate) use walk::check;

/// On whose behalf a write happens.
#[derive(Debug, Clone)]
pub(crate) struct Writer<'a> {
    pub manager: &'a str,
    pub api_version: &'a str,
    pub subresource: &'a str,
    pub now: DateTime<Utc>,
}

/// Owner of what was there before anyone applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Update managers kept apart before the oldest are folded together.
const MAX_UPDATE_MANAGERS: usize = 10;

/// Records in `new.metadata.managedFields` what a create, update or patch changed compared to `live`.
///
/// `reset` are the fields this endpoint may not write; they never become owned.
pub(crate) fn update(
    shape: &Shape,
    live: &Value,
    new: &mut Value,
    reset: &[&str],
    writer: &Writer<'_>,
) {
    let mut managers = incoming_managers(live, new);
    strip_managed(new);
    // Ownership is tracked from creation on; an object that lost it gets it back with its first apply.
    if !meta::uid(live).is_empty() && managers.is_empty() {
        return;
    }
    let mut old = live.clone();
    strip_managed(&mut old);

    let changes = compare(shape, &old, new).without(&ignored(reset));
    managers.lose(
        None,
        &changes
            .removed
            .union(&changes.modified)
            .union(&changes.added),
    );
    let mine = changes
        .modified
        .union(&changes.added)
        .difference(&stripped());
    if !mine.is_empty() {
        let id = managers::Id::new(writer, Operation::Update);
        let before = managers.set(&id);
        managers.put(
            id,
            Entry {
                set: before.union(&mine),
                time: Some(writer.now),
            },
        );
    }
    managers.cap(MAX_UPDATE_MANAGERS);
    managers.write(new);
}

/// Merges `config` into `live` for its manager. Returns the object to store.
pub(crate) fn apply(
    shape: &Shape,
    live: &Value,
    config: &Value,
    reset: &[&str],
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value, Failure> {
    let mut managers = Managers::read(live);
    let mut old = live.clone();
    strip_managed(&mut old);
    if !meta::uid(live).is_empty() && managers.is_empty() {
        let nothing = serde_json::json!({ "metadata": {} });
        let changes = compare(shape, &nothing, &old).without(&ignored(reset));
        let before = Writer {
            manager: BEFORE_FIRST_APPLY,
            ..writer.clone()
        };
        let set = changes.added.difference(&stripped());
        managers.put(
            managers::Id::new(&before, Operation::Update),
            Entry {
                set,
                time: Some(writer.now),
            },
        );
    }

    let merged = merge::merge(shape, &old, config);
    let id = managers::Id::new(writer, Operation::Apply);
    let last = managers.set(&id);
    let mine = to_set(shape, config).difference(&ignored(reset));
    let previous_time = managers.time(&id);
    managers.put(
        id.clone(),
        Entry {
            set: mine,
            time: previous_time,
        },
    );
    let new = prune(shape, merged, &managers, &last);

    let changes = compare(shape, &old, &new).without(&ignored(reset));
    let taken = changes.modified.union(&changes.added);
    let conflicts = managers.conflicts(&id, &taken);
    if !force && !conflicts.is_empty() {
        return Err(conflict::failure(&conflicts));
    }
    managers.lose(Some(&id), &taken.union(&changes.removed));
    let own = managers.set(&id).difference(&stripped());
    let time = if new == old && last.difference(&stripped()) == own {
        previous_time
    } else {
        Some(writer.now)
    };
    managers.put(id, Entry { set: own, time });
    let mut new = new;
    managers.write(&mut new);
    Ok(new)
}

/// Removes what this manager applied before, does not apply now, and nobody else owns.
fn prune(shape: &Shape, merged: Value, managers: &Managers, last: &Set) -> Value {
    if last.is_empty() {
        return merged;
    }
    let pruned = remove::remove(shape, &merged, &name_fields(shape, last));
    let merged_set = name_fields(shape, &to_set(shape, &merged));
    let owned = name_fields(shape, &managers.all());
    let kept = name_fields(shape, &to_set(shape, &pruned)).union(&owned);
    let pruned = remove::remove(shape, &merged, &merged_set.difference(&kept));
    let pruned_set = name_fields(shape, &to_set(shape, &pruned));
    let gone = merged_set
        .difference(&pruned_set)
        .intersection(&name_fields(shape, last));
    remove::remove(shape, &merged, &gone)
}

/// A client may rewrite managedFields by sending them; sending none keeps the stored ones, an empty list clears them.
fn incoming_managers(live: &Value, new: &Value) -> Managers {
    match new
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array)
    {
        // `[{}]` is the documented way to clear all ownership; an empty list does nothing.
        Some(list) if list.len() == 1 && list[0].as_object().is_some_and(|e| e.is_empty()) => {
            Managers::default()
        }
        Some(list) if !list.is_empty() => Managers::read(new),
        _ => Managers::read(live),
    }
}

fn strip_managed(object: &mut Value) {
    if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.remove("managedFields");
    }
}

/// Fields nobody owns: the server writes them.
fn stripped() -> Set {
    let mut set = Set::default();
    for path in [&["f:apiVersion"][..], &["f:kind"], &["f:metadata"]] {
        set.insert(path);
    }
    for field in [
        "f:name",
        "f:namespace",
        "f:creationTimestamp",
        "f:selfLink",
        "f:uid",
        "f:clusterName",
        "f:generation",
        "f:managedFields",
        "f:resourceVersion",
    ] {
        set.insert(&["f:metadata", field]);
    }
    set
}

fn ignored(reset: &[&str]) -> Set {
    let mut set = Set::default();
    for field in reset {
        set.insert_tree(&format!("f:{field}"));
    }
    set
}
