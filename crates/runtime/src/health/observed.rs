//! How a process is observed, for those whose files say nothing about it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HealthConfig;
use crate::config::{ConfigError, Loader};
use crate::metrics::MetricsConfig;
use crate::trace::TracingConfig;

/// The variables of the adapters' architecture document, and what they are called here.
const OLDER: [(&str, &str); 10] = [
    ("HEALTH_ENABLED", "HYPERFLEET_HEALTH_ENABLED"),
    ("HEALTH_PORT", "HYPERFLEET_HEALTH_PORT"),
    ("HEALTH_LIVENESS_PATH", "HYPERFLEET_HEALTH_LIVENESS_PATH"),
    ("HEALTH_READINESS_PATH", "HYPERFLEET_HEALTH_READINESS_PATH"),
    ("METRICS_ENABLED", "HYPERFLEET_METRICS_ENABLED"),
    ("METRICS_PORT", "HYPERFLEET_METRICS_PORT"),
    ("METRICS_PATH", "HYPERFLEET_METRICS_PATH"),
    ("TRACE_ENABLED", "HYPERFLEET_TRACING_ENABLED"),
    ("TRACE_ENDPOINT", "HYPERFLEET_TRACING_ENDPOINT"),
    ("TRACE_SAMPLE_RATE", "HYPERFLEET_TRACING_SAMPLE_RATE"),
];

/// What Kubernetes puts into `METRICS_PORT` where there is a Service called `metrics`.
const OF_A_SERVICE: &str = "tcp://";

/// Both listeners, and traces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ObserverConfig {
    pub health: HealthConfig,
    pub metrics: MetricsConfig,
    pub tracing: TracingConfig,
}

impl ObserverConfig {
    /// From the variables that name their keys: `HYPERFLEET_HEALTH_HOST`, `HYPERFLEET_METRICS_TLS_CERT_FILE`,
    /// `HYPERFLEET_TRACING_ENABLED`; and from the older names of some.
    pub fn from_environment(
        component: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<ObserverConfig, ConfigError> {
        let mut variables: BTreeMap<String, String> = variables.into_iter().collect();
        for (older, name) in OLDER {
            let said = variables.get(older).cloned();
            let said = said.filter(|value| !value.starts_with(OF_A_SERVICE));
            if let Some(value) = said {
                variables.entry(name.to_owned()).or_insert(value);
            }
        }
        let ours = [
            "HYPERFLEET_HEALTH_",
            "HYPERFLEET_METRICS_",
            "HYPERFLEET_TRACING_",
        ];
        variables.retain(|name, _| ours.iter().any(|prefix| name.starts_with(prefix)));
        Ok(Loader::new(component).env(variables).load()?.value)
    }
}
