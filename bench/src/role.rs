//! One process of HyperFleet, on free ports, and what its metrics say.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::Method;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::connection::{Answer, Connection, Endpoint};

const START_TIMEOUT: Duration = Duration::from_secs(60);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Role {
    child: Child,
    metrics: Connection,
}

/// A port nobody listens on at the moment.
pub(crate) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?
        .local_addr()?
        .port())
}

impl Role {
    /// Runs `hyperfleet` with these arguments and variables; its metrics are at that port. Waits until they answer.
    pub(crate) async fn start(
        program: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
        metrics_port: u16,
    ) -> Result<Role> {
        let child = Command::new(program)
            .args(arguments)
            .env_remove("DATABASE_URL")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let endpoint = Endpoint::parse(&format!("http://127.0.0.1:{metrics_port}"), &[])?;
        let mut role = Role {
            child,
            metrics: Connection::new(Arc::new(endpoint)),
        };
        let started = Instant::now();
        while role.scrape().await.is_err() {
            if let Some(status) = role.child.try_wait()? {
                bail!("{} {arguments:?} ended: {status}", program.display());
            }
            if started.elapsed() > START_TIMEOUT {
                bail!("{} {arguments:?} does not start", program.display());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(role)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    async fn scrape(&mut self) -> Result<String> {
        let answer = match self.get("/metrics").await {
            Ok(answer) => answer,
            // A connection that was idle for long may have been closed; the next try opens another.
            Err(_) => self.get("/metrics").await?,
        };
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    async fn get(&mut self, path: &str) -> Result<Answer> {
        self.metrics
            .ask(path.to_owned(), Method::GET, Bytes::new())
            .await
    }

    /// The sum of a metric over its labels.
    pub(crate) async fn metric(&mut self, name: &str) -> Result<f64> {
        let text = self.scrape().await?;
        Ok(text
            .lines()
            .filter(|line| {
                let rest = line.strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with('{') || rest.starts_with(' '))
            })
            .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
            .sum())
    }

    pub(crate) async fn stop(mut self) -> Result<()> {
        let Some(pid) = self.child.id() else {
            bail!("a process ended by itself");
        };
        Command::new("kill").arg(pid.to_string()).status().await?;
        tokio::time::timeout(STOP_TIMEOUT, self.child.wait())
            .await
            .context("a process does not stop")??;
        Ok(())
    }
}
