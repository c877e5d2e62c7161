//! The configuration of `hyperfleet api serve`.

use std::path::PathBuf;

use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::HealthConfig;
use hyperfleet_runtime::log::LogConfig;
use hyperfleet_runtime::metrics::MetricsConfig;
use hyperfleet_runtime::trace::TracingConfig;
use hyperfleet_runtime::{GoDuration, Secret};
use hyperfleet_store::{ConnectError, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything the API can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiConfig {
    pub server: ServerConfig,
    pub database: DatabaseConfig,
    pub history: HistoryConfig,
    pub logging: LogConfig,
    pub tracing: TracingConfig,
    pub metrics: ApiMetricsConfig,
    pub health: HealthConfig,
    /// The kinds of resources that are served. Cluster and NodePool if nothing is said.
    pub entities: Vec<Kind>,
}

impl Default for ApiConfig {
    fn default() -> Self {
        ApiConfig {
            server: ServerConfig::default(),
            database: DatabaseConfig::default(),
            history: HistoryConfig::default(),
            logging: LogConfig::default(),
            tracing: TracingConfig::default(),
            metrics: ApiMetricsConfig::default(),
            health: HealthConfig::default(),
            entities: Kind::defaults(),
        }
    }
}

/// Where metrics are served, and what counts as stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiMetricsConfig {
    /// Address to listen on for `/metrics`. Empty means all addresses.
    pub host: String,
    /// Port to listen on for `/metrics`. The same address as health shares its listener.
    pub port: u16,
    /// How long a resource may be not reconciled before it counts as stuck.
    pub reconciliation_stuck_threshold: GoDuration,
}

impl ApiMetricsConfig {
    /// What every component with metrics can be told.
    pub fn listen(&self) -> MetricsConfig {
        MetricsConfig {
            host: self.host.clone(),
            port: self.port,
        }
    }
}

impl Default for ApiMetricsConfig {
    fn default() -> Self {
        let listen = MetricsConfig::default();
        ApiMetricsConfig {
            host: listen.host,
            port: listen.port,
            reconciliation_stuck_threshold: GoDuration::from_secs(10 * 60),
        }
    }
}

/// Where the API listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServerConfig {
    /// Address to listen on. Empty means all addresses.
    pub host: String,
    /// Port to listen on.
    pub port: u16,
    /// An OpenAPI 3 document whose `components.schemas` kinds name with `spec_schema_name`. A relative path starts at
    /// the configuration file.
    pub openapi_schema_path: Option<PathBuf>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            host: "localhost".to_owned(),
            port: 8000,
            openapi_schema_path: None,
        }
    }
}

/// How long what happened is remembered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HistoryConfig {
    /// Audit log and status history, also of resources that are gone.
    pub retention: GoDuration,
    /// Records of deleted resources. The sweeper removes nothing without one, and a watch cannot resume from before
    /// the oldest.
    pub deletion_retention: GoDuration,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        HistoryConfig {
            retention: GoDuration::from_secs(90 * 24 * 3600),
            deletion_retention: GoDuration::from_secs(365 * 24 * 3600),
        }
    }
}

/// Which database to use. Without `url` and `host` a private PostgreSQL is started in the data directory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DatabaseConfig {
    /// A `postgres://` URL; wins over the single keys. The variable `DATABASE_URL` sets it too.
    pub url: Option<Secret>,
    /// Host of the server, or the directory of its unix socket.
    pub host: Option<String>,
    /// Port of the server. 5432 if nothing is said.
    pub port: Option<u16>,
    /// Name of the database. `hyperfleet` if nothing is said.
    pub name: Option<String>,
    /// Who connects. `hyperfleet` if nothing is said.
    pub username: Option<String>,
    /// The password of `username`.
    pub password: Option<Secret>,
    pub pool: PoolConfig,
}

impl DatabaseConfig {
    /// Where to connect to; `None` when no database is configured.
    pub fn target(&self) -> Result<Option<Target>, ConnectError> {
        if let Some(url) = &self.url {
            return Target::from_url(url.expose()).map(Some);
        }
        let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "hyperfleet".to_owned());
        Ok(self.host.as_deref().map(|host| {
            let password = self.password.as_ref().map(Secret::expose);
            Target::new(
                host,
                self.port.unwrap_or(5432),
                &or(&self.name),
                &or(&self.username),
                password,
            )
        }))
    }
}

/// How many connections, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolConfig {
    /// Most connections at once, 1 to 200.
    pub max_connections: u32,
    /// The longest any one statement may run.
    pub request_timeout: GoDuration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            max_connections: 50,
            request_timeout: GoDuration::from_secs(30),
        }
    }
}
