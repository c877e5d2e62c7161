//! The event about one resource.

use hyperfleet_broker::Event;
use hyperfleet_core::time::Time;
use hyperfleet_runtime::trace::current_traceparent;
use serde_json::Value;
use uuid::Uuid;

use crate::payload::Payload;

/// What all events of one Sentinel share.
#[derive(Debug)]
pub(crate) struct EventForm {
    /// `sentinel-operator/<name>`.
    pub(crate) source: String,
    pub(crate) payload: Payload,
    /// Stands in for a resource that does not say its kind.
    pub(crate) resource_type: String,
}

impl EventForm {
    pub(crate) fn build(&self, resource: &Value, reason: &str, now: Time) -> Event {
        let kind = resource["kind"]
            .as_str()
            .filter(|kind| !kind.is_empty())
            .unwrap_or(&self.resource_type);
        let data = self.payload.build(resource, reason, now);
        let id = Uuid::now_v7().to_string();
        Event::reconcile(kind, self.source.as_str(), data, now, id)
            .with_traceparent(current_traceparent().unwrap_or_else(new_trace))
    }
}

/// A new trace, in W3C form: whatever follows from the event belongs to it.
fn new_trace() -> String {
    let (trace, span) = (Uuid::new_v4().as_u128(), Uuid::new_v4().as_u64_pair().1);
    format!("00-{trace:032x}-{span:016x}-01")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_has_the_documented_attributes() {
        let form = EventForm {
            source: "sentinel-operator/east".to_owned(),
            payload: Payload::compile(None, "nodepools").unwrap(),
            resource_type: "nodepools".to_owned(),
        };
        let now: Time = "2026-01-01T00:00:00Z".parse().unwrap();
        let event = form.build(
            &json!({"id": "n1", "kind": "NodePool", "generation": 1}),
            "created",
            now,
        );
        assert_eq!(event.ty, "com.redhat.hyperfleet.nodepool.reconcile.v1");
        assert_eq!(event.source, "sentinel-operator/east");
        assert_eq!(event.time, Some(now));
        assert_eq!(event.data["resource_id"], "n1");
        assert_eq!(Uuid::parse_str(&event.id).unwrap().get_version_num(), 7);
        let trace = event.traceparent().unwrap();
        assert_eq!((trace.len(), &trace[..3], &trace[52..]), (55, "00-", "-01"));
        let bare = form.build(&json!({}), "created", now);
        assert_eq!(bare.ty, "com.redhat.hyperfleet.nodepools.reconcile.v1");
        assert_ne!(bare.traceparent(), event.traceparent());
    }
}
