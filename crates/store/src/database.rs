//! The connection pool.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, PgPool, Postgres, Transaction};
use tokio::sync::Notify;

use crate::error::{StoreError, is_unavailable};
use crate::kept::{Kept, TRUSTED};
use crate::migrations;
use crate::observe::Observer;
use crate::sight::Sight;
use crate::statuses::Reports;
use crate::totals::Totals;

/// How to reach a database, and how hard.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    pub max_connections: u32,
    /// Connections that are kept although nobody needs them.
    pub max_idle_connections: u32,
    /// How long a connection is used, and how long it is kept unused.
    pub max_lifetime: Duration,
    pub idle_timeout: Duration,
    /// How often, and how long apart, a server that does not answer at the start is asked.
    pub connect_attempts: u32,
    pub connect_interval: Duration,
    /// How long a migration may wait for another one, and take.
    pub migration_timeout: Duration,
    /// Whether every statement is logged, at level debug.
    pub log_statements: bool,
    /// How long a request waits for a free connection.
    pub acquire_timeout: Duration,
    /// The longest any one statement may run.
    pub statement_timeout: Duration,
    /// The most bytes of memory for resources that were reported on lately.
    pub report_memory: usize,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        DatabaseOptions {
            max_connections: 50,
            max_idle_connections: 10,
            max_lifetime: Duration::from_secs(5 * 60),
            idle_timeout: Duration::from_secs(60),
            connect_attempts: 1,
            connect_interval: Duration::from_secs(3),
            migration_timeout: Duration::from_secs(5 * 60),
            log_statements: false,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            report_memory: 12 << 20,
        }
    }
}

/// Why no connection could be made. Names the server, never the password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("DATABASE_URL is not a PostgreSQL URL: {0}")]
    Url(#[source] sqlx::Error),
    #[error("database.ssl.mode: {0}; write disable, require, verify-ca or verify-full")]
    Tls(#[source] sqlx::Error),
    #[error("cannot connect to PostgreSQL at {server}: {source}")]
    Connect {
        server: String,
        #[source]
        source: sqlx::Error,
    },
    #[error("cannot bring the database at {server} to this version's tables: {source}")]
    Migrate {
        server: String,
        #[source]
        source: sqlx::migrate::MigrateError,
    },
}

/// All that is kept. Cheap to clone; clones share one pool.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
    pub(crate) kept: Arc<Kept>,
    server: Arc<str>,
    migration_timeout: Duration,
    /// Woken whenever a write through this store changed what a watcher can see.
    pub(crate) wake: Arc<Notify>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) totals: Arc<Totals>,
    pub(crate) reports: Arc<Reports>,
    /// What is found through this store; `None` is everything.
    pub(crate) sight: Option<Arc<Sight>>,
}

impl Store {
    /// Connects, and proves it with one connection.
    pub async fn connect(
        target: &Target,
        options: &DatabaseOptions,
    ) -> Result<Store, ConnectError> {
        let server = target.to_string();
        let timeout = options.statement_timeout.as_millis().to_string();
        let mut target = target.0.clone().application_name("hyperfleet").options([
            ("statement_timeout", timeout.as_str()),
            // Short statements over an index: compiling them costs more than it saves.
            ("jit", "off"),
        ]);
        if !options.log_statements {
            target = target.disable_statement_logging();
        }
        let pool = pool(options, target)
            .await
            .map_err(|source| ConnectError::Connect {
                server: server.clone(),
                source,
            })?;
        Ok(Store {
            pool,
            kept: Arc::new(Kept::new(options)),
            server: server.into(),
            migration_timeout: options.migration_timeout,
            wake: Arc::default(),
            observer: None,
            totals: Arc::default(),
            reports: Arc::new(Reports::new(options.report_memory)),
            sight: None,
        })
    }

    /// Brings the tables to this version. Concurrent calls wait for each other; each step is applied once.
    pub async fn migrate(&self) -> Result<(), ConnectError> {
        migrations::run(&self.pool, self.migration_timeout)
            .await
            .map_err(|source| ConnectError::Migrate {
                server: self.server.to_string(),
                source,
            })
    }

    /// Whether the tables are of this version, and if not, what is missing.
    pub async fn pending_migrations(&self) -> Result<Vec<&'static str>, StoreError> {
        migrations::pending(&self.pool).await
    }

    /// One round trip that touches no table.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.kept.return_unused();
        sqlx::query("SELECT 1").execute(&self.pool).await?;
        Ok(())
    }

    /// The same store, with somebody who hears of its calls.
    #[must_use]
    pub fn observed(self, observer: Arc<dyn Observer>) -> Store {
        Store {
            observer: Some(observer),
            ..self
        }
    }

    /// How many connections there are, and how many of them have nothing to do.
    pub fn connections(&self) -> (u32, u32) {
        let idle = self.pool.num_idle() + self.kept.idle();
        let idle = u32::try_from(idle).unwrap_or(u32::MAX);
        (self.pool.size(), idle)
    }

    /// Tells the reader of the change feed that there is something to read.
    pub(crate) fn changed(&self) {
        self.totals.written();
        self.wake.notify_one();
    }

    /// Begins a transaction.
    ///
    /// In a task of its own, because a caller may go away while it waits: the driver would then give a connection back
    /// on which the server has begun a transaction and of which it knows nothing. Whatever that connection wrote later
    /// would be acknowledged and never committed, and its locks would hold up everybody.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
        let pool = self.pool.clone();
        let begun = tokio::spawn(async move { pool.begin().await });
        begun.await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
    }

    /// Where it is connected to, for people.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Waits for running statements and closes every connection.
    pub async fn close(&self) {
        let closing = self.pool.close();
        self.kept.return_all();
        closing.await;
    }
}

/// A pool with one connection made. A server that is only starting is waited for.
async fn pool(options: &DatabaseOptions, target: PgConnectOptions) -> Result<PgPool, sqlx::Error> {
    let made: Arc<OnceLock<PgPool>> = Arc::default();
    let most = options.max_idle_connections as usize;
    let shared = made.clone();
    let pools = PgPoolOptions::new()
        .max_connections(options.max_connections)
        .acquire_timeout(options.acquire_timeout)
        .max_lifetime(options.max_lifetime)
        .idle_timeout(options.idle_timeout)
        // A round trip before each statement would double what a read costs: only a connection that has not been used
        // for a while is asked whether it is still there.
        .test_before_acquire(false)
        .before_acquire(|connection, used| {
            Box::pin(async move {
                if used.idle_for > TRUSTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_release(move |_, _| {
            let keep = shared.get().is_none_or(|pool| pool.num_idle() < most);
            Box::pin(std::future::ready(Ok(keep)))
        });
    let mut attempt = 1;
    loop {
        match pools.clone().connect_with(target.clone()).await {
            Ok(pool) => return Ok(made.get_or_init(|| pool).clone()),
            Err(error) if attempt < options.connect_attempts && is_unavailable(&error) => {
                tracing::warn!(%error, attempt, "the database does not answer yet");
                tokio::time::sleep(options.connect_interval).await;
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Which server and database to connect to, and as whom.
#[derive(Debug, Clone)]
pub struct Target(pub(crate) PgConnectOptions);

impl Target {
    /// Reads a `postgres://` URL.
    pub fn from_url(url: &str) -> Result<Target, ConnectError> {
        PgConnectOptions::from_str(url)
            .map(Target)
            .map_err(ConnectError::Url)
    }

    /// The same, with encryption as told. `mode` is one of `disable`, `require`, `verify-ca`, `verify-full`.
    pub fn with_tls(
        self,
        mode: &str,
        root_cert_file: Option<&Path>,
    ) -> Result<Target, ConnectError> {
        let mode = PgSslMode::from_str(mode).map_err(ConnectError::Tls)?;
        let options = self.0.ssl_mode(mode);
        Ok(Target(match root_cert_file {
            Some(file) => options.ssl_root_cert(file),
            None => options,
        }))
    }

    /// `host` may be the directory of a unix socket.
    pub fn new(
        host: &str,
        port: u16,
        database: &str,
        username: &str,
        password: Option<&str>,
    ) -> Target {
        let options = PgConnectOptions::new_without_pgpass()
            .host(host)
            .port(port)
            .database(database)
            .username(username);
        Target(match password {
            Some(password) => options.password(password),
            None => options,
        })
    }
}

/// For people: no password, no user.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.0.get_database().unwrap_or("");
        match self.0.get_socket() {
            Some(socket) => write!(
                f,
                "{} (unix socket), database `{database}`",
                socket.display()
            ),
            None => write!(
                f,
                "{}:{}, database `{database}`",
                self.0.get_host(),
                self.0.get_port()
            ),
        }
    }
}
