//! What a namespace brings with it, and how it goes.

use std::sync::Arc;

use chrono::Utc;
use serde_json::{Value, json};

use super::Reaction;
use crate::meta;
use crate::store::{Change, Verb};

pub(super) fn react(reaction: &mut Reaction<'_>, change: &Change) {
    let object = &change.object;
    if change.storage == "namespaces" {
        if change.verb == Verb::Deleted {
            return;
        }
        if meta::is_deleting(object) {
            empty(reaction, meta::name(object));
        } else if change.verb == Verb::Added {
            furnish(reaction, meta::name(object));
        }
        return;
    }
    let name = meta::namespace(object).to_owned();
    if change.verb == Verb::Deleted && !name.is_empty() {
        let Some(namespace) = reaction.state.store.get("namespaces", "", &name).cloned() else {
            return;
        };
        if meta::is_deleting(&namespace) {
            empty(reaction, &name);
        } else if ["serviceaccounts", "configmaps"].contains(&change.storage.as_str()) {
            furnish(reaction, &name);
        }
    }
}

/// Every namespace has a default service account and the cluster's CA bundle; they come back when deleted.
fn furnish(reaction: &mut Reaction<'_>, namespace: &str) {
    if reaction
        .state
        .store
        .get("serviceaccounts", namespace, "default")
        .is_none()
    {
        reaction.create(
            "",
            "serviceaccounts",
            namespace,
            json!({ "metadata": { "name": "default" } }),
        );
    }
    if reaction
        .state
        .store
        .get("configmaps", namespace, "kube-root-ca.crt")
        .is_none()
    {
        let bundle = json!({
            "metadata": {
                "name": "kube-root-ca.crt",
                "annotations": { "kubernetes.io/description": "kubesim serves plain HTTP: there is no CA." },
            },
            "data": { "ca.crt": "" },
        });
        reaction.create("", "configmaps", namespace, bundle);
    }
}

/// Deletes what is left, and lets the namespace go when nothing is.
fn empty(reaction: &mut Reaction<'_>, namespace: &str) {
    let storages: Vec<String> = reaction.state.store.storages().cloned().collect();
    let contents: Vec<Arc<Value>> = storages
        .iter()
        .filter(|storage| {
            reaction
                .state
                .catalog
                .find_storage(storage)
                .is_some_and(|r| r.namespaced)
        })
        .flat_map(|storage| {
            reaction
                .state
                .store
                .range(storage, namespace, None)
                .map(|(_, o)| Arc::clone(o))
        })
        .collect();
    for object in contents.iter().filter(|o| !meta::is_deleting(o)) {
        reaction.delete(object, "Background");
    }
    let Some(object) = reaction
        .state
        .store
        .get("namespaces", "", namespace)
        .cloned()
    else {
        return;
    };
    let remaining: Vec<String> = storages
        .iter()
        .filter(|storage| {
            reaction
                .state
                .catalog
                .find_storage(storage)
                .is_some_and(|r| r.namespaced)
        })
        .filter(|storage| {
            reaction
                .state
                .store
                .range(storage, namespace, None)
                .next()
                .is_some()
        })
        .cloned()
        .collect();
    let uid = meta::uid(&object).to_owned();
    if remaining.is_empty() {
        reaction.edit(&uid, "finalize", |object| {
            let rest: Vec<Value> = meta::list(object, "/spec/finalizers")
                .iter()
                .filter(|f| *f != "kubernetes")
                .cloned()
                .collect();
            if rest.is_empty() {
                object["spec"] = json!({});
            } else {
                object["spec"]["finalizers"] = rest.into();
            }
        });
        return;
    }
    let finalizers: Vec<String> = contents
        .iter()
        .flat_map(|o| {
            meta::finalizers(o)
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let what = remaining.join(", ");
    reaction.edit(&uid, "status", |object| {
        object["status"]["phase"] = "Terminating".into();
        set_condition(
            object,
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            &format!("Some resources are remaining: {what}"),
        );
        if !finalizers.is_empty() {
            let text = format!(
                "Some content in the namespace has finalizers remaining: {}",
                finalizers.join(", ")
            );
            set_condition(
                object,
                "NamespaceFinalizersRemaining",
                "True",
                "SomeFinalizersRemain",
                &text,
            );
        }
    });
}

/// Adds or updates a condition; its transition time moves only with its status.
pub(super) fn set_condition(
    object: &mut Value,
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
) {
    let status_map = meta::object_at(object, "status");
    let conditions = status_map.entry("conditions").or_insert_with(|| json!([]));
    let Value::Array(conditions) = conditions else {
        return;
    };
    let fresh = json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": meta::time(Utc::now()),
    });
    match conditions.iter_mut().find(|c| c["type"] == kind) {
        Some(existing) => {
            let since = if existing["status"] == status {
                existing["lastTransitionTime"].clone()
            } else {
                fresh["lastTransitionTime"].clone()
            };
            *existing = fresh;
            existing["lastTransitionTime"] = since;
        }
        None => conditions.push(fresh),
    }
}
