//! What the decision looks at, in a resource of any API version.

use std::hash::{DefaultHasher, Hash, Hasher};

use hyperfleet_client::{RemoteResource, RemoteStatus};
use hyperfleet_core::condition::types;
use hyperfleet_core::due::View;
use hyperfleet_core::generation::Generation;
use hyperfleet_core::time::Time;

/// The view of a resource as it came from an API.
///
/// The Go API v1.0 has no phase: there `Reconciled=True` alone is ready. A resource without both
/// (a kind without required adapters on that API) is never ready, so it is looked at every
/// `backoff_not_ready`; that API publishes it on every poll.
pub fn view(resource: &RemoteResource) -> View {
    let reconciled = resource.condition(types::RECONCILED);
    let phase_is_ready = resource
        .status
        .phase
        .as_deref()
        .map(|phase| phase == "Ready");
    let ready = match reconciled {
        Some(condition) => condition.status == "True" && phase_is_ready.unwrap_or(true),
        None => phase_is_ready.unwrap_or(false),
    };
    let changed = resource.updated_time.or(resource.created_time);
    let last_updated_time = reconciled
        .and_then(|condition| condition.last_updated_time)
        .or(resource.status.last_updated_time);
    View {
        generation: Generation::try_from(resource.generation).unwrap_or(Generation::FIRST),
        deleting: resource.is_deleting(),
        ready,
        updated_time: changed.unwrap_or(Time::UNIX_EPOCH),
        reported: match (last_updated_time, changed) {
            (Some(updated), Some(changed)) => updated > changed,
            (Some(_), None) => true,
            (None, _) => false,
        },
        last_updated_time: last_updated_time.or(changed).unwrap_or(Time::UNIX_EPOCH),
        progress: progress(&resource.status),
    }
}

/// What adapters may wait for, and nothing that a report without news moves. An API that does not sum up its adapters
/// (v1.0) has a condition for each, with the generation it is about.
fn progress(status: &RemoteStatus) -> u64 {
    let mut hasher = DefaultHasher::new();
    status.phase.hash(&mut hasher);
    status.adapters.hash(&mut hasher);
    for condition in &status.conditions {
        (&condition.kind, &condition.status).hash(&mut hasher);
        if status.adapters.is_empty() {
            condition.observed_generation.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(json: Value) -> View {
        view(&RemoteResource::from_json(json).unwrap())
    }

    fn reconciled(status: &str, time: &str) -> Value {
        json!([{"type": "Reconciled", "status": status, "last_updated_time": time}])
    }

    #[test]
    fn ready_needs_reconciled_and_where_there_is_one_the_phase() {
        let ready = |status: Value| of(json!({"id": "a", "status": status})).ready;
        let yes = reconciled("True", "2026-01-01T00:00:00Z");
        let no = reconciled("False", "2026-01-01T00:00:00Z");
        assert!(ready(json!({"conditions": yes})), "Go API");
        assert!(ready(json!({"conditions": yes, "phase": "Ready"})));
        assert!(!ready(json!({"conditions": yes, "phase": "Degraded"})));
        assert!(!ready(json!({"conditions": no, "phase": "Ready"})));
        assert!(!ready(json!({"conditions": no})));
        assert!(
            ready(json!({"phase": "Ready"})),
            "a kind without required adapters"
        );
        assert!(!ready(json!({"phase": "Not Ready"})));
        assert!(!ready(json!({})));
    }

    #[test]
    fn reported_means_since_the_last_change() {
        let at = |updated: &str, report: &str| {
            of(
                json!({"updated_time": updated, "status": {"conditions": reconciled("False", report)}}),
            )
        };
        let (noon, later) = ("2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z");
        assert!(at(noon, later).reported);
        assert!(
            !at(noon, noon).reported,
            "the API stamps the change time until somebody reports"
        );
        assert!(!at(later, noon).reported);
        assert_eq!(
            at(noon, later).last_updated_time,
            later.parse::<Time>().unwrap()
        );
    }

    #[test]
    fn without_any_status_the_change_time_counts_and_nobody_has_reported() {
        let bare = of(
            json!({"generation": 3, "updated_time": "2026-01-01T12:00:00Z", "deleted_time": "2026-01-01T12:00:00Z"}),
        );
        assert_eq!(
            (bare.generation.get(), bare.reported, bare.deleting),
            (3, false, true)
        );
        assert_eq!(
            bare.last_updated_time,
            "2026-01-01T12:00:00Z".parse::<Time>().unwrap()
        );
    }
}
