//! Where the adapter's objects are: kubesim, on a thread of the generator, or a real kube-apiserver.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::runtime::Runtime;

use crate::cli::Target;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dev/kubernetes");

pub(super) struct Running {
    server: Server,
    kubeconfig: PathBuf,
    _directory: TempDir,
}

enum Server {
    Simulated {
        server: kubesim::Server,
        thread: OwnThread,
    },
    Real {
        child: Child,
        kubectl: PathBuf,
    },
}

/// What kubesim runs on, so that the generator's own thread does not hold it up. A runtime that is dropped inside another
/// one must not wait for its end.
struct OwnThread(Option<Runtime>);

impl Drop for OwnThread {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Running {
    pub(super) async fn start(target: Target) -> Result<Running> {
        let directory = tempfile::Builder::new().prefix("hf-bench-k8s-").tempdir()?;
        let (server, kubeconfig) = match target {
            Target::Kubesim => simulated(directory.path()).await?,
            Target::Kubernetes => real(directory.path()).await?,
        };
        Ok(Running {
            server,
            kubeconfig,
            _directory: directory,
        })
    }

    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Requests so far, as the server counts them; a real one counts those of its own parts too.
    pub(super) async fn requests(&self) -> Result<u64> {
        let kubectl = match &self.server {
            Server::Simulated { server, .. } => return Ok(server.requests()),
            Server::Real { kubectl, .. } => kubectl,
        };
        let output = Command::new(kubectl)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["get", "--raw", "/metrics"])
            .output()
            .await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let counted = text.lines().filter(|line| {
            line.starts_with("apiserver_request_total{") && line.contains("resource=\"configmaps\"")
        });
        let counts = counted.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok());
        Ok(counts.sum::<f64>() as u64)
    }

    pub(super) async fn stop(self) -> Result<()> {
        match self.server {
            Server::Simulated { server, thread } => {
                server.shutdown().await;
                drop(thread);
            }
            Server::Real { mut child, .. } => {
                // Closing its input asks the script to stop everything.
                drop(child.stdin.take());
                child.wait().await?;
            }
        }
        Ok(())
    }
}

async fn simulated(directory: &Path) -> Result<(Server, PathBuf)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let started = runtime.spawn(kubesim::Server::start(kubesim::Options::default()));
    let server = started.await??;
    let kubeconfig = directory.join("kubeconfig");
    std::fs::write(&kubeconfig, server.kubeconfig())?;
    let thread = OwnThread(Some(runtime));
    Ok((Server::Simulated { server, thread }, kubeconfig))
}

async fn real(directory: &Path) -> Result<(Server, PathBuf)> {
    let binaries = Command::new(SCRIPT).arg("path").output().await?;
    let binaries = PathBuf::from(String::from_utf8_lossy(&binaries.stdout).trim());
    let mut child = Command::new(SCRIPT)
        .args(["run", "--dir"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run dev/kubernetes")?;
    let output = child
        .stdout
        .take()
        .context("dev/kubernetes has no output")?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(path) = line.strip_prefix("ready ") {
            let kubeconfig = PathBuf::from(path.trim());
            let kubectl = binaries.join("kubectl");
            return Ok((Server::Real { child, kubectl }, kubeconfig));
        }
    }
    anyhow::bail!("Kubernetes does not start; is it built? `dev/kubernetes install`")
}
