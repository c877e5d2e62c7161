//! Jobs that ended, each told of once.
//!
//! Every event shows a Job that ended again. Only this process' own time counts: what ended before it began was told of
//! by the one before it.

use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, Utc};
use hashlink::LruCache;
use parking_lot::Mutex;
use serde_json::Value as Json;

use crate::workload::{self, State};

/// Remembered. Jobs that are still looked at after so many others have ended would be told of again.
const MOST: usize = 10_000;

#[derive(Debug)]
pub(super) struct Jobs {
    since: DateTime<Utc>,
    told: Mutex<LruCache<String, ()>>,
}

/// How a Job ended, and how long it took.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) result: &'static str,
    pub(super) took: Duration,
}

impl Jobs {
    /// Kubernetes writes times to the second.
    pub(super) fn since(since: DateTime<Utc>) -> Self {
        Self {
            since: since.trunc_subsecs(0),
            told: Mutex::new(LruCache::new(MOST)),
        }
    }

    /// What is to be told of an object, if it is a Job that ended.
    pub(super) fn see(&self, object: &Json) -> Option<Ended> {
        if object["kind"] != "Job" {
            return None;
        }
        let result = match workload::state(object) {
            State::Ready => "succeeded",
            State::Failed { .. } => "failed",
            State::Progress { .. } => return None,
        };
        let uid = object["metadata"]["uid"].as_str()?;
        let began = time(&object["status"]["startTime"])?;
        let ended = workload::ended(object)?;
        if ended < self.since || self.told.lock().insert(uid.to_owned(), ()).is_some() {
            return None;
        }
        let took = (ended - began).to_std().unwrap_or_default();
        Some(Ended { result, took })
    }
}

fn time(value: &Json) -> Option<DateTime<Utc>> {
    value.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn jobs() -> Jobs {
        Jobs::since("2026-01-01T12:00:00.9Z".parse().unwrap())
    }

    fn ended(uid: &str, condition: &str, at: &str) -> Json {
        let condition = json!({"type": condition, "status": "True", "lastTransitionTime": at});
        let status = json!({"startTime": "2026-01-01T11:59:30Z", "conditions": [condition]});
        json!({"kind": "Job", "metadata": {"uid": uid}, "status": status})
    }

    #[test]
    fn the_end_of_a_job_is_told_once() {
        let jobs = jobs();
        let good = ended("a", "Complete", "2026-01-01T12:00:00Z");
        let took = |seconds| Duration::from_secs(seconds);
        let told = jobs.see(&good).unwrap();
        assert_eq!((told.result, told.took), ("succeeded", took(30)));
        assert_eq!(jobs.see(&good), None);
        let bad = ended("b", "Failed", "2026-01-01T12:00:30Z");
        let told = jobs.see(&bad).unwrap();
        assert_eq!((told.result, told.took), ("failed", took(60)));
    }

    #[test]
    fn what_runs_what_ended_before_and_what_is_no_job_is_not_told() {
        let jobs = jobs();
        let before = ended("a", "Complete", "2026-01-01T11:59:59Z");
        let mut running = ended("b", "Complete", "2026-01-01T12:00:00Z");
        running["status"]["conditions"] = json!([]);
        let mut other = ended("c", "Available", "2026-01-01T12:00:00Z");
        other["kind"] = json!("Deployment");
        for object in [before, running, other, json!({"kind": "Job"})] {
            assert_eq!(jobs.see(&object), None, "{object}");
        }
    }
}
