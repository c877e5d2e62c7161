//! The connection pool.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, PgPool};
use tokio::sync::Notify;

use crate::error::StoreError;
use crate::migrations;
use crate::observe::Observer;
use crate::totals::Totals;

/// How to reach a database, and how hard.
#[derive(Debug, Clone)]
pub struct DatabaseOptions {
    pub max_connections: u32,
    /// How long a request waits for a free connection.
    pub acquire_timeout: Duration,
    /// The longest any one statement may run.
    pub statement_timeout: Duration,
}

impl Default for DatabaseOptions {
    fn default() -> Self {
        DatabaseOptions {
            max_connections: 50,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

/// Why no connection could be made. Names the server, never the password.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("DATABASE_URL is not a PostgreSQL URL: {0}")]
    Url(#[source] sqlx::Error),
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
    server: String,
    /// Woken whenever a write through this store changed what a watcher can see.
    pub(crate) wake: Arc<Notify>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) totals: Arc<Totals>,
}

impl Store {
    /// Connects, and proves it with one connection.
    pub async fn connect(
        target: &Target,
        options: &DatabaseOptions,
    ) -> Result<Store, ConnectError> {
        let server = target.to_string();
        let timeout = options.statement_timeout.as_millis().to_string();
        let target = target
            .0
            .clone()
            .application_name("hyperfleet")
            .options([("statement_timeout", timeout.as_str())])
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections)
            .acquire_timeout(options.acquire_timeout)
            .max_lifetime(Duration::from_secs(5 * 60))
            .idle_timeout(Duration::from_secs(60))
            .connect_with(target)
            .await
            .map_err(|source| ConnectError::Connect {
                server: server.clone(),
                source,
            })?;
        Ok(Store {
            pool,
            server,
            wake: Arc::default(),
            observer: None,
            totals: Arc::default(),
        })
    }

    /// Brings the tables to this version. Concurrent calls wait for each other; each step is applied once.
    pub async fn migrate(&self) -> Result<(), ConnectError> {
        migrations::run(&self.pool)
            .await
            .map_err(|source| ConnectError::Migrate {
                server: self.server.clone(),
                source,
            })
    }

    /// Whether the tables are of this version, and if not, what is missing.
    pub async fn pending_migrations(&self) -> Result<Vec<&'static str>, StoreError> {
        migrations::pending(&self.pool).await
    }

    /// One round trip that touches no table.
    pub async fn ping(&self) -> Result<(), StoreError> {
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
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        (self.pool.size(), idle)
    }

    /// Tells the reader of the change feed that there is something to read.
    pub(crate) fn changed(&self) {
        self.totals.written();
        self.wake.notify_one();
    }

    /// Where it is connected to, for people.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Waits for running statements and closes every connection.
    pub async fn close(&self) {
        self.pool.close().await;
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
