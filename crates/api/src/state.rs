//! What every handler can reach.

use std::sync::Arc;
use std::time::Duration;

use hyperfleet_core::kind::Registry;
use hyperfleet_core::time::Time;
use hyperfleet_store::Store;

use crate::config::{StatusesFormat, TimeoutsConfig};
use crate::rules::RulesInForce;
use crate::schema::SpecSchemas;
use crate::security::Security;
use crate::watch::hub::Hub;

/// How long callers are waited for.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// The body of a request.
    pub read: Duration,
    /// A whole request up to the head of its answer.
    pub write: Duration,
}

impl From<&TimeoutsConfig> for Timeouts {
    fn from(config: &TimeoutsConfig) -> Timeouts {
        let least = Duration::from_secs(1);
        Timeouts {
            read: config.read.get().max(least),
            write: config.write.get().max(least),
        }
    }
}

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
    pub timeouts: Timeouts,
    /// Who gets in, and how far.
    pub security: Arc<Security>,
    /// How reports are answered.
    pub statuses_format: StatusesFormat,
    /// Told by the metadata route.
    pub version: &'static str,
}

impl ApiState {
    pub(crate) fn now(&self) -> Time {
        hyperfleet_core::time::storable(chrono::Utc::now())
    }
}
