//! What a sweeper can be told.

mod load;

use std::path::PathBuf;

use hyperfleet_client::{Auth, BuildError, Client, ClientConfig, TokenFrom};
use hyperfleet_runtime::GoDuration;
use hyperfleet_runtime::health::HealthConfig;
use hyperfleet_runtime::log::LogConfig;
use hyperfleet_runtime::metrics::MetricsConfig;
use hyperfleet_transport::{KubernetesConfig, MaestroClient, MaestroConfig, OwnershipConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use load::Flags;

/// The configuration of a sweeper process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What it talks to.
    pub clients: ClientsOptions,
    /// The keys that objects are signed with; the same as the adapters'. Without a key nothing is ever deleted.
    pub ownership: OwnershipConfig,
    /// From the end of a pass to the beginning of the next.
    pub interval: GoDuration,
    /// Say what would be deleted, and delete nothing.
    pub dry_run: bool,
    /// Also delete what belongs to a resource that the API does not know and has no deletion record of. For APIs that
    /// keep no such records.
    pub trust_absence: bool,
    /// With `trust_absence`: the part of all objects that one pass may delete for it, 0 to 1. If it is more, none goes.
    pub max_share: f64,
    /// With `trust_absence`: so many may go whatever part of all they are.
    pub min_objects: u64,
    /// How fast objects are deleted.
    pub deletions_per_second: f64,
    /// No pass deletes more; the rest is left to the next.
    pub max_deletions: usize,
    /// Which of several processes sweeps.
    pub lease: LeaseOptions,
    /// How much is logged, in which form, and where to.
    pub log: LogConfig,
    /// Where `/healthz` and `/readyz` are answered.
    pub health: HealthConfig,
    /// Where `/metrics` is answered.
    pub metrics: MetricsConfig,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            clients: ClientsOptions::default(),
            ownership: OwnershipConfig::default(),
            interval: GoDuration::from_mins(5),
            dry_run: false,
            trust_absence: false,
            max_share: 0.1,
            min_objects: 10,
            deletions_per_second: 5.0,
            max_deletions: 1000,
            lease: LeaseOptions::default(),
            log: LogConfig::default(),
            health: HealthConfig::default(),
            metrics: MetricsConfig::default(),
        }
    }
}

/// What a sweeper talks to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClientsOptions {
    /// Where owners are asked for.
    pub hyperfleet_api: ApiOptions,
    /// Where objects are.
    pub kubernetes: KubernetesOptions,
    /// Where works are, if there are any: in the name of its `source_id` only.
    pub maestro: MaestroClient,
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

/// How Kubernetes is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KubernetesOptions {
    /// A kubeconfig file; without one, the service account of the pod.
    pub kube_config_path: Option<PathBuf>,
    /// Requests per second.
    pub qps: f64,
    /// Requests at once.
    pub burst: u32,
}

impl Default for KubernetesOptions {
    fn default() -> Self {
        KubernetesOptions {
            kube_config_path: None,
            qps: 20.0,
            burst: 40,
        }
    }
}

/// Which of several processes sweeps: the one that holds a Lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LeaseOptions {
    /// Where the Lease is; the namespace of the pod if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name. Sweepers of different APIs on one cluster need different ones.
    pub name: String,
    /// How long one that is not heard of keeps it; whole seconds.
    pub duration: GoDuration,
}

impl Default for LeaseOptions {
    fn default() -> Self {
        LeaseOptions {
            namespace: None,
            name: "hyperfleet-sweeper".to_owned(),
            duration: GoDuration::from_secs(15),
        }
    }
}

/// Why options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// The API is not named.
    #[error(
        "clients.hyperfleet_api.base_url is not set: give it, --hyperfleet-api-base-url or HYPERFLEET_API_BASE_URL"
    )]
    NoApi,
    /// The client of the API cannot be made.
    #[error("clients.hyperfleet_api: {0}")]
    Api(#[from] BuildError),
    /// Maestro cannot be reached as it is described.
    #[error("{0}")]
    Maestro(String),
    /// A value is out of its range.
    #[error("{key} must be {range}")]
    Range {
        /// Which value.
        key: &'static str,
        /// What it may be.
        range: &'static str,
    },
}

impl Options {
    /// Checks what no type can.
    pub fn check(&self) -> Result<(), OptionsError> {
        let positive = |number: f64| number.is_finite() && number >= 0.001;
        let kubernetes = &self.clients.kubernetes;
        let rules = [
            (
                (0.0..=1.0).contains(&self.max_share),
                "max_share",
                "from 0 to 1",
            ),
            (
                positive(self.deletions_per_second),
                "deletions_per_second",
                "a number greater than zero",
            ),
            (
                self.max_deletions > 0,
                "max_deletions",
                "at least 1; to delete nothing, use dry_run",
            ),
            (!self.interval.is_zero(), "interval", "longer than nothing"),
            (
                self.lease.duration.get().as_secs() >= 3,
                "lease.duration",
                "at least 3s",
            ),
            (!self.lease.name.is_empty(), "lease.name", "a name"),
            (
                positive(kubernetes.qps),
                "clients.kubernetes.qps",
                "a number greater than zero",
            ),
            (
                kubernetes.burst > 0,
                "clients.kubernetes.burst",
                "at least 1",
            ),
        ];
        for (holds, key, range) in rules {
            if !holds {
                return Err(OptionsError::Range { key, range });
            }
        }
        if self.clients.hyperfleet_api.base_url.is_empty() {
            return Err(OptionsError::NoApi);
        }
        self.maestro().map(drop)
    }

    /// A client of the API.
    pub fn client(&self) -> Result<Client, OptionsError> {
        let api = &self.clients.hyperfleet_api;
        let mut config = ClientConfig::new(&api.base_url);
        config.version.clone_from(&api.version);
        config.timeout = api.timeout.get();
        config.user_agent = concat!("hyperfleet-sweeper/", env!("CARGO_PKG_VERSION")).to_owned();
        config.auth = api.auth.as_ref().map(|auth| Auth {
            token: TokenFrom::File((&auth.token_path).into()),
            cache_ttl: auth.token_cache_ttl.get(),
        });
        Ok(Client::new(config)?)
    }

    /// How to reach Maestro, if anything is said about it.
    pub fn maestro(&self) -> Result<Option<MaestroConfig>, OptionsError> {
        let maestro = &self.clients.maestro;
        let target = maestro.is_configured().then(|| maestro.target());
        target.transpose().map_err(OptionsError::Maestro)
    }

    /// How to reach the cluster.
    pub fn kubernetes(&self) -> KubernetesConfig {
        let from = &self.clients.kubernetes;
        let mut config = KubernetesConfig::new("hyperfleet-sweeper");
        config.kube_config_path.clone_from(&from.kube_config_path);
        config.qps = from.qps;
        config.burst = from.burst;
        config
    }
}
