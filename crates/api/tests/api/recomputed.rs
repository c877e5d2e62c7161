//! Holds what is stored against what follows from it.

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{Rules, Stored};
use serde_json::Value;

use crate::caller::Caller;

/// What the API says about a resource, read from outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) resource: Value,
    pub(crate) statuses: Value,
}

impl Seen {
    /// `None` when it is gone.
    pub(crate) async fn of(api: &Caller, href: &str) -> Option<Seen> {
        let resource = api.get(href).await;
        if resource.status == 404 {
            assert!(resource.body["deletion"].is_object(), "{}", resource.body);
            return None;
        }
        assert_eq!(resource.status, 200, "{}", resource.body);
        let statuses = api.get(&format!("{href}/statuses")).await;
        assert_eq!(statuses.status, 200, "{}", statuses.body);
        Some(Seen {
            resource: resource.body,
            statuses: statuses.body,
        })
    }

    /// What is stored for an adapter.
    pub(crate) fn report(&self, adapter: &str) -> Option<&Value> {
        let reports = self.statuses["adapter_statuses"].as_array().unwrap();
        reports.iter().find(|report| report["adapter"] == adapter)
    }

    /// The stored status must be the one that follows from the stored reports.
    pub(crate) fn assert_aggregated(&self, api: &Caller, has_children: bool) {
        let resource: Resource = serde_json::from_value(self.resource.clone()).unwrap();
        let reports: Vec<AdapterStatus> =
            serde_json::from_value(self.statuses["adapter_statuses"].clone()).unwrap();
        let stored = Stored {
            resource,
            reports,
            has_children,
        };
        let aggregated = api.state.aggregate(&stored, chrono::Utc::now());
        assert_eq!(stored.resource.status, aggregated.status);
    }
}
