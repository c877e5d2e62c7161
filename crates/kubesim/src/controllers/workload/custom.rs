//! Objects of custom kinds whose operator kubesim plays, because the definition asks for it.

use std::sync::Arc;

use chrono::Utc;
use serde_json::{Value, json};

use super::super::Reaction;
use super::super::definition::DEFINITIONS;
use super::super::timers::{Purpose, after};
use super::steering::{self, Outcome};
use crate::meta;

/// On a CustomResourceDefinition: the condition that becomes True on each of its objects.
const BECOMES: &str = "kubesim.hyperfleet.io/becomes";

pub(super) fn reconcile(reaction: &mut Reaction<'_>, storage: &str, uid: &str) {
    let Some(kind) = becomes(reaction, storage) else {
        return;
    };
    let Some((_, object)) = reaction.current(uid) else {
        return;
    };
    if meta::is_deleting(&object) || seen(&object) == Some(meta::generation(&object)) {
        reaction.timers.disarm(uid, Purpose::Ready);
        return;
    }
    if steering::outcome(&object) == Outcome::Hang {
        reaction.timers.disarm(uid, Purpose::Ready);
    } else if !reaction.timers.is_armed(uid, Purpose::Ready) {
        let created = meta::parse_time(meta::text(&object, "/metadata/creationTimestamp"));
        // A later change takes its whole time again.
        let since = created.filter(|_| seen(&object).is_none());
        let delay = steering::after(&object, reaction.options.rollout_duration);
        reaction
            .timers
            .arm(uid, Purpose::Ready, after(since, delay));
    }
    if meta::list(&object, "/status/conditions").is_empty() {
        let message = format!("{} is being made", meta::text(&object, "/kind"));
        let status = status(&object, &kind, "False", "Progressing", &message);
        reaction.set_status(uid, status);
    }
}

/// The timer went off.
pub(super) fn finish(reaction: &mut Reaction<'_>, storage: &str, object: &Arc<Value>) {
    let Some(kind) = becomes(reaction, storage) else {
        return;
    };
    if meta::is_deleting(object) {
        return;
    }
    let said = steering::message(object);
    let (state, reason, message) = match steering::outcome(object) {
        Outcome::Hang => return,
        Outcome::Succeed => (
            "True",
            "AsExpected",
            said.unwrap_or("it is as it should be"),
        ),
        Outcome::Fail => ("False", "Failed", said.unwrap_or("it was told to fail")),
    };
    let mut status = status(object, &kind, state, reason, message);
    status["observedGeneration"] = meta::generation(object).into();
    if let Some(replicas) = object["spec"].get("replicas") {
        status["replicas"] = replicas.clone();
    }
    reaction.set_status(meta::uid(object), status);
}

fn becomes(reaction: &Reaction<'_>, storage: &str) -> Option<String> {
    let definition = reaction.state.store.get(DEFINITIONS, "", storage)?;
    meta::annotation(definition, BECOMES).map(str::to_owned)
}

/// The generation the status is about.
fn seen(object: &Value) -> Option<i64> {
    object["status"]["observedGeneration"].as_i64()
}

/// The status as it is, with this condition.
fn status(object: &Value, kind: &str, state: &str, reason: &str, message: &str) -> Value {
    let mut status = object["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    let before = meta::list(object, "/status/conditions");
    let same = before
        .iter()
        .find(|c| c["type"] == kind && c["status"] == state);
    let since = match same {
        Some(same) => same["lastTransitionTime"].clone(),
        None => meta::time(Utc::now()).into(),
    };
    let mut conditions: Vec<Value> = before
        .iter()
        .filter(|c| c["type"] != kind)
        .cloned()
        .collect();
    conditions.push(json!({
        "type": kind, "status": state, "reason": reason, "message": message, "lastTransitionTime": since,
    }));
    status["conditions"] = conditions.into();
    status
}
