//! A PostgreSQL of our own, for when nobody gives us one.
//!
//! It lives in the data directory, listens on a unix socket only, and belongs to the process that started it: one
//! process holds the directory's lock, a server left behind by a killed owner is stopped before a new one starts.

mod account;
mod binaries;
mod cluster;
mod leftover;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use tokio::process::{Child, Command};

use account::Account;
use binaries::Binaries;

use crate::database::Target;

const DATABASE: &str = "hyperfleet";
/// PostgreSQL replays its log before it answers; a long one takes a while.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no private PostgreSQL. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PrivateServerError {
    #[error(
        "no PostgreSQL found (looked for initdb and postgres in $HYPERFLEET_POSTGRES_BIN, or else in PATH and \
         /usr/lib/postgresql/*/bin)\n\
         install it:     apt-get install -y postgresql\n\
         or use another: DATABASE_URL=postgres://user:password@host/database"
    )]
    NotInstalled,
    #[error("PostgreSQL {found} in {path} is too old: 15 or newer is needed", path = path.display())]
    TooOld { found: u32, path: PathBuf },
    #[error(
        "PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody` to run it as; \
         start as an ordinary user or give a DATABASE_URL"
    )]
    NoAccount,
    #[error("cannot use {path} for PostgreSQL: {source}; choose another place with --data-dir", path = path.display())]
    Directory {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "the data directory {path} is in use by another hyperfleet; stop that one or choose another --data-dir",
        path = path.display()
    )]
    InUse { path: PathBuf },
    #[error(
        "{path} was made by PostgreSQL {made_by}, but PostgreSQL {installed} is installed; install \
         postgresql-{made_by}, or move the directory away to start empty",
        path = path.display()
    )]
    OtherVersion {
        path: PathBuf,
        made_by: String,
        installed: u32,
    },
    #[error("cannot run {program}: {source}", program = program.display())]
    Run {
        program: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{program} failed ({status}): {output}", program = program.display())]
    Failed {
        program: PathBuf,
        status: ExitStatus,
        output: String,
    },
    #[error("PostgreSQL did not start ({why}); the end of {log}:\n{tail}", log = log.display())]
    NotStarted {
        why: String,
        log: PathBuf,
        tail: String,
    },
    #[error(
        "the PostgreSQL that a killed hyperfleet left behind (process {pid}) does not stop; stop it by hand"
    )]
    Leftover { pid: i32 },
}

/// A running private server. Stop it with [`PrivateServer::stop`]; dropped, it is told to stop without being waited for.
#[derive(Debug)]
pub struct PrivateServer {
    child: Child,
    pid: i32,
    sockets: PathBuf,
    // Held as long as the server runs: the next process must not touch the directory before.
    _lock: File,
}

impl PrivateServer {
    /// Starts the server of a data directory, creating it on first use.
    pub async fn start(data_dir: &Path) -> Result<PrivateServer, PrivateServerError> {
        let binaries = Binaries::find().await?;
        let account = Account::choose().await?;
        let home = cluster::home(data_dir, &account)?;
        let lock = lock(&home)?;
        let cluster = cluster::ensure(&home, &binaries, &account).await?;
        leftover::stop(&cluster).await?;
        let sockets = cluster::socket_directory(&home, &account)?;
        let log = home.join("postgres.log");
        let child = spawn(&binaries, &account, &cluster, &sockets, &log)?;
        let pid = child
            .id()
            .and_then(|pid| i32::try_from(pid).ok())
            .unwrap_or_default();
        let mut server = PrivateServer {
            child,
            pid,
            sockets,
            _lock: lock,
        };
        server.wait_until_ready(&log).await?;
        Ok(server)
    }

    /// How to connect to the one database it has.
    pub fn target(&self) -> Target {
        Target(options(&self.sockets).database(DATABASE))
    }

    /// The same for `psql` and other programs.
    pub fn url(&self) -> String {
        format!(
            "postgresql:///{DATABASE}?host={}&user={DATABASE}",
            self.sockets.display()
        )
    }

    /// Stops the server after disconnecting its clients, and waits for it.
    pub async fn stop(mut self) {
        leftover::signal(self.pid, leftover::FAST_SHUTDOWN).await;
        if tokio::time::timeout(STOP_TIMEOUT, self.child.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                "the private PostgreSQL does not stop; killing it (it recovers at the next start)"
            );
            if let Err(error) = self.child.kill().await {
                tracing::warn!(%error, "the private PostgreSQL cannot be killed");
            }
        }
    }

    async fn wait_until_ready(&mut self, log: &Path) -> Result<(), PrivateServerError> {
        use sqlx::Connection;
        let deadline = tokio::time::Instant::now() + START_TIMEOUT;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(not_started(format!("it ended: {status}"), log));
            }
            match sqlx::PgConnection::connect_with(&self.target().0).await {
                Ok(connection) => {
                    if let Err(error) = connection.close().await {
                        tracing::debug!(%error, "the probing connection did not close");
                    }
                    return Ok(());
                }
                Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("3D000") => {
                    self.create_database()
                        .await
                        .map_err(|error| not_started(error.to_string(), log))?;
                }
                Err(error) if tokio::time::Instant::now() >= deadline => {
                    return Err(not_started(
                        format!("no answer after {START_TIMEOUT:?}: {error}"),
                        log,
                    ));
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn create_database(&self) -> Result<(), sqlx::Error> {
        use sqlx::Connection;
        let mut maintenance =
            sqlx::PgConnection::connect_with(&options(&self.sockets).database("postgres")).await?;
        sqlx::raw_sql("CREATE DATABASE hyperfleet")
            .execute(&mut maintenance)
            .await?;
        maintenance.close().await
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Only when `stop` was not reached: a failed start, a panic. The next start would clean up too.
        if let Ok(None) = self.child.try_wait() {
            leftover::signal_now(self.pid, leftover::FAST_SHUTDOWN);
        }
    }
}

fn options(sockets: &Path) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .socket(sockets)
        .username(DATABASE)
}

fn lock(home: &Path) -> Result<File, PrivateServerError> {
    let path = home.join("lock");
    let directory = |source| PrivateServerError::Directory {
        path: path.clone(),
        source,
    };
    let file = File::create(&path).map_err(directory)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(PrivateServerError::InUse {
            path: home.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(directory(source)),
    }
}

fn spawn(
    binaries: &Binaries,
    account: &Account,
    cluster: &Path,
    sockets: &Path,
    log: &Path,
) -> Result<Child, PrivateServerError> {
    let program = binaries.postgres();
    let output = File::create(log).map_err(|source| PrivateServerError::Directory {
        path: log.to_owned(),
        source,
    })?;
    let errors = output
        .try_clone()
        .map_err(|source| PrivateServerError::Directory {
            path: log.to_owned(),
            source,
        })?;
    let mut command = Command::new(&program);
    command.arg("-D").arg(cluster).arg("-k").arg(sockets);
    for setting in [
        "listen_addresses=",
        "unix_socket_permissions=0700",
        "max_connections=300",
        // Of this no more is taken than a fleet fills; 10,000 clusters with eight reports each do not fit into less.
        "shared_buffers=256MB",
        // A fleet that has just been made is planned for as if it were empty until somebody looks at it.
        "autovacuum_naptime=10s",
    ] {
        command.arg("-c").arg(setting);
    }
    // Its own process group: Ctrl-C in the terminal is for us, who then stop it in order.
    command
        .process_group(0)
        .stdin(std::process::Stdio::null())
        .stdout(output)
        .stderr(errors);
    account.apply(&mut command);
    command
        .spawn()
        .map_err(|source| PrivateServerError::Run { program, source })
}

fn not_started(why: String, log: &Path) -> PrivateServerError {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    PrivateServerError::NotStarted {
        why,
        log: log.to_owned(),
        tail: lines[lines.len().saturating_sub(8)..].join("\n"),
    }
}
