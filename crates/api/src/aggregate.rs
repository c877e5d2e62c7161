//! How the API applies the rules of the domain to what is stored.

use hyperfleet_core::aggregation::{self, Subject};
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Registry;
use hyperfleet_core::time::Time;
use hyperfleet_store::{Aggregated, Rules, Stored};

use crate::state::ApiState;

impl Rules for ApiState {
    fn kinds(&self) -> &Registry {
        &self.kinds
    }

    fn required(&self, kind: &str) -> Vec<AdapterName> {
        self.rules.now().rules(kind).required().to_vec()
    }

    fn aggregate(&self, stored: &Stored, at: Time) -> Aggregated {
        let subject = Subject {
            resource: &stored.resource,
            has_children: stored.has_children,
        };
        let rules = self.rules.now();
        let rules = rules.rules(&stored.resource.kind);
        aggregation::aggregate(&subject, &stored.reports, at, rules)
    }
}
