//! The real server, started by `dev/kubernetes` when the first test needs it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::sync::OnceCell;

use crate::endpoint::Endpoint;

pub(crate) struct Kubernetes {
    script: PathBuf,
    available: Result<(), String>,
    endpoint: OnceCell<Result<Endpoint, String>>,
    running: Mutex<Option<(Child, tempfile::TempDir)>>,
}

impl Kubernetes {
    pub(crate) fn find() -> Kubernetes {
        let script = match std::env::var_os("HYPERFLEET_DEV_KUBERNETES") {
            Some(path) => PathBuf::from(path),
            None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../dev/kubernetes"),
        };
        let available = match Command::new(&script).arg("status").output() {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Err(error) => Err(format!("{}: {error}", script.display())),
        };
        Kubernetes {
            script,
            available,
            endpoint: OnceCell::new(),
            running: Mutex::new(None),
        }
    }

    pub(crate) fn availability(&self) -> Result<(), &str> {
        self.available.as_ref().map(|_| ()).map_err(String::as_str)
    }

    pub(crate) async fn endpoint(&self) -> Result<Endpoint, String> {
        self.endpoint.get_or_init(|| self.start()).await.clone()
    }

    async fn start(&self) -> Result<Endpoint, String> {
        let directory = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut child = tokio::process::Command::new(&self.script)
            .args(["run", "--dir"])
            .arg(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.script.display()))?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(|e| e.to_string())? {
            if let Some(path) = line.strip_prefix("ready ") {
                let text =
                    std::fs::read_to_string(path.trim()).map_err(|e| format!("{path}: {e}"))?;
                *self.running.lock().expect("not poisoned") = Some((child, directory));
                return Ok(Endpoint::from_kubeconfig(&text));
            }
        }
        Err("dev/kubernetes run ended before it was ready".into())
    }

    /// Closing stdin asks the script to stop everything; its end is waited for.
    pub(crate) fn stop(&self) {
        let running = self.running.lock().expect("not poisoned").take();
        if let Some((mut child, directory)) = running {
            drop(child.stdin.take());
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            // The child belongs to the first runtime's reactor; polling for its end works from any.
            runtime.block_on(async {
                while matches!(child.try_wait(), Ok(None)) {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            });
            drop(directory);
        }
    }
}
