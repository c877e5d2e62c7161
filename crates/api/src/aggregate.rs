//! How the API applies the rules of the domain to what is stored.

use hyperfleet_core::aggregation::{self, Subject};
use hyperfleet_core::kind::Registry;
use hyperfleet_core::time::Time;
use hyperfleet_store::{Aggregated, Rules, Stored};

use crate::state::ApiState;

impl Rules for ApiState {
    fn kinds(&self) -> &Registry {
        &self.kinds
    }

    fn aggregate(&self, stored: &Stored, at: Time) -> Aggregated {
        let resource = &stored.resource;
        let required = self
            .kinds
            .kind(&resource.kind)
            .map_or(&[][..], |kind| &kind.required_adapters);
        let subject = Subject {
            generation: resource.generation,
            updated_time: resource.updated_time,
            deleting: resource.is_deleting(),
            has_children: stored.has_children,
            required,
        };
        Aggregated {
            status: aggregation::status(&subject, &stored.reports, Some(&resource.status), at),
            recheck: None,
        }
    }
}
