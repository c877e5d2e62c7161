//! Deleting, finalizers and what happens to dependents.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Call, State, list};
use crate::catalog::Resource;
use crate::failure::{Cause, Failure};
use crate::meta;
use crate::store::Key;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// The body and query of a DELETE.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteOptions {
    propagation: Option<Propagation>,
    uid: Option<String>,
    resource_version: Option<String>,
    pub dry_run: bool,
}

impl DeleteOptions {
    pub(crate) fn parse(call: &Call<'_>, body: Option<&Value>) -> Result<DeleteOptions, Failure> {
        let query = call.query;
        let empty = json!({});
        let body = body.unwrap_or(&empty);
        let policy = body["propagationPolicy"]
            .as_str()
            .or(query.propagation_policy.as_deref());
        let orphan = body["orphanDependents"]
            .as_bool()
            .or(query.orphan_dependents);
        let invalid = |cause: Cause| Failure::invalid_options("DeleteOptions", cause);
        let propagation = match (policy, orphan) {
            (Some(policy), Some(_)) => {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                return Err(invalid(Cause::invalid(
                    "propagationPolicy",
                    &policy.into(),
                    why,
                )));
            }

            (Some("Background"), None) => Some(Propagation::Background),
            (Some("Foreground"), None) => Some(Propagation::Foreground),
            (Some("Orphan"), None) => Some(Propagation::Orphan),
            (Some(other), None) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                return Err(invalid(Cause::unsupported(
                    "propagationPolicy",
                    &other.into(),
                    &supported,
                )));
            }

            (None, Some(true)) => Some(Propagation::Orphan),
            (None, Some(false)) => Some(Propagation::Background),
            (None, None) => None,
        };
        let text = |pointer: &str| {
            body.pointer(pointer)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let dry_run = match body["dryRun"].as_array().map(Vec::as_slice) {
            None | Some([]) => query.dry_run,
            Some([all]) if all == "All" => true,
            Some(_) => {
                return Err(invalid(Cause::unsupported(
                    "dryRun",
                    &body["dryRun"],
                    &["All"],
                )));
            }
        };

        Ok(DeleteOptions {
            propagation,
            uid: text("/preconditions/uid"),
            resource_version: text("/preconditions/resourceVersion"),
            dry_run,
        })
    }
}

/// Deletes at once, or marks as deleting when something has to happen first.
pub(crate) fn delete(
    state: &mut State,
    call: &Call<'_>,
    options: &DeleteOptions,
) -> Result<Answer, Failure> {
    let old = state.get(call)?;
    check_preconditions(call, &old, options)?;
    let resource = call.resource;
    let mut object = (*old).clone();
    let mut finalizers: Vec<String> = meta::finalizers(&old)
        .into_iter()
        .map(str::to_owned)
        .collect();
    finalizers.retain(|f| f != meta::ORPHAN && f != meta::FOREGROUND);
    match propagation(resource, &old, options) {
        Propagation::Orphan => finalizers.push(meta::ORPHAN.into()),
        Propagation::Foreground => finalizers.push(meta::FOREGROUND.into()),
        Propagation::Background => {}
    }
    if resource.is("customresourcedefinitions.apiextensions.k8s.io")
        && !finalizers.iter().any(|f| f == CUSTOM_CLEANUP)
        && !meta::is_deleting(&old)
    {
        finalizers.push(CUSTOM_CLEANUP.into());
    }
    let held_by_spec =
        resource.is("namespaces") && !meta::list(&old, "/spec/finalizers").is_empty();
    if finalizers.is_empty() && !held_by_spec {
        if !options.dry_run {
            state.store.remove(&resource.storage(), &Key::of(&old));
        }
        return Ok(Answer::ok(deleted(call, &old)));
    }
    meta::set_finalizers(&mut object, finalizers);
    if !meta::is_deleting(&old) {
        let metadata = meta::metadata_mut(&mut object);
        metadata.insert("deletionTimestamp".into(), meta::time(call.now).into());
        // Namespaces and definitions do not count seconds; everything else does, and there is no kubelet to wait for.
        if !held_by_spec {
            metadata.insert("deletionGracePeriodSeconds".into(), 0.into());
            let generation = meta::generation(&old);
            if generation > 0 {
                meta::metadata_mut(&mut object)
                    .insert("generation".into(), (generation + 1).into());
            }
        } else {
            object["status"]["phase"] = "Terminating".into();
        }
    }
    if options.dry_run || object == *old {
        return Ok(Answer::ok(object));
    }
    let stored = state.store.put(&resource.storage(), object);
    Ok(Answer::ok(stored))
}

/// Finalizer that keeps a definition until its objects are gone.
pub(crate) const CUSTOM_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

fn check_preconditions(
    call: &Call<'_>,
    old: &Value,
    options: &DeleteOptions,
) -> Result<(), Failure> {
    let check = |what: &str, wanted: &Option<String>, found: &str, guess: &str| match wanted {
        Some(wanted) if wanted != found => {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). The object might have been {guess}"
            );
            Err(Failure::conflict_of_kind(call.resource, call.name, &why))
        }
        _ => Ok(()),
    };
    check(
        "UID",
        &options.uid,
        meta::uid(old),
        "deleted and then recreated",
    )?;
    let version = meta::text(old, "/metadata/resourceVersion");
    check(
        "ResourceVersion",
        &options.resource_version,
        version,
        "modified",
    )
}

fn propagation(resource: &Resource, old: &Value, options: &DeleteOptions) -> Propagation {
    // These are never owners in the garbage collector's eyes.
    if ["events", "events.events.k8s.io"]
        .iter()
        .any(|r| resource.is(r))
    {
        return Propagation::Background;
    }
    options.propagation.unwrap_or_else(|| {
        if meta::has_finalizer(old, meta::ORPHAN) {
            Propagation::Orphan
        } else if meta::has_finalizer(old, meta::FOREGROUND) {
            Propagation::Foreground
        } else if resource.is("jobs.batch") || resource.is("replicationcontrollers") {
            // batch/v1 kept orphaning as its default when the other workloads moved on.
            Propagation::Orphan
        } else {
            Propagation::Background
        }
    })
}

/// What a completed deletion answers with: the object for pods and namespaces, a Status for the rest.
fn deleted(call: &Call<'_>, old: &Arc<Value>) -> Value {
    let mut details =
        json!({ "name": call.name, "kind": call.resource.plural, "uid": meta::uid(old) });
    if !call.resource.group.is_empty() {
        details["group"] = call.resource.group.as_str().into();
    }
    if returns_object(call.resource) {
        return (**old).clone();
    }
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details })
}

fn returns_object(resource: &Resource) -> bool {
    [
        "pods",
        "services",
        "serviceaccounts",
        "persistentvolumes",
        "persistentvolumeclaims",
        "podtemplates",
        "resourcequotas",
    ]
    .iter()
    .any(|r| resource.is(r))
}

pub(crate) fn delete_collection(
    state: &mut State,
    call: &Call<'_>,
    options: &DeleteOptions,
) -> Result<(Vec<Arc<Value>>, u64), Failure> {
    let page = list(state, call)?;
    for object in &page.items {
        let one = Call {
            name: meta::name(object),
            namespace: meta::namespace(object),
            ..call.clone()
        };
        match delete(state, &one, options) {
            Ok(_) => {}
            Err(failure) if failure.code == 404 => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok((page.items, state.store.revision()))
}

/// Removes an object that is being deleted and whose last finalizer is gone.
pub(crate) fn remove_if_finalized(state: &mut State, storage: &str, object: &Value) -> bool {
    let held_by_spec =
        storage == "namespaces" && !meta::list(object, "/spec/finalizers").is_empty();
    let done = meta::is_deleting(object) && meta::finalizers(object).is_empty() && !held_by_spec;
    if done {
        state.store.remove(storage, &Key::of(object));
    }
    done
}
