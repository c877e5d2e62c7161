//! The workload model: jobs finish and rollouts complete after a while, as if pods had run; objects of custom kinds
//! become what their definition says, as if their operator had worked.

mod custom;
mod deployment;
mod job;
mod pod;
mod replicas;
mod steering;

use super::Reaction;
use super::timers::Purpose;
use crate::meta;
use crate::store::{Change, Verb};

/// Brings the changed object, and the controller of a changed pod or replica set, up to date.
pub(super) fn react(reaction: &mut Reaction<'_>, change: &Change) {
    let object = &change.object;
    if change.verb == Verb::Deleted {
        reaction.timers.forget(meta::uid(object));
    } else {
        reconcile(reaction, &change.storage, meta::uid(object));
    }
    if ["pods", "replicasets.apps"].contains(&change.storage.as_str())
        && let Some(owner) = meta::controller(object)
    {
        let uid = meta::text(owner, "/uid").to_owned();
        if let Some((resource, _)) = reaction.current(&uid) {
            reconcile(reaction, &resource.storage(), &uid);
        }
    }
}

fn reconcile(reaction: &mut Reaction<'_>, storage: &str, uid: &str) {
    match storage {
        "pods" => pod::reconcile(reaction, uid),
        "jobs.batch" => job::reconcile(reaction, uid),
        "deployments.apps" => deployment::reconcile(reaction, uid),
        "replicasets.apps" | "statefulsets.apps" | "daemonsets.apps" => {
            replicas::reconcile(reaction, uid)
        }
        _ => custom::reconcile(reaction, storage, uid),
    }
}

pub(super) fn fire(reaction: &mut Reaction<'_>, uid: &str, purpose: Purpose) {
    let Some((resource, object)) = reaction.current(uid) else {
        return;
    };
    match (resource.storage().as_str(), purpose) {
        ("pods", Purpose::Ready) => pod::become_ready(reaction, &object),
        ("pods", _) => pod::finish(reaction, &object),
        ("jobs.batch", Purpose::Expire) => reaction.delete(&object, "Foreground"),
        ("jobs.batch", _) => job::finish(reaction, &object),
        (storage, _) => custom::finish(reaction, storage, &object),
    }
}
