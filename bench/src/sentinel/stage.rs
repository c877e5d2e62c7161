//! Everything around a Sentinel: database, fleet, API, broker.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use hyperfleet_store::PrivateServer;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::Instant;

use super::{fleet, listener::Listener};
use crate::cli::{Mode, SentinelArgs};
use crate::rabbitmq::RabbitMq;
use crate::report::ADAPTERS;
use crate::role::{Role, free_port};

pub(super) struct Stage {
    pub(super) args: SentinelArgs,
    program: PathBuf,
    directory: TempDir,
    database: PrivateServer,
    pub(super) api: Role,
    pub(super) api_port: u16,
    rabbitmq: Option<RabbitMq>,
    broker_url: String,
    pub(super) listener: Listener,
}

impl Stage {
    pub(super) async fn set(args: &SentinelArgs) -> Result<Stage> {
        let program = args.start.join("hyperfleet");
        let directory = tempfile::Builder::new().prefix("hf-bench-").tempdir()?;
        // As root, PostgreSQL runs as another user, who must be able to enter.
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755))?;
        let kinds = json!({"entities": [
            {"kind": "Cluster", "plural": "clusters", "required_adapters": ADAPTERS},
        ]});
        std::fs::write(directory.path().join("api.yaml"), kinds.to_string())?;
        let database = PrivateServer::start(directory.path()).await?;
        let (api, port) = start_api(&program, &directory, &database).await?;
        eprintln!("{} clusters, by SQL", args.clusters);
        fleet::template(port).await?;
        // What it would learn of them from the feed is not to be measured.
        api.stop().await?;
        let filled = Instant::now();
        fleet::fill(&database, args.clusters).await?;
        eprintln!("filled in {:.0} s", filled.elapsed().as_secs_f64());
        let (api, api_port) = start_api(&program, &directory, &database).await?;
        let (rabbitmq, broker_url) = match &args.broker_url {
            Some(url) => (None, url.clone()),
            None => {
                let server = RabbitMq::start().await?;
                let url = server.url.clone();
                (Some(server), url)
            }
        };
        let listener = Listener::start(&broker_url).await?;
        Ok(Stage {
            args: args.clone(),
            program,
            directory,
            database,
            api,
            api_port,
            rabbitmq,
            broker_url,
            listener,
        })
    }

    /// Starts a Sentinel, and tells how long it took to know the fleet.
    pub(super) async fn sentinel(&mut self) -> Result<(Role, Duration)> {
        let (health, metrics) = (free_port()?, free_port()?);
        let config = json!({
            "clients": {"hyperfleet_api": {"base_url": format!("http://127.0.0.1:{}", self.api_port)}},
            "resource_type": "clusters",
            "feed": self.args.mode == Mode::Feed,
            // Nobody answers here: an event of a change must not come again while others are measured.
            "backoff_not_ready": "1h",
            "jitter": 0.0,
            "max_events_per_second": 0,
            "max_in_flight": self.args.max_in_flight,
            "health": {"port": health},
            "metrics": {"port": metrics},
        });
        let file = self.directory.path().join("sentinel.yaml");
        std::fs::write(&file, config.to_string())?;
        let started = Instant::now();
        let mut sentinel = Role::start(
            &self.program,
            &["sentinel", "serve", "--config", &file.to_string_lossy()],
            &[
                ("BROKER_TYPE", "rabbitmq"),
                ("BROKER_RABBITMQ_URL", &self.broker_url),
            ],
            metrics,
        )
        .await?;
        let passed = "hyperfleet_sentinel_last_successful_poll_timestamp_seconds";
        while sentinel.metric(passed).await? == 0.0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok((sentinel, started.elapsed()))
    }

    pub(super) async fn stop(&self, sentinel: Role) -> Result<()> {
        sentinel.stop().await
    }

    pub(super) fn postgres_pid(&self) -> Option<u32> {
        let pid_file = self.directory.path().join("postgres/data/postmaster.pid");
        let text = std::fs::read_to_string(pid_file).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    pub(super) async fn sql(&self, statement: &str) -> Result<String> {
        sql(&self.database, statement).await
    }

    /// Transactions of the database so far.
    pub(super) async fn transactions(&self) -> Result<f64> {
        let statement =
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'hyperfleet'";
        Ok(self.sql(statement).await?.trim().parse()?)
    }

    pub(super) async fn strike(self) -> Result<()> {
        self.listener.stop().await;
        self.api.stop().await?;
        if let Some(rabbitmq) = self.rabbitmq {
            rabbitmq.stop().await?;
        }
        self.database.stop().await;
        Ok(())
    }
}

async fn start_api(
    program: &std::path::Path,
    directory: &TempDir,
    database: &PrivateServer,
) -> Result<(Role, u16)> {
    let (port, health, metrics) = (free_port()?, free_port()?, free_port()?);
    let config = directory.path().join("api.yaml");
    let role = Role::start(
        program,
        &[
            "api",
            "serve",
            "--migrate",
            "--config",
            &config.to_string_lossy(),
            "--server-port",
            &port.to_string(),
            "--health-port",
            &health.to_string(),
            "--metrics-port",
            &metrics.to_string(),
        ],
        &[("DATABASE_URL", &database.url())],
        metrics,
    )
    .await?;
    answers(port).await?;
    Ok((role, port))
}

/// Waits until somebody listens.
async fn answers(port: u16) -> Result<()> {
    let connected = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), connected)
        .await
        .context("the API does not listen")
}

/// Runs SQL, and answers what it printed.
pub(super) async fn sql(database: &PrivateServer, statement: &str) -> Result<String> {
    let output = Command::new("psql")
        .args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align"])
        .args(["--set", "ON_ERROR_STOP=1", "--dbname", &database.url()])
        .args(["--command", statement])
        .output()
        .await
        .context("cannot run psql")?;
    anyhow::ensure!(
        output.status.success(),
        "psql: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
