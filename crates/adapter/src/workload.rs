//! Whether an object has done what it is there for.
//!
//! | kind | ready | failed | else |
//! |---|---|---|---|
//! | Job | condition `Complete` | condition `Failed`, with its message | `JobRunning`, `JobPending` |
//! | Deployment | observed, condition `Available` | `Progressing=False` | `Progressing` |
//! | Namespace | phase `Active` | - | `Pending` |
//! | ManifestWork | the agent reported on this version, condition `Available` | `Applied=False` | `Progressing` |
//! | any other with conditions | `Available` or `Ready` | - | `Progressing` |
//! | any other | it exists | - | - |

use chrono::{DateTime, Utc};
use serde_json::Value as Json;

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has done what it is there for.
    Ready,
    /// It is at it.
    Progress {
        /// One word.
        reason: String,
        /// For people.
        message: String,
    },
    /// It has given up.
    Failed {
        /// One word.
        reason: String,
        /// For people.
        message: String,
    },
}

impl State {
    pub(crate) fn progress(reason: &str, message: &str) -> Self {
        Self::Progress {
            reason: reason.to_owned(),
            message: message.to_owned(),
        }
    }

    fn failed(reason: &str, message: &str) -> Self {
        Self::Failed {
            reason: reason.to_owned(),
            message: message.to_owned(),
        }
    }
}

/// How far `object` is.
pub fn state(object: &Json) -> State {
    if object["metadata"]["deletionTimestamp"].is_string() {
        return State::progress("Waiting", "it is being deleted");
    }
    match object["kind"].as_str() {
        Some("Job") => job(object),
        Some("Deployment") => deployment(object),
        Some("ManifestWork") => work(object),
        Some("Namespace") => match object["status"]["phase"].as_str() {
            None | Some("Active") => State::Ready,
            Some(phase) => State::progress("Pending", &format!("its phase is {phase}")),
        },
        _ => other(object),
    }
}

fn job(object: &Json) -> State {
    if is_true(object, "Complete") || is_true(object, "SuccessCriteriaMet") {
        return State::Ready;
    }
    if let Some(failed) = condition(object, "Failed").filter(|found| found["status"] == "True") {
        let said = |key: &str| failed[key].as_str().filter(|text| !text.is_empty());
        let message = match (said("reason"), said("message")) {
            (Some(reason), Some(message)) => format!("{reason}: {message}"),
            (reason, message) => message.or(reason).unwrap_or("the Job failed").to_owned(),
        };
        return State::failed("JobFailed", &message);
    }
    match object["status"]["active"].as_i64() {
        Some(active) if active > 0 => State::progress("JobRunning", "the Job is running"),
        _ if object["status"]["startTime"].is_string() => {
            State::progress("JobRunning", "the Job is running")
        }
        _ => State::progress("JobPending", "the Job has not started"),
    }
}

/// When a Job ended, well or not.
pub(crate) fn ended(job: &Json) -> Option<DateTime<Utc>> {
    let conditions = ["Complete", "Failed", "SuccessCriteriaMet"];
    let met = conditions.into_iter().find(|kind| is_true(job, kind));
    let told = met.and_then(|kind| condition(job, kind)?["lastTransitionTime"].as_str());
    let completed = job["status"]["completionTime"].as_str();
    completed.or(told)?.parse().ok()
}

/// What an agent says of a work outlives the work's next change, so it counts only for the version it is about.
fn work(object: &Json) -> State {
    let status = &object["status"];
    let applied = condition(object, "Applied");
    let seen = status["observedGeneration"].as_i64();
    let seen = seen.or_else(|| applied?["observedGeneration"].as_i64());
    let wanted = object["metadata"]["generation"].as_i64().unwrap_or(0);
    if seen.is_none_or(|seen| seen < wanted) {
        return State::progress(
            "Progressing",
            "the agent has not reported on this version yet",
        );
    }
    if let Some(applied) = applied.filter(|found| found["status"] == "False") {
        let said = |key: &str, or: &'static str| match applied[key].as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => or.to_owned(),
        };
        let reason = said("reason", "AppliedManifestWorkFailed");
        return State::failed(&reason, &said("message", "the agent could not apply it"));
    }
    match is_true(object, "Available") {
        true => State::Ready,
        false => State::progress("Progressing", "its objects are not all available yet"),
    }
}

fn deployment(object: &Json) -> State {
    let seen = object["status"]["observedGeneration"].as_i64().unwrap_or(0);
    let wanted = object["metadata"]["generation"].as_i64().unwrap_or(0);
    if seen < wanted {
        return State::progress("Progressing", "the change has not been noticed yet");
    }
    if let Some(stuck) = condition(object, "Progressing").filter(|found| found["status"] == "False")
    {
        let message = stuck["message"].as_str().unwrap_or("the rollout is stuck");
        return State::failed("DeploymentFailed", message);
    }
    match is_true(object, "Available") {
        true => State::Ready,
        false => {
            let status = &object["status"];
            let ready = status["availableReplicas"].as_i64().unwrap_or(0);
            let replicas = object["spec"]["replicas"].as_i64().unwrap_or(1);
            State::progress(
                "Progressing",
                &format!("{ready} of {replicas} replicas are available"),
            )
        }
    }
}

fn other(object: &Json) -> State {
    for kind in ["Available", "Ready"] {
        let Some(found) = condition(object, kind) else {
            continue;
        };
        if found["status"] == "True" {
            return State::Ready;
        }
        let message = found["message"].as_str().filter(|text| !text.is_empty());
        let fallback = format!(
            "{kind} is {}",
            found["status"].as_str().unwrap_or("unknown")
        );
        return State::progress("Progressing", message.unwrap_or(&fallback));
    }
    State::Ready
}

fn condition<'o>(object: &'o Json, kind: &str) -> Option<&'o Json> {
    let conditions = object["status"]["conditions"].as_array()?;
    conditions.iter().find(|found| found["type"] == kind)
}

fn is_true(object: &Json, kind: &str) -> bool {
    condition(object, kind).is_some_and(|found| found["status"] == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(kind: &str, status: Json) -> State {
        state(&json!({"kind": kind, "metadata": {"generation": 1}, "status": status}))
    }

    fn reason(state: State) -> String {
        match state {
            State::Ready => "Ready".to_owned(),
            State::Progress { reason, .. } | State::Failed { reason, .. } => reason,
        }
    }

    #[test]
    fn a_job_is_pending_then_running_then_complete_or_failed() {
        assert_eq!(reason(with("Job", json!({}))), "JobPending");
        assert_eq!(reason(with("Job", json!({"active": 1}))), "JobRunning");
        let complete = json!({"conditions": [{"type": "Complete", "status": "True"}]});
        assert_eq!(with("Job", complete), State::Ready);
        let failed = json!({"conditions": [{"type": "Failed", "status": "True",
            "reason": "BackoffLimitExceeded", "message": "Job has reached the limit"}]});
        assert_eq!(
            with("Job", failed),
            State::failed(
                "JobFailed",
                "BackoffLimitExceeded: Job has reached the limit"
            )
        );
    }

    #[test]
    fn a_deployment_counts_once_its_latest_change_was_seen() {
        let available = json!([{"type": "Available", "status": "True"}]);
        let old = json!({"observedGeneration": 0, "conditions": available});
        assert_eq!(reason(with("Deployment", old)), "Progressing");
        let new = json!({"observedGeneration": 1, "conditions": available});
        assert_eq!(with("Deployment", new), State::Ready);
    }

    #[test]
    fn any_other_object_is_ready_when_it_says_so_or_says_nothing() {
        assert_eq!(with("ConfigMap", json!(null)), State::Ready);
        assert_eq!(with("Namespace", json!({"phase": "Active"})), State::Ready);
        let not_yet = json!({"conditions": [{"type": "Ready", "status": "False"}]});
        assert_eq!(reason(with("Certificate", not_yet)), "Progressing");
    }

    #[test]
    fn a_work_is_ready_when_its_agent_says_so_of_this_version() {
        let work = |generation: i64, applied: &str, available: &str| {
            json!({"kind": "ManifestWork", "metadata": {"generation": generation},
                "status": {"observedGeneration": 2, "conditions": [
                    {"type": "Applied", "status": applied, "reason": "AppliedFailed", "message": "no"},
                    {"type": "Available", "status": available}]}})
        };
        assert_eq!(state(&work(2, "True", "True")), State::Ready);
        let progress = |object: &Json| matches!(state(object), State::Progress { .. });
        assert!(
            progress(&work(3, "True", "True")),
            "it is about the version before"
        );
        assert!(progress(&work(2, "True", "False")));
        assert!(
            progress(&json!({"kind": "ManifestWork", "metadata": {}})),
            "nobody has spoken"
        );
        assert_eq!(
            state(&work(2, "False", "False")),
            State::failed("AppliedFailed", "no")
        );
    }
}
