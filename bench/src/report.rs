//! Status reports as adapters send them.

use std::sync::atomic::{AtomicU16, Ordering};

use chrono::{SecondsFormat, Utc};
use serde_json::{Value, json};

/// The adapters that report; a server under test should require them for clusters.
pub(crate) const ADAPTERS: [&str; 8] = [
    "validation",
    "dns",
    "pullsecret",
    "hypershift",
    "network",
    "identity",
    "storage",
    "monitoring",
];

/// What a report says, beside its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// What the same adapter said about the same cluster last time.
    Same,
    /// Something that it did not say before.
    New,
    /// This.
    State(u16),
}

/// All is well. Even states are, odd ones are not.
pub(crate) const DONE: Says = Says::State(0);
pub(crate) const FAILED: Says = Says::State(1);

/// What each adapter last said about each cluster.
#[derive(Debug)]
pub(crate) struct Reports {
    states: Vec<AtomicU16>,
}

impl Reports {
    pub(crate) fn new(clusters: u32) -> Reports {
        let pairs = clusters as usize * ADAPTERS.len();
        Reports {
            states: std::iter::repeat_with(AtomicU16::default)
                .take(pairs)
                .collect(),
        }
    }

    /// The next report of an adapter on a cluster.
    pub(crate) fn next(&self, cluster: u32, adapter: usize, says: Says) -> Value {
        let last = &self.states[cluster as usize * ADAPTERS.len() + adapter];
        let state = match says {
            Says::Same => last.load(Ordering::Relaxed),
            Says::New => last.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
            Says::State(state) => {
                last.store(state, Ordering::Relaxed);
                state
            }
        };
        body(ADAPTERS[adapter], state)
    }
}

fn body(adapter: &str, state: u16) -> Value {
    let (available, reason) = if state.is_multiple_of(2) {
        ("True", "AllResourcesAvailable")
    } else {
        ("False", "JobFailed")
    };
    json!({
        "adapter": adapter,
        "observed_generation": 1,
        "observed_time": Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true),
        "conditions": [
            {"type": "Available", "status": available, "reason": reason, "message": format!("attempt {state}")},
            {"type": "Applied", "status": "True", "reason": "Applied", "message": "all objects are applied"},
            {"type": "Health", "status": "True", "reason": "Healthy", "message": "nothing unexpected happened"},
        ],
        "data": {"namespace": "clusters", "job": {"attempt": state, "image": "registry.example.com/job:1.4.2"}},
        "metadata": {"job_name": format!("{adapter}-job")},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_report_differs_in_its_time_only() {
        let reports = Reports::new(2);
        let without_time = |mut report: Value| {
            report["observed_time"] = Value::Null;
            report
        };
        let first = without_time(reports.next(1, 3, DONE));
        assert_eq!(first, without_time(reports.next(1, 3, Says::Same)));
        let changed = without_time(reports.next(1, 3, Says::New));
        assert_ne!(first, changed);
        assert_eq!(changed, without_time(reports.next(1, 3, Says::Same)));
        assert_eq!(changed["conditions"][0]["status"], "False");
    }
}
