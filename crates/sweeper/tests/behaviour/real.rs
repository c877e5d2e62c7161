//! A real server, started by `dev/kubernetes` when the first test needs it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::{Mutex, OnceCell};

pub(crate) struct Real {
    script: PathBuf,
    pub(crate) available: Result<(), String>,
    started: OnceCell<Result<PathBuf, String>>,
    running: Mutex<Option<(Child, tempfile::TempDir)>>,
}

impl Real {
    pub(crate) fn find() -> Real {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../dev/kubernetes");
        let available = match Command::new(&script).arg("status").output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Err(error) => Err(format!("{}: {error}", script.display())),
        };
        Real {
            script,
            available,
            started: OnceCell::new(),
            running: Mutex::new(None),
        }
    }

    pub(crate) async fn kubeconfig(&self) -> Result<PathBuf, String> {
        self.started.get_or_init(|| self.start()).await.clone()
    }

    async fn start(&self) -> Result<PathBuf, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut child = tokio::process::Command::new(&self.script)
            .args(["run", "--dir"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(|error| error.to_string())? {
            if let Some(path) = line.strip_prefix("ready ") {
                *self.running.lock().await = Some((child, directory));
                return Ok(PathBuf::from(path.trim()));
            }
        }
        Err("dev/kubernetes run ended before it was ready".to_owned())
    }

    /// Closing stdin asks the script to stop everything.
    pub(crate) async fn stop(&self) {
        if let Some((mut child, _directory)) = self.running.lock().await.take() {
            drop(child.stdin.take());
            let _ = child.wait().await;
        }
    }
}
