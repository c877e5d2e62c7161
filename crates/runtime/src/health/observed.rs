//! Where health and metrics are answered, for processes whose files say nothing about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HealthConfig;
use crate::config::{ConfigError, Loader};
use crate::metrics::MetricsConfig;

/// Both listeners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ObserverConfig {
    pub health: HealthConfig,
    pub metrics: MetricsConfig,
}

impl ObserverConfig {
    /// From the variables that name their keys: `HYPERFLEET_HEALTH_HOST`, `HYPERFLEET_METRICS_TLS_CERT_FILE`.
    pub fn from_environment(
        component: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ObserverConfig, ConfigError> {
        let ours = |(name, _): &(String, String)| {
            name.starts_with("HYPERFLEET_HEALTH_") || name.starts_with("HYPERFLEET_METRICS_")
        };
        let variables = variables.into_iter().filter(ours);
        Ok(Loader::new(component).env(variables).load()?.value)
    }
}
