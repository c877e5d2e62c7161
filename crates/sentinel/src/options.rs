//! What a Sentinel can be told, in the words of both generations of documents.
//!
//! ```text
//!  file, environment, flags ──► Options ──Options::kinds──► one KindPlan per kind, compiled and checked
//! ```

mod announced;
mod check;
mod load;

#[cfg(test)]
mod tests;

use hyperfleet_runtime::GoDuration;
use hyperfleet_runtime::health::HealthConfig;
use hyperfleet_runtime::log::LogConfig;
use hyperfleet_runtime::metrics::MetricsConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use check::KindPlan;
pub use check::OptionsError;
pub use load::Flags;

/// The configuration of a Sentinel process.
///
/// What stands at the top level holds for every kind in `sentinels` that does not say otherwise;
/// with a `resource_type` of its own the top level is a kind itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Who this Sentinel is.
    pub sentinel: IdentityOptions,
    /// What it talks to.
    pub clients: ClientsOptions,
    /// The API, as the first documents wrote it; wins over `clients.hyperfleet_api` where it says something.
    pub hyperfleet_api: SeedApiOptions,
    /// The kind to watch, by the plural in its path: `clusters`, `nodepools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// How often the whole list is read, from an API without a change feed.
    pub poll_interval: GoDuration,
    /// How long after the last report a resource that is not ready is looked at again.
    #[serde(alias = "max_age_not_ready")]
    #[schemars(extend("x-aliases" = ["max_age_not_ready"]))]
    pub backoff_not_ready: GoDuration,
    /// How long after the last report a resource that is ready is looked at again.
    #[serde(alias = "max_age_ready")]
    #[schemars(extend("x-aliases" = ["max_age_ready"]))]
    pub backoff_ready: GoDuration,
    /// Only resources that have all these labels.
    pub resource_selector: Vec<Selector>,
    /// Decide by expressions instead of by the two backoffs: `default` for the rules of v1.0, or rules of your own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_decision: Option<Decide>,
    /// What an event says: per key a path (`.id`), a CEL expression over `resource` and `reason`, a literal, or a nested mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_data: Option<Map<String, Value>>,
    /// Events that may wait for their confirmation at the same time.
    pub max_in_flight: usize,
    /// How many events may go out in a second, of each kind: what an outage held up does not come as a flood. 0 is no
    /// limit.
    pub max_events_per_second: u32,
    /// By how much a wait may be longer, as a part of it: what was reconciled together is not due together again. Each
    /// resource has its own share of it, always the same. 0 to 1.
    pub jitter: f64,
    /// Whether changes are followed as they happen where the API can tell them. Otherwise, and where it cannot, the
    /// list is read every `poll_interval`.
    pub feed: bool,
    /// Beside the feed the whole list is read this often, slowly: what was lost anywhere is found again.
    pub full_pass_interval: GoDuration,
    /// Several kinds in one process.
    pub sentinels: Vec<KindOptions>,
    /// How much is logged, in which form, and where to.
    pub log: LogConfig,
    /// Where `/healthz` and `/readyz` are answered.
    pub health: HealthConfig,
    /// Where `/metrics` is answered.
    pub metrics: MetricsConfig,
    /// Log the effective configuration at start.
    pub debug_config: bool,
    /// Whether spans are exported over OTLP. Events carry a `traceparent` in any case.
    pub tracing_enabled: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            sentinel: IdentityOptions::default(),
            clients: ClientsOptions::default(),
            hyperfleet_api: SeedApiOptions::default(),
            resource_type: None,
            poll_interval: GoDuration::from_secs(5),
            backoff_not_ready: GoDuration::from_secs(10),
            backoff_ready: GoDuration::from_mins(30),
            resource_selector: Vec::new(),
            message_decision: None,
            message_data: None,
            max_in_flight: 64,
            max_events_per_second: 5000,
            jitter: 0.1,
            feed: true,
            full_pass_interval: GoDuration::from_mins(10),
            sentinels: Vec::new(),
            log: LogConfig::default(),
            health: HealthConfig::default(),
            metrics: MetricsConfig::default(),
            debug_config: false,
            tracing_enabled: false,
        }
    }
}

/// Who a Sentinel is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IdentityOptions {
    /// In the source of its events and in its user agent. Replicas have the same.
    pub name: String,
    /// Whether several processes with the same name and selectors share the work.
    pub replicas: Replicas,
    /// How long a replica that is not heard of keeps its share. Renewed every third of it; whole seconds.
    pub lease_duration: GoDuration,
    /// With `replicas: kubernetes`: the namespace of the Lease; that of the pod if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_namespace: Option<String>,
    /// With `replicas: kubernetes`: a kubeconfig file; the service account of the pod if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_config_path: Option<String>,
}

/// Who else may do the same work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replicas {
    /// Nobody: this process sends everything. Others that watch the same are reported, and events are sent twice.
    #[default]
    Single,
    /// Processes that find each other through the API.
    Api,
    /// Processes that find each other through a Lease object of the Kubernetes they run in.
    Kubernetes,
}

impl Default for IdentityOptions {
    fn default() -> Self {
        IdentityOptions {
            name: "hyperfleet-sentinel".to_owned(),
            replicas: Replicas::Single,
            lease_duration: GoDuration::from_secs(15),
            lease_namespace: None,
            kube_config_path: None,
        }
    }
}

/// What a Sentinel talks to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClientsOptions {
    /// Where resources are read.
    pub hyperfleet_api: ApiOptions,
    /// Where events are sent.
    pub broker: BrokerOptions,
}

/// How the API is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApiOptions {
    /// Scheme and host, such as `http://hyperfleet-api:8000`.
    pub base_url: String,
    /// The version in its paths.
    pub version: String,
    /// How long one request may take.
    pub timeout: GoDuration,
    /// Resources per request, 1 to 100.
    pub page_size: u32,
    /// The token to show; without, none is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<AuthOptions>,
}

impl Default for ApiOptions {
    fn default() -> Self {
        ApiOptions {
            base_url: String::new(),
            version: "v1".to_owned(),
            timeout: GoDuration::from_secs(10),
            page_size: 100,
            auth: None,
        }
    }
}

/// Where the token comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuthOptions {
    /// Absolute path of the file that holds the token.
    pub token_path: String,
    /// How long a token is used before the file is read again.
    pub token_cache_ttl: GoDuration,
}

/// Where events are sent. Which broker it is stands in the broker's own configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerOptions {
    /// The topic; `hyperfleet.<resource_type>.changed.v1` if empty.
    pub topic: String,
}

/// The API, as the first documents wrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SeedApiOptions {
    /// The same as `clients.hyperfleet_api.base_url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The same as `clients.hyperfleet_api.timeout`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<GoDuration>,
}

/// A label a resource must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// The label.
    pub label: String,
    /// Its value.
    pub value: String,
}

/// How `message_decision` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Decide {
    /// `default`: the rules of v1.0.
    Named(String),
    /// Rules of one's own.
    Rules(DecisionRules),
}

/// Expressions that decide whether a resource needs an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionRules {
    /// Named values; each sees `resource`, `now`, `condition(type)` and those before it.
    pub params: Vec<Param>,
    /// True when an event is due. Empty, with no params: the rules of v1.0.
    pub result: String,
}

/// A named value of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// The name later expressions use.
    pub name: String,
    /// A CEL expression.
    pub expr: String,
}

/// One kind of several; what is left out is as at the top level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KindOptions {
    /// The kind to watch, by the plural in its path.
    pub resource_type: String,
    /// The name in the source of its events; `<sentinel.name>` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The topic of its events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// As at the top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<GoDuration>,
    /// As at the top level.
    #[serde(alias = "max_age_not_ready", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-aliases" = ["max_age_not_ready"]))]
    pub backoff_not_ready: Option<GoDuration>,
    /// As at the top level.
    #[serde(alias = "max_age_ready", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-aliases" = ["max_age_ready"]))]
    pub backoff_ready: Option<GoDuration>,
    /// As at the top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_selector: Option<Vec<Selector>>,
    /// As at the top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_decision: Option<Decide>,
    /// As at the top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_data: Option<Map<String, Value>>,
}

impl Options {
    /// A Sentinel for these kinds of the API at `base_url`, everything else as by default.
    pub fn for_kinds<'k>(
        base_url: impl Into<String>,
        resource_types: impl IntoIterator<Item = &'k str>,
    ) -> Options {
        let mut options = Options::default();
        options.clients.hyperfleet_api.base_url = base_url.into();
        options.sentinels = resource_types
            .into_iter()
            .map(|resource_type| KindOptions {
                resource_type: resource_type.to_owned(),
                ..KindOptions::default()
            })
            .collect();
        options
    }
}
