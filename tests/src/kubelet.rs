//! A kubelet and an operator, played: on a real apiserver nothing runs, so somebody must say what came of it.
//!
//! It obeys the annotations that steer kubesim, so that a scenario means the same on both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::kubernetes::{Connection, HOSTED_CLUSTERS, Kubernetes, NODE_POOLS, metadata};

/// How often it looks. Short, because this is not what is measured.
const LOOK: Duration = Duration::from_millis(50);

/// Works until it is dropped.
pub struct Kubelet {
    stop: Arc<AtomicBool>,
    worker: Option<JoinHandle<()>>,
}

impl Kubelet {
    pub fn start(kubernetes: Kubernetes) -> Kubelet {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let worker = std::thread::spawn(move || {
            let mut connection = None;
            while !stopped.load(Ordering::Relaxed) {
                // An apiserver that is away is asked again by a new connection.
                connection = connection.or_else(|| kubernetes.connect().ok());
                if let Some(open) = &connection
                    && work(open).is_err()
                {
                    connection = None;
                }
                std::thread::sleep(LOOK);
            }
        });
        Kubelet {
            stop,
            worker: Some(worker),
        }
    }
}

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

fn work(on: &Connection) -> Result<()> {
    for job in on.list("/apis/batch/v1/jobs?fieldSelector=status.successful%3D0")? {
        if let Some(status) = finished(&job) {
            let path = path("/apis/batch/v1", "jobs", &job);
            settle(on, &path, &status);
        }
    }
    for (all, plural, condition) in [
        (HOSTED_CLUSTERS, "hostedclusters", "Available"),
        (NODE_POOLS, "nodepools", "Ready"),
    ] {
        for object in on.list(all)? {
            if let Some(status) = brought_about(&object, condition) {
                let path = path("/apis/hypershift.openshift.io/v1beta1", plural, &object);
                settle(on, &path, &status);
            }
        }
    }
    Ok(())
}

fn path(group: &str, plural: &str, object: &Value) -> String {
    let (namespace, name) = (metadata(object, "namespace"), metadata(object, "name"));
    format!("{group}/namespaces/{namespace}/{plural}/{name}/status")
}

/// What vanished meanwhile needs no status.
fn settle(on: &Connection, path: &str, status: &Value) {
    let _ = on.patch(path, &json!({ "status": status }));
}

fn steering<'o>(object: &'o Value, key: &str) -> Option<&'o str> {
    let key = format!("kubesim.hyperfleet.io/{key}");
    object["metadata"]["annotations"][key].as_str()
}

fn is_deleting(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The status of a Job that has just ended; `None` if it ended before, or does not end.
fn finished(job: &Value) -> Option<Value> {
    let conditions = job["status"]["conditions"].as_array();
    let ended = conditions.into_iter().flatten().any(|condition| {
        ["Complete", "Failed"]
            .iter()
            .any(|end| condition["type"] == *end)
    });
    let outcome = steering(job, "outcome").unwrap_or("succeed");
    // The controller says when it started; before that it has not seen the Job.
    let started = job["status"]["startTime"].as_str()?;
    if ended || is_deleting(job) || outcome == "hang" {
        return None;
    }
    let now = now();
    let message = steering(job, "message").unwrap_or_default();
    let met = |kind: &str, reason: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": now, "lastProbeTime": now})
    };
    let mut status = json!({"startTime": started, "active": 0, "ready": 0, "terminating": 0,
        "uncountedTerminatedPods": {}});
    if outcome == "fail" {
        status["failed"] = json!(1);
        let reason = "PodFailurePolicy";
        status["conditions"] = json!([met("FailureTarget", reason), met("Failed", reason)]);
    } else {
        status["succeeded"] = json!(1);
        status["completionTime"] = json!(now);
        let reason = "CompletionsReached";
        status["conditions"] = json!([met("SuccessCriteriaMet", reason), met("Complete", reason)]);
    }
    Some(status)
}

/// The status of an object whose operator has just done its work; `None` if there was nothing to do.
fn brought_about(object: &Value, condition: &str) -> Option<Value> {
    let generation = &object["metadata"]["generation"];
    if is_deleting(object) || object["status"]["observedGeneration"] == *generation {
        return None;
    }
    let mut status = json!({"observedGeneration": generation, "conditions": [{"type": condition, "status": "True",
        "reason": "AsExpected", "message": "it is as it should be", "lastTransitionTime": now()}]});
    if let Some(replicas) = object["spec"].get("replicas") {
        status["replicas"] = replicas.clone();
    }
    Some(status)
}
