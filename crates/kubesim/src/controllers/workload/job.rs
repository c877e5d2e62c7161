//! Jobs. All pods of a job start together and end together; a failed attempt is not retried.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use serde_json::{Value, json};

use super::super::Reaction;
use super::super::timers::{Purpose, after};
use super::pod;
use super::steering::{self, Outcome};
use crate::meta;

pub(super) fn reconcile(reaction: &mut Reaction<'_>, uid: &str) {
    let Some((_, job)) = reaction.current(uid) else {
        return;
    };
    if meta::is_deleting(&job) {
        reaction.timers.disarm(uid, Purpose::Finish);
        return;
    }
    if is_finished(&job) {
        reaction.timers.disarm(uid, Purpose::Finish);
        expire_later(reaction, &job);
        return;
    }
    if job["spec"]["suspend"] == true {
        suspend(reaction, &job);
        return;
    }
    if meta::text(&job, "/status/startTime").is_empty() {
        start(reaction, &job);
        return;
    }
    arm(reaction, &job);
}

fn arm(reaction: &mut Reaction<'_>, job: &Value) {
    let started = meta::parse_time(meta::text(job, "/status/startTime"));
    let work = match steering::outcome(job) {
        Outcome::Hang => None,
        _ => Some(steering::after(job, reaction.options.job_duration)),
    };
    let due = match (work, deadline(job)) {
        (Some(work), Some(deadline)) => work.min(deadline),
        (Some(time), None) | (None, Some(time)) => time,
        (None, None) => {
            reaction.timers.disarm(meta::uid(job), Purpose::Finish);
            return;
        }
    };
    if !reaction.timers.is_armed(meta::uid(job), Purpose::Finish) {
        reaction
            .timers
            .arm(meta::uid(job), Purpose::Finish, after(started, due));
    }
}

fn deadline(job: &Value) -> Option<Duration> {
    job["spec"]["activeDeadlineSeconds"]
        .as_u64()
        .map(Duration::from_secs)
}

fn is_finished(job: &Value) -> bool {
    meta::list(job, "/status/conditions")
        .iter()
        .any(|c| (c["type"] == "Complete" || c["type"] == "Failed") && c["status"] == "True")
}

fn expire_later(reaction: &mut Reaction<'_>, job: &Value) {
    let Some(ttl) = job["spec"]["ttlSecondsAfterFinished"].as_u64() else {
        return;
    };
    let finished = meta::list(job, "/status/conditions")
        .iter()
        .find(|c| c["type"] == "Complete" || c["type"] == "Failed")
        .and_then(|c| meta::parse_time(meta::text(c, "/lastTransitionTime")));
    if !reaction.timers.is_armed(meta::uid(job), Purpose::Expire) {
        reaction.timers.arm(
            meta::uid(job),
            Purpose::Expire,
            after(finished, Duration::from_secs(ttl)),
        );
    }
}

fn start(reaction: &mut Reaction<'_>, job: &Arc<Value>) {
    let now = meta::time(Utc::now());
    let count = |field: &str| job["spec"][field].as_u64();
    let pods = count("parallelism")
        .unwrap_or(1)
        .min(count("completions").unwrap_or(u64::MAX));
    for _ in 0..pods {
        let template = pod::from_template(job, &job["spec"]["template"], None);
        if let Some(created) = reaction.create("", "pods", meta::namespace(job), template) {
            let status = pod::running(&created);
            reaction.set_status(meta::uid(&created), status);
        }
    }
    let mut status = json!({
        "startTime": now, "active": pods, "ready": pods, "terminating": 0, "uncountedTerminatedPods": {},
    });
    if let Some(conditions) = resumed(job, &now) {
        status["conditions"] = conditions;
    }
    reaction.set_status(meta::uid(job), status);
}

/// A job that was suspended says that it no longer is.
fn resumed(job: &Value, now: &str) -> Option<Value> {
    let suspended = meta::list(job, "/status/conditions")
        .iter()
        .any(|c| c["type"] == "Suspended");
    suspended.then(|| {
        json!([condition(
            "Suspended",
            "False",
            "JobResumed",
            "Job resumed",
            now
        )])
    })
}

fn suspend(reaction: &mut Reaction<'_>, job: &Arc<Value>) {
    let uid = meta::uid(job);
    reaction.timers.disarm(uid, Purpose::Finish);
    let already = meta::list(job, "/status/conditions")
        .iter()
        .any(|c| c["type"] == "Suspended" && c["status"] == "True");
    if already {
        return;
    }
    for (storage, dependent) in reaction.state.store.dependents(uid) {
        if storage == "pods" {
            reaction.delete(&dependent, "Background");
        }
    }
    let now = meta::time(Utc::now());
    let condition = condition("Suspended", "True", "JobSuspended", "Job suspended", &now);
    reaction.set_status(
        uid,
        json!({ "conditions": [condition], "ready": 0, "terminating": 0 }),
    );
}

fn condition(kind: &str, status: &str, reason: &str, message: &str, now: &str) -> Value {
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastProbeTime": now, "lastTransitionTime": now,
    })
}

/// The timer went off: the job's time, or its deadline, is over.
pub(super) fn finish(reaction: &mut Reaction<'_>, job: &Arc<Value>) {
    if is_finished(job) || meta::is_deleting(job) || job["spec"]["suspend"] == true {
        return;
    }
    let work = steering::after(job, reaction.options.job_duration);
    let overdue =
        deadline(job).is_some_and(|d| steering::outcome(job) == Outcome::Hang || d < work);
    let outcome = if overdue {
        Outcome::Fail
    } else {
        steering::outcome(job)
    };
    if outcome == Outcome::Hang {
        return;
    }
    let message = steering::message(job);
    let mut ended = 0;
    for (storage, dependent) in reaction.state.store.dependents(meta::uid(job)) {
        if storage == "pods"
            && !["Succeeded", "Failed"].contains(&meta::text(&dependent, "/status/phase"))
        {
            let status = pod::ended(&dependent, outcome, message);
            reaction.set_status(meta::uid(&dependent), status);
            ended += 1;
        }
    }
    let now = meta::time(Utc::now());
    let mut status = json!({
        "startTime": job["status"]["startTime"], "ready": 0, "terminating": 0, "uncountedTerminatedPods": {},
    });
    if outcome == Outcome::Succeed {
        let completions = job["spec"]["completions"].as_i64().unwrap_or(ended);
        status["succeeded"] = completions.into();
        status["completionTime"] = now.as_str().into();
        let text = message.unwrap_or("Reached expected number of succeeded pods");
        status["conditions"] = json!([
            condition(
                "SuccessCriteriaMet",
                "True",
                "CompletionsReached",
                text,
                &now
            ),
            condition("Complete", "True", "CompletionsReached", text, &now),
        ]);
    } else {
        status["failed"] = ended.max(1).into();
        let (reason, text) = if overdue {
            (
                "DeadlineExceeded",
                "Job was active longer than specified deadline",
            )
        } else {
            (
                "BackoffLimitExceeded",
                "Job has reached the specified backoff limit",
            )
        };
        let text = message.unwrap_or(text);
        status["conditions"] = json!([
            condition("FailureTarget", "True", reason, text, &now),
            condition("Failed", "True", reason, text, &now),
        ]);
    }
    reaction.set_status(meta::uid(job), status);
}
