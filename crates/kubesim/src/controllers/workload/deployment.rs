//! Deployments: a replica set per template, and a status that follows the newest.

use std::sync::Arc;

use chrono::Utc;
use serde_json::{Value, json};

use super::super::Reaction;
use super::pod;
use super::steering::{self, Outcome};
use crate::meta;

const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) fn reconcile(reaction: &mut Reaction<'_>, uid: &str) {
    let Some((_, deployment)) = reaction.current(uid) else {
        return;
    };
    if meta::is_deleting(&deployment) {
        return;
    }
    let sets: Vec<Arc<Value>> = reaction
        .state
        .store
        .dependents(uid)
        .into_iter()
        .filter(|(storage, set)| storage == "replicasets.apps" && !meta::is_deleting(set))
        .map(|(_, set)| set)
        .collect();
    let hash = hash(&deployment["spec"]["template"]);
    let name = format!("{}-{hash}", meta::name(&deployment));
    let wanted = deployment["spec"]["replicas"].clone();
    let newest = match sets.iter().find(|set| meta::name(set) == name) {
        Some(set) => Arc::clone(set),
        None => {
            let revision = sets
                .iter()
                .filter_map(|set| revision(set))
                .max()
                .unwrap_or(0)
                + 1;
            let set = replica_set(&deployment, &name, &hash, revision);
            let Some(created) =
                reaction.create("apps", "replicasets", meta::namespace(&deployment), set)
            else {
                return;
            };
            let text = revision.to_string();
            reaction.edit(uid, "", |object| {
                let annotations = meta::metadata_mut(object)
                    .entry("annotations")
                    .or_insert_with(|| json!({}));
                annotations[REVISION] = text.into();
            });
            created
        }
    };
    if newest["spec"]["replicas"] != wanted {
        scale(reaction, &newest, wanted.clone());
    }
    let ready = newest["status"]["readyReplicas"].as_i64().unwrap_or(0);
    let desired = wanted.as_i64().unwrap_or(1);
    // Old pods serve until the new ones do.
    if ready >= desired {
        for old in sets
            .iter()
            .filter(|set| meta::name(set) != name && set["spec"]["replicas"] != 0)
        {
            scale(reaction, old, 0.into());
        }
    }
    let Some((_, deployment)) = reaction.current(uid) else {
        return;
    };
    let old_pods: i64 = sets
        .iter()
        .filter(|set| meta::name(set) != name && ready < desired)
        .map(|set| set["status"]["replicas"].as_i64().unwrap_or(0))
        .sum();
    let status = status(&deployment, &newest, desired, old_pods);
    if status != deployment["status"] {
        reaction.set_status(uid, status);
    }
}

fn scale(reaction: &mut Reaction<'_>, set: &Value, replicas: Value) {
    reaction.edit(meta::uid(set), "", |object| {
        object["spec"]["replicas"] = replicas;
        let generation = meta::generation(object) + 1;
        object["metadata"]["generation"] = generation.into();
    });
}

fn revision(set: &Value) -> Option<u64> {
    meta::annotation(set, REVISION)?.parse().ok()
}

fn replica_set(deployment: &Value, name: &str, hash: &str, revision: u64) -> Value {
    let mut template = deployment["spec"]["template"].clone();
    let labels = meta::object_at(&mut template, "metadata")
        .entry("labels")
        .or_insert_with(|| json!({}));
    labels["pod-template-hash"] = hash.into();
    // Steering annotations on the deployment reach the pods through the template.
    for (key, value) in deployment["metadata"]["annotations"]
        .as_object()
        .into_iter()
        .flatten()
    {
        if key.starts_with("kubesim.hyperfleet.io/") {
            let annotations = meta::object_at(&mut template, "metadata")
                .entry("annotations")
                .or_insert_with(|| json!({}));
            annotations[key] = value.clone();
        }
    }
    let mut selector = deployment["spec"]["selector"].clone();
    meta::object_at(&mut selector, "matchLabels").insert("pod-template-hash".into(), hash.into());
    json!({
        "metadata": {
            "name": name, "labels": template["metadata"]["labels"],
            "annotations": { REVISION: revision.to_string() },
            "ownerReferences": [pod::reference(deployment)],
        },
        "spec": { "replicas": deployment["spec"]["replicas"], "selector": selector, "template": template },
    })
}

/// FNV-1a over the template, in the alphabet of generated names.
fn hash(template: &Value) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut hash: u32 = 2_166_136_261;
    for byte in template.to_string().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    hash.to_string()
        .bytes()
        .map(|digit| ALPHABET[usize::from(digit - b'0')] as char)
        .collect()
}

fn status(deployment: &Value, set: &Value, desired: i64, old_pods: i64) -> Value {
    let count = |field: &str| set["status"][field].as_i64().unwrap_or(0);
    let (updated, ready) = (count("replicas"), count("readyReplicas"));
    let total = updated + old_pods;
    let available = ready + old_pods;
    let mut status = json!({ "observedGeneration": meta::generation(deployment) });
    for (field, value) in [
        ("replicas", total),
        ("updatedReplicas", updated),
        ("readyReplicas", available),
        ("availableReplicas", available),
        ("unavailableReplicas", (desired - available).max(0)),
    ] {
        if value != 0 {
            status[field] = value.into();
        }
    }
    let (progressing, reason, text) = if ready >= desired {
        (
            "True",
            "NewReplicaSetAvailable",
            format!(
                "ReplicaSet {:?} has successfully progressed.",
                meta::name(set)
            ),
        )
    } else if steering::outcome(deployment) == Outcome::Fail && crashed(set) {
        (
            "False",
            "ProgressDeadlineExceeded",
            format!(
                "ReplicaSet {:?} has timed out progressing.",
                meta::name(set)
            ),
        )
    } else {
        (
            "True",
            "ReplicaSetUpdated",
            format!("ReplicaSet {:?} is progressing.", meta::name(set)),
        )
    };
    let (minimum, minimum_reason, minimum_text) = if available >= desired {
        (
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.",
        )
    } else {
        (
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.",
        )
    };
    status["conditions"] = json!([
        condition(
            deployment,
            "Available",
            minimum,
            minimum_reason,
            minimum_text
        ),
        condition(deployment, "Progressing", progressing, reason, &text),
    ]);
    status
}

fn crashed(set: &Value) -> bool {
    set["status"]["replicas"].as_i64().unwrap_or(0) > 0
}

/// A condition keeps its times while it says the same.
fn condition(deployment: &Value, kind: &str, status: &str, reason: &str, message: &str) -> Value {
    let now = meta::time(Utc::now());
    let before = meta::list(&deployment["status"], "/conditions")
        .iter()
        .find(|c| c["type"] == kind);
    let mut condition = json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastUpdateTime": now, "lastTransitionTime": now,
    });
    if let Some(before) = before.filter(|b| b["status"] == status) {
        condition["lastTransitionTime"] = before["lastTransitionTime"].clone();
        if before["reason"] == reason && before["message"] == message {
            condition["lastUpdateTime"] = before["lastUpdateTime"].clone();
        }
    }
    condition
}
