//! A HyperFleet of our own to measure, with a PostgreSQL of its own in a directory that goes with it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::report::ADAPTERS;
use crate::usage::Watched;

const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct OwnServer {
    child: Child,
    directory: TempDir,
    pub(crate) url: String,
}

impl OwnServer {
    pub(crate) async fn start(path: &Path) -> Result<OwnServer> {
        let program = path.join("hyperfleet");
        let directory = tempfile::Builder::new().prefix("hf-bench-").tempdir()?;
        // As root, PostgreSQL runs as another user, who must be able to enter.
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755))?;
        let config = directory.path().join("config.yaml");
        std::fs::write(&config, configuration().to_string())?;
        let mut child = Command::new(&program)
            .args(["api", "serve", "--migrate", "--log-format", "json"])
            .args([
                "--server-port",
                "0",
                "--health-port",
                "0",
                "--metrics-port",
                "0",
            ])
            .arg("--config")
            .arg(&config)
            .arg("--data-dir")
            .arg(directory.path())
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let Some(output) = child.stdout.take() else {
            bail!("{} has no output", program.display());
        };
        let mut log = BufReader::new(output).lines();
        let address = tokio::time::timeout(START_TIMEOUT, address(&mut log))
            .await
            .with_context(|| format!("{} does not start", program.display()))??;
        // Somebody must read on, or the server would wait for room in the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
        Ok(OwnServer {
            child,
            directory,
            url: format!("http://{address}"),
        })
    }

    /// The processes behind it.
    pub(crate) fn watched(&self) -> Watched {
        let pid_file = self.directory.path().join("postgres/data/postmaster.pid");
        let postgres = std::fs::read_to_string(pid_file).ok();
        Watched {
            server: self.child.id(),
            postgres: postgres.and_then(|text| text.lines().next()?.trim().parse().ok()),
        }
    }

    /// Stops it in order, its PostgreSQL included, and waits for it.
    pub(crate) async fn stop(mut self) -> Result<()> {
        let Some(pid) = self.child.id() else {
            bail!("the server ended by itself");
        };
        Command::new("kill").arg(pid.to_string()).status().await?;
        tokio::time::timeout(STOP_TIMEOUT, self.child.wait())
            .await
            .context("the server does not stop")??;
        Ok(())
    }
}

/// One kind, with every adapter of the generator required. YAML reads JSON.
fn configuration() -> Value {
    json!({
        "entities": [{
            "kind": "Cluster",
            "plural": "clusters",
            "name_min_len": 3,
            "name_max_len": 53,
            "required_adapters": ADAPTERS,
        }],
    })
}

/// Where the server says it listens.
async fn address(log: &mut Lines<BufReader<ChildStdout>>) -> Result<String> {
    while let Some(line) = log.next_line().await? {
        let line: Value = serde_json::from_str(&line).unwrap_or_default();
        if line["message"] == "the API listens"
            && let Some(address) = line["address"].as_str()
        {
            return Ok(address.to_owned());
        }
    }
    bail!("it ended before it listened; it said why above")
}
