//! A private RabbitMQ, started by `dev/rabbitmq`.

use std::process::Stdio;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

#[derive(Debug)]
pub(crate) struct RabbitMq {
    child: Child,
    _directory: TempDir,
    pub(crate) url: String,
}

impl RabbitMq {
    pub(crate) async fn start() -> Result<RabbitMq> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/rabbitmq");
        let directory = tempfile::Builder::new().prefix("hf-bench-mq-").tempdir()?;
        let mut child = Command::new(script)
            .args(["run", "--dir"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run dev/rabbitmq; name a RabbitMQ with --broker-url")?;
        let output = child.stdout.take().context("dev/rabbitmq has no output")?;
        let line = BufReader::new(output).lines().next_line().await?;
        let url = line
            .as_deref()
            .and_then(|line| line.strip_prefix("ready "))
            .context("RabbitMQ does not start; is it installed?")?;
        Ok(RabbitMq {
            url: url.to_owned(),
            child,
            _directory: directory,
        })
    }

    pub(crate) async fn stop(mut self) -> Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().await?;
        Ok(())
    }
}
