//! The deployment configuration: who the adapter is and what it talks to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hyperfleet_runtime::log::LogConfig;
use hyperfleet_runtime::{GoDuration, Secret};
use hyperfleet_transport::{MaestroClient, OwnershipConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::older::{Metadata, Spec};

/// Who an adapter is and what it talks to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Deployment {
    /// Identity.
    pub adapter: Identity,
    /// Logging.
    pub log: LogConfig,
    /// The servers it talks to.
    pub clients: Clients,
    /// How events are taken.
    #[serde(alias = "messageBroker")]
    #[schemars(extend("x-aliases" = ["messageBroker"]))]
    pub message_broker: MessageBroker,
    /// How it is proven that an object is ours.
    pub ownership: OwnershipConfig,
    /// Log the effective configuration at start and answer it at `/config` of the health port, secrets redacted.
    pub debug_config: bool,
    /// Only in the wrapped files of older versions.
    #[serde(rename = "apiVersion", skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Only in the wrapped files of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only in the wrapped files of older versions; its name is `adapter.name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Only in the wrapped files of older versions, in their camelCase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<Spec>,
}

impl Deployment {
    /// What expressions, logs and people may see of it.
    pub fn redacted(&self) -> Json {
        // Plain structs of texts and numbers always serialise.
        let mut shown = serde_json::to_value(self).unwrap_or_default();
        hyperfleet_runtime::secret::redact(&mut shown);
        shown
    }
}

/// Identity of an adapter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Identity {
    /// Its name in reports, labels, metrics and logs. Required.
    pub name: String,
    /// The framework version it was written for; major and minor must match. Empty: any.
    pub version: String,
}

/// The servers an adapter talks to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Clients {
    /// The HyperFleet API.
    pub hyperfleet_api: ApiClient,
    /// The message broker.
    pub broker: BrokerClient,
    /// The cluster that objects are applied to.
    pub kubernetes: KubernetesClient,
    /// The Maestro server that works are handed to.
    pub maestro: MaestroClient,
}

/// The HyperFleet API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiClient {
    /// Scheme, host and port.
    pub base_url: String,
    /// The version in `/api/hyperfleet/<version>`.
    pub version: String,
    /// Bounds one attempt.
    pub timeout: GoDuration,
    /// Attempts in total.
    pub retry_attempts: u32,
    /// How waits grow.
    pub retry_backoff: RetryBackoff,
    /// The first wait.
    pub base_delay: GoDuration,
    /// No wait is longer.
    pub max_delay: GoDuration,
    /// Sent with every request to the API. Any of them may be a credential, so none is shown.
    pub default_headers: BTreeMap<String, Secret>,
    /// Who we are to the API.
    pub auth: ApiAuth,
    /// What calls may go to beside the API itself: scheme, host and port, such as `https://vault.example.com:8200`.
    /// Link-local addresses are never asked.
    pub allowed_origins: Vec<String>,
}

impl Default for ApiClient {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            version: "v1".to_owned(),
            timeout: GoDuration::from_secs(10),
            retry_attempts: 3,
            retry_backoff: RetryBackoff::default(),
            base_delay: GoDuration::from_secs(1),
            max_delay: GoDuration::from_secs(30),
            default_headers: BTreeMap::new(),
            auth: ApiAuth::default(),
            allowed_origins: Vec::new(),
        }
    }
}

/// How waits between attempts grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetryBackoff {
    /// Doubling.
    #[default]
    Exponential,
    /// By the same amount.
    Linear,
    /// Not at all.
    Constant,
}

/// Who we are to the API.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiAuth {
    /// Absolute path of a file with a bearer token. Empty: the token in `HYPERFLEET_API_TOKEN`, if there is one.
    pub token_path: String,
    /// How long a token is used before it is read again; zero reads it for every request.
    pub token_cache_ttl: GoDuration,
}

/// The message broker; which one it is, and where, is the broker's own configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BrokerClient {
    /// The subscription shared by all replicas of this adapter.
    pub subscription_id: String,
    /// The topic the Sentinel publishes to.
    pub topic: String,
}

/// How events are taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MessageBroker {
    /// Resources worked on at the same time.
    #[serde(alias = "maxConcurrency")]
    #[schemars(extend("x-aliases" = ["maxConcurrency"]))]
    pub max_concurrency: usize,
    /// How long one event may take.
    #[serde(alias = "eventTimeout")]
    #[schemars(extend("x-aliases" = ["eventTimeout"]))]
    pub event_timeout: GoDuration,
}

impl Default for MessageBroker {
    fn default() -> Self {
        Self {
            max_concurrency: 10,
            event_timeout: GoDuration::from_secs(120),
        }
    }
}

/// The cluster that objects are applied to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KubernetesClient {
    /// A kubeconfig file; without one, the service account of the pod.
    pub kube_config_path: Option<PathBuf>,
    /// Requests per second; zero is 100.
    pub qps: f64,
    /// Requests that may come before their time by `qps`; zero is 200. At most 32 are under way at a time.
    pub burst: u32,
    /// Accepted for older files; the version is discovered.
    pub api_version: String,
}

impl Default for KubernetesClient {
    fn default() -> Self {
        Self {
            kube_config_path: None,
            qps: 100.0,
            burst: 200,
            api_version: String::new(),
        }
    }
}
