//! Replica sets, stateful sets and daemon sets: a number of pods from one template.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::Reaction;
use super::pod;
use crate::meta;

pub(super) fn reconcile(reaction: &mut Reaction<'_>, uid: &str) {
    let Some((_, set)) = reaction.current(uid) else {
        return;
    };
    if meta::is_deleting(&set) {
        return;
    }
    // One imaginary node.
    let wanted = if set["kind"] == "DaemonSet" {
        1
    } else {
        set["spec"]["replicas"].as_u64().unwrap_or(1) as usize
    };
    let mut pods = pods_of(reaction, uid);
    pods.sort_by(|a, b| meta::name(a).cmp(meta::name(b)));
    let ordered = set["kind"] == "StatefulSet";
    while pods.len() > wanted {
        if let Some(extra) = pods.pop() {
            reaction.delete(&extra, "Background");
        }
    }
    // An older template is replaced at once; replica sets never change theirs.
    if set["kind"] != "ReplicaSet" {
        let current = set["spec"]["template"]["spec"]["containers"].clone();
        for old in pods.extract_if(.., |p| !runs(p, &current)) {
            reaction.delete(&old, "Background");
        }
    }
    let mut number = 0;
    while pods.len() < wanted {
        let name = ordered.then(|| format!("{}-{number}", meta::name(&set)));
        number += 1;
        if name
            .as_ref()
            .is_some_and(|n| pods.iter().any(|p| meta::name(p) == n))
        {
            continue;
        }
        let mut template = pod::from_template(&set, &set["spec"]["template"], name.clone());
        if let Some(name) = name {
            template["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = name.into();
        }
        match reaction.create("", "pods", meta::namespace(&set), template) {
            Some(created) => pods.push(created),
            None => break,
        }
    }
    let status = status(&set, &pods);
    if merged(&set, &status) != set["status"] {
        let status = merged(&set, &status);
        reaction.set_status(uid, status);
    }
}

fn pods_of(reaction: &Reaction<'_>, uid: &str) -> Vec<Arc<Value>> {
    reaction
        .state
        .store
        .dependents(uid)
        .into_iter()
        .filter(|(storage, pod)| storage == "pods" && !meta::is_deleting(pod))
        .map(|(_, pod)| pod)
        .collect()
}

fn runs(pod: &Value, containers: &Value) -> bool {
    let images = |list: &Value| -> Vec<Value> {
        list.as_array()
            .into_iter()
            .flatten()
            .map(|c| json!([c["name"], c["image"], c["args"], c["command"], c["env"]]))
            .collect()
    };
    images(&pod["spec"]["containers"]) == images(containers)
}

fn is_ready(pod: &Value) -> bool {
    meta::list(pod, "/status/conditions")
        .iter()
        .any(|c| c["type"] == "Ready" && c["status"] == "True")
}

fn status(set: &Value, pods: &[Arc<Value>]) -> Value {
    let total = pods.len();
    let ready = pods.iter().filter(|p| is_ready(p)).count();
    let generation = meta::generation(set);
    match set["kind"].as_str() {
        Some("DaemonSet") => json!({
            "currentNumberScheduled": total, "desiredNumberScheduled": 1, "numberMisscheduled": 0,
            "numberReady": ready, "numberAvailable": ready, "numberUnavailable": 1 - ready.min(1),
            "updatedNumberScheduled": total, "observedGeneration": generation,
        }),
        Some("StatefulSet") => json!({
            "replicas": total, "readyReplicas": ready, "availableReplicas": ready, "currentReplicas": total,
            "updatedReplicas": total, "observedGeneration": generation, "collisionCount": 0,
        }),
        _ => json!({
            "replicas": total, "fullyLabeledReplicas": total, "readyReplicas": ready, "availableReplicas": ready,
            "observedGeneration": generation,
        }),
    }
}

/// Zero counts are absent on the wire, except the total.
fn merged(set: &Value, status: &Value) -> Value {
    let mut result = set["status"].clone();
    if !result.is_object() {
        result = json!({});
    }
    for (key, value) in status.as_object().into_iter().flatten() {
        let keep = *value != 0
            || [
                "replicas",
                "currentNumberScheduled",
                "desiredNumberScheduled",
                "numberMisscheduled",
                "numberReady",
                "availableReplicas",
                "collisionCount",
            ]
            .contains(&key.as_str())
                && (set["kind"] != "ReplicaSet" || key == "replicas");
        if keep {
            result[key] = value.clone();
        } else if let Some(map) = result.as_object_mut() {
            map.remove(key);
        }
    }
    result
}
