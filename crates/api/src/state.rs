//! What every handler can reach.

use std::sync::Arc;

use hyperfleet_core::kind::Registry;
use hyperfleet_core::time::Time;
use hyperfleet_store::Store;

use crate::rules::RulesInForce;
use crate::schema::SpecSchemas;
use crate::watch::hub::Hub;

/// Shared by all requests; cheap to clone.
#[derive(Debug, Clone)]
pub struct ApiState {
    pub store: Store,
    pub kinds: Arc<Registry>,
    /// What specs must look like.
    pub schemas: Arc<SpecSchemas>,
    /// Where watchers hear of changes.
    pub hub: Arc<Hub>,
    /// What makes the status of each kind.
    pub rules: RulesInForce,
    /// Told by the metadata route.
    pub version: &'static str,
}

impl ApiState {
    pub(crate) fn now(&self) -> Time {
        hyperfleet_core::time::storable(chrono::Utc::now())
    }
}
