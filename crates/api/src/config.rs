//! The configuration of `hyperfleet api serve`.

mod authorization;
mod jwt;
mod limits;
mod tenant;

use std::path::PathBuf;

use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::HealthConfig;
use hyperfleet_runtime::log::LogConfig;
use hyperfleet_runtime::metrics::MetricsConfig;
use hyperfleet_runtime::tls::TlsConfig;
use hyperfleet_runtime::trace::TracingConfig;
use hyperfleet_runtime::{GoDuration, Secret};
use hyperfleet_store::{ConnectError, DatabaseOptions, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use authorization::{AuthorizationConfig, BindingConfig, RoleConfig, RuleConfig};
pub use jwt::{IssuerConfig, JwtConfig, SigningAlgorithm};
pub use limits::LimitsConfig;
pub use tenant::{DimensionConfig, TenantConfig};

/// Everything the API can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiConfig {
    pub server: ServerConfig,
    pub authorization: AuthorizationConfig,
    pub limits: LimitsConfig,
    pub api: ApiOptions,
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
            authorization: AuthorizationConfig::default(),
            limits: LimitsConfig::default(),
            api: ApiOptions::default(),
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

/// What the API answers, and by which rules.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiOptions {
    /// A file with AggregationConfig documents: the rules that make statuses. Read again when it changes and on SIGHUP.
    /// A relative path starts at the configuration file.
    pub aggregation_file: Option<PathBuf>,
    /// How `GET …/statuses` answers.
    pub statuses_format: StatusesFormat,
}

/// How the reports on a resource are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusesFormat {
    /// One status document of the resource.
    #[default]
    Document,
    /// A page of reports, as clients of v1.0 expect.
    List,
}

/// Where metrics are served, and what counts as stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiMetricsConfig {
    /// Whether metrics are answered at all.
    pub enabled: bool,
    /// Address to listen on for `/metrics`. Empty means all addresses.
    pub host: String,
    /// Port to listen on for `/metrics`. The same address as health shares its listener.
    pub port: u16,
    /// The path they are at.
    pub path: String,
    /// Answer `/debug/pprof/profile`, `/debug/pprof/heap` and `/debug/pprof/memory` there too. Whoever reaches the port
    /// can then slow the process down.
    pub profiling: bool,
    /// How what is said there is encrypted, and whether callers must show a certificate.
    pub tls: TlsConfig,
    /// A file with the bearer token that callers must show; nobody must if nothing is said. Read again for every
    /// request.
    pub token_file: Option<PathBuf>,
    /// How long a resource may be not reconciled before it counts as stuck.
    pub reconciliation_stuck_threshold: GoDuration,
}

impl ApiMetricsConfig {
    /// What every component with metrics can be told.
    pub fn listen(&self) -> MetricsConfig {
        MetricsConfig {
            enabled: self.enabled,
            host: self.host.clone(),
            port: self.port,
            path: self.path.clone(),
            profiling: self.profiling,
            tls: self.tls.clone(),
            token_file: self.token_file.clone(),
        }
    }
}

impl Default for ApiMetricsConfig {
    fn default() -> Self {
        let listen = MetricsConfig::default();
        ApiMetricsConfig {
            enabled: listen.enabled,
            host: listen.host,
            port: listen.port,
            path: listen.path,
            profiling: listen.profiling,
            tls: listen.tls,
            token_file: listen.token_file,
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
    pub timeouts: TimeoutsConfig,
    /// An OpenAPI 3 document whose `components.schemas` kinds name with `spec_schema_name`. A relative path starts at
    /// the configuration file.
    pub openapi_schema_path: Option<PathBuf>,
    /// How what is said is encrypted.
    pub tls: TlsConfig,
    /// How callers prove who they are.
    pub jwt: JwtConfig,
    /// Lets an API without authentication listen where others can reach it, because something else guards that address.
    pub allow_unauthenticated: bool,
    /// Whose resources are whose.
    pub tenant: TenantConfig,
}

impl Default for ServerConfig {
    fn default() -> Self {
        ServerConfig {
            host: "localhost".to_owned(),
            port: 8000,
            timeouts: TimeoutsConfig::default(),
            openapi_schema_path: None,
            tls: TlsConfig::default(),
            jwt: JwtConfig::default(),
            allow_unauthenticated: false,
            tenant: TenantConfig::default(),
        }
    }
}

/// How long the API waits for its callers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TimeoutsConfig {
    /// For the body of a request. At least 1s.
    pub read: GoDuration,
    /// For a whole request up to the head of its answer. At least 1s.
    pub write: GoDuration,
}

impl Default for TimeoutsConfig {
    fn default() -> Self {
        TimeoutsConfig {
            read: GoDuration::from_secs(5),
            write: GoDuration::from_secs(30),
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
    /// What the database is. There is one answer.
    pub dialect: Dialect,
    /// Log every statement, at level debug.
    pub debug: bool,
    pub ssl: SslConfig,
    pub pool: PoolConfig,
    /// Memory for resources that were reported on lately, in MiB: the next report need not read them. 12 if nothing is
    /// said, which is room for about 900 clusters with eight adapters each; 0 for none.
    pub report_memory_mib: Option<u32>,
}

/// The databases that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    #[default]
    Postgres,
}

/// Encryption on the way to the database. Says nothing about a database given by `url`, which says it itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SslConfig {
    /// `disable`, `require`, `verify-ca` or `verify-full`.
    pub mode: String,
    /// Whom to trust, as PEM; the system's authorities if nothing is said.
    pub root_cert_file: Option<PathBuf>,
}

impl Default for SslConfig {
    fn default() -> Self {
        SslConfig {
            mode: "disable".to_owned(),
            root_cert_file: None,
        }
    }
}

impl DatabaseConfig {
    /// Where to connect to; `None` when no database is configured.
    pub fn target(&self) -> Result<Option<Target>, ConnectError> {
        if let Some(url) = &self.url {
            return Target::from_url(url.expose()).map(Some);
        }
        let or = |value: &Option<String>| value.clone().unwrap_or_else(|| "hyperfleet".to_owned());
        let Some(host) = self.host.as_deref() else {
            return Ok(None);
        };
        let target = Target::new(
            host,
            self.port.unwrap_or(5432),
            &or(&self.name),
            &or(&self.username),
            self.password.as_ref().map(Secret::expose),
        );
        let ssl = &self.ssl;
        target
            .with_tls(&ssl.mode, ssl.root_cert_file.as_deref())
            .map(Some)
    }

    /// How it is used.
    pub fn options(&self) -> DatabaseOptions {
        let pool = &self.pool;
        let default = DatabaseOptions::default();
        DatabaseOptions {
            max_connections: pool.max_connections,
            max_idle_connections: pool.max_idle_connections,
            max_lifetime: pool.conn_max_lifetime.into(),
            idle_timeout: pool.conn_max_idle_time.into(),
            connect_attempts: pool.conn_retry_attempts,
            connect_interval: pool.conn_retry_interval.into(),
            log_statements: self.debug,
            statement_timeout: pool.request_timeout.into(),
            migration_timeout: pool.advisory_lock_timeout.into(),
            report_memory: match self.report_memory_mib {
                Some(mib) => (mib as usize) << 20,
                None => default.report_memory,
            },
            ..default
        }
    }
}

/// How many connections, and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PoolConfig {
    /// Most connections at once, 1 to 200.
    #[schemars(range(min = 1, max = 200))]
    pub max_connections: u32,
    /// Most connections that are kept although nobody needs them.
    pub max_idle_connections: u32,
    /// How long a connection is used before it is replaced.
    pub conn_max_lifetime: GoDuration,
    /// How long a connection is kept unused.
    pub conn_max_idle_time: GoDuration,
    /// The longest any one statement may run.
    pub request_timeout: GoDuration,
    /// How often a database that does not answer at the start is asked.
    pub conn_retry_attempts: u32,
    /// How long apart.
    pub conn_retry_interval: GoDuration,
    /// How long a migration may wait for another one, and take.
    pub advisory_lock_timeout: GoDuration,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            max_connections: 50,
            max_idle_connections: 10,
            conn_max_lifetime: GoDuration::from_mins(5),
            conn_max_idle_time: GoDuration::from_mins(1),
            request_timeout: GoDuration::from_secs(30),
            conn_retry_attempts: 10,
            conn_retry_interval: GoDuration::from_secs(3),
            advisory_lock_timeout: GoDuration::from_mins(5),
        }
    }
}
