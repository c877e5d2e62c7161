//! Pods: they wait, become ready, and finish if they are of the finishing kind.

use std::sync::Arc;

use chrono::Utc;
use serde_json::{Value, json};

use super::super::Reaction;
use super::super::timers::{Purpose, after};
use super::steering::{self, Outcome};
use crate::meta;

/// Pods of a job are moved by their job; all others by themselves.
pub(super) fn reconcile(reaction: &mut Reaction<'_>, uid: &str) {
    let Some((_, pod)) = reaction.current(uid) else {
        return;
    };
    if meta::is_deleting(&pod) {
        reaction.timers.forget(uid);
        return;
    }
    if meta::controller(&pod).is_some_and(|owner| owner["kind"] == "Job") {
        return;
    }
    let created = meta::parse_time(meta::text(&pod, "/metadata/creationTimestamp"));
    let outcome = steering::outcome(&pod);
    let armed = |purpose| reaction.timers.is_armed(uid, purpose);
    let phase = meta::text(&pod, "/status/phase");
    if phase == "Pending"
        && outcome != Outcome::Hang
        && !is_crashing(&pod)
        && !armed(Purpose::Ready)
    {
        let delay = steering::after(&pod, reaction.options.rollout_duration);
        reaction
            .timers
            .arm(uid, Purpose::Ready, after(created, delay));
    } else if phase == "Running" && finishes(&pod) && !armed(Purpose::Finish) {
        let started = meta::parse_time(meta::text(&pod, "/status/startTime"));
        let delay = steering::after(&pod, reaction.options.job_duration);
        reaction
            .timers
            .arm(uid, Purpose::Finish, after(started, delay));
    }
}

/// A pod that is not restarted ends one day.
fn finishes(pod: &Value) -> bool {
    pod["spec"]["restartPolicy"] != "Always" && steering::outcome(pod) != Outcome::Hang
}

fn is_crashing(pod: &Value) -> bool {
    !meta::text(pod, "/status/containerStatuses/0/state/waiting/reason").is_empty()
}

pub(super) fn become_ready(reaction: &mut Reaction<'_>, pod: &Arc<Value>) {
    let status = match steering::outcome(pod) {
        Outcome::Hang => return,
        Outcome::Fail if pod["spec"]["restartPolicy"] == "Always" => crashing(pod),
        _ => running(pod),
    };
    reaction.set_status(meta::uid(pod), status);
}

pub(super) fn finish(reaction: &mut Reaction<'_>, pod: &Arc<Value>) {
    let status = ended(pod, steering::outcome(pod), steering::message(pod));
    reaction.set_status(meta::uid(pod), status);
}

fn conditions(ready: bool, now: &str) -> Value {
    let state = if ready { "True" } else { "False" };
    let condition = |kind: &str, status: &str| json!({ "type": kind, "status": status, "lastTransitionTime": now });
    json!([
        condition("PodReadyToStartContainers", "True"),
        condition("Initialized", "True"),
        condition("Ready", state),
        condition("ContainersReady", state),
        condition("PodScheduled", "True"),
    ])
}

fn containers(pod: &Value, ready: bool, restarts: i64, state: &Value) -> Value {
    meta::list(pod, "/spec/containers")
        .iter()
        .map(|container| {
            json!({
                "name": container["name"], "image": container["image"], "imageID": "", "ready": ready,
                "started": ready, "restartCount": restarts, "state": state,
            })
        })
        .collect()
}

pub(super) fn running(pod: &Value) -> Value {
    let now = meta::time(Utc::now());
    json!({
        "phase": "Running", "qosClass": "BestEffort", "startTime": now, "conditions": conditions(true, &now),
        "containerStatuses": containers(pod, true, 0, &json!({ "running": { "startedAt": now } })),
    })
}

fn crashing(pod: &Value) -> Value {
    let now = meta::time(Utc::now());
    let message = steering::message(pod).unwrap_or("back-off restarting failed container");
    let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff", "message": message } });
    json!({
        "phase": "Running", "qosClass": "BestEffort", "startTime": now, "conditions": conditions(false, &now),
        "containerStatuses": containers(pod, false, 1, &waiting),
    })
}

/// The status of a pod whose containers have ended.
pub(super) fn ended(pod: &Value, outcome: Outcome, message: Option<&str>) -> Value {
    let now = meta::time(Utc::now());
    let started = match meta::text(pod, "/status/startTime") {
        "" => now.clone(),
        time => time.to_owned(),
    };
    let good = outcome == Outcome::Succeed;
    let mut terminated = json!({
        "exitCode": i32::from(!good), "reason": if good { "Completed" } else { "Error" },
        "startedAt": started, "finishedAt": now,
    });
    if let Some(message) = message {
        terminated["message"] = message.into();
    }
    json!({
        "phase": if good { "Succeeded" } else { "Failed" }, "qosClass": "BestEffort", "startTime": started,
        "conditions": conditions(false, &now),
        "containerStatuses": containers(pod, false, 0, &json!({ "terminated": terminated })),
    })
}

/// A pod as a controller would create it from a template.
pub(super) fn from_template(owner: &Value, template: &Value, name: Option<String>) -> Value {
    let mut metadata = json!({
        "ownerReferences": [reference(owner)],
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    match name {
        Some(name) => metadata["name"] = name.into(),
        None => metadata["generateName"] = format!("{}-", meta::name(owner)).into(),
    }
    json!({ "metadata": metadata, "spec": template["spec"] })
}

/// A controlling owner reference.
pub(super) fn reference(owner: &Value) -> Value {
    json!({
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": meta::name(owner), "uid": meta::uid(owner),
        "controller": true, "blockOwnerDeletion": true,
    })
}
