//! `hyperfleet up`: the whole system in one process, with a simulated Kubernetes.

use std::path::PathBuf;

use anyhow::Result;

use crate::adapters;
use crate::process::{Process, free_port, hyperfleet, wait_until_ready};

/// One process, and what it needs to be started again as it was.
pub struct Up {
    dir: tempfile::TempDir,
    port: u16,
    health: u16,
    process: Option<Process>,
}

impl Up {
    pub fn start() -> Result<Up> {
        let dir = world_readable()?;
        adapters::copy_to(&dir.path().join("adapters"))?;
        let mut up = Up {
            dir,
            port: free_port(),
            health: free_port(),
            process: None,
        };
        up.start_again()?;
        Ok(up)
    }

    pub fn api(&self) -> String {
        format!("http://127.0.0.1:{}/api/hyperfleet/v1", self.port)
    }

    pub fn kubeconfig(&self) -> PathBuf {
        self.dir.path().join("data/kubeconfig")
    }

    pub fn logs(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// All of it, at once, without a word.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            process.kill();
        }
    }

    pub fn start_again(&mut self) -> Result<()> {
        let mut command = hyperfleet()?;
        command.arg("up").arg("--data-dir");
        command.arg(self.dir.path().join("data"));
        command.arg("--adapters");
        command.arg(self.dir.path().join("adapters"));
        command.args(["--refresh", "1s", "--metrics-port", "0"]);
        command.args(["--port", &self.port.to_string()]);
        command.args(["--health-port", &self.health.to_string()]);
        self.process = Some(Process::start("up", &mut command, self.dir.path())?);
        wait_until_ready("hyperfleet up", self.health)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // Politely, so that its PostgreSQL goes with it.
        if let Some(process) = self.process.take() {
            let _ = process.terminate();
        }
    }
}

/// A directory that PostgreSQL's account can reach. With `HYPERFLEET_E2E_KEEP` it stays, with all logs in it.
pub(crate) fn world_readable() -> Result<tempfile::TempDir> {
    use std::os::unix::fs::PermissionsExt;
    let keep = std::env::var_os("HYPERFLEET_E2E_KEEP").is_some();
    let mut builder = tempfile::Builder::new();
    let dir = builder.prefix("hf-e2e-").disable_cleanup(keep).tempdir()?;
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755))?;
    Ok(dir)
}
