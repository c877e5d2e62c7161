//! `hyperfleet api serve` on a free port, with a database of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::Value;

pub(crate) struct Server {
    child: Child,
    address: String,
    errors: Arc<Mutex<Vec<String>>>,
    // Goes last: PostgreSQL lives in it until the server has stopped.
    _directory: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start(config: &Path) -> Server {
        let directory = tempfile::Builder::new()
            .prefix("hf-api-")
            .tempdir()
            .unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_hyperfleet"))
            .args(["api", "serve", "--migrate"])
            .args([
                "--server-port",
                "0",
                "--health-port",
                "0",
                "--metrics-port",
                "0",
            ])
            .arg("--config")
            .arg(config)
            .arg("--data-dir")
            .arg(directory.path().join("data"))
            .env_remove("DATABASE_URL")
            .env_remove("HYPERFLEET_HOME")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (found, listening) = mpsc::channel();
        let kept = Arc::clone(&errors);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let entry: Value = serde_json::from_str(&line).unwrap_or_default();
                if entry["message"] == "the API listens" {
                    let _ = found.send(entry["address"].as_str().unwrap_or_default().to_owned());
                }
                if entry["level"] == "error" {
                    kept.lock().unwrap().push(line);
                }
            }
        });
        let address = listening
            .recv_timeout(Duration::from_secs(60))
            .expect("the API says where it listens");
        Server {
            child,
            address,
            errors,
            _directory: directory,
        }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Where its OpenAPI document is.
    pub(crate) fn document(&self) -> String {
        format!("{}/api/hyperfleet/v1/openapi", self.url())
    }

    /// What it logged as an error so far.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.errors.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.child.wait();
    }
}
