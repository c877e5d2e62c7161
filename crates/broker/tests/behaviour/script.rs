//! A server that a script in `dev/` runs: it says `ready ADDRESS` and ends when its input does.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// One server for all trials of a kind.
pub(crate) struct Script {
    name: &'static str,
    running: Mutex<Option<Child>>,
    address: OnceLock<String>,
}

impl Script {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            running: Mutex::new(None),
            address: OnceLock::new(),
        }
    }

    fn path(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../dev")
            .join(self.name)
    }

    /// Why there can be none on this machine.
    pub(crate) fn unavailable(&self) -> Option<String> {
        match Command::new(self.path()).arg("status").output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Err(error) => Some(format!("dev/{}: {error}", self.name)),
        }
    }

    /// Starts it when it is first asked for.
    pub(crate) fn address(&self) -> &str {
        self.address.get_or_init(|| {
            let mut child = Command::new(self.path())
                .arg("run")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            let mut output = BufReader::new(child.stdout.take().unwrap());
            output.read_line(&mut line).unwrap();
            *self.running.lock().unwrap() = Some(child);
            let address = line.trim().strip_prefix("ready ");
            address.expect("the server to become ready").to_owned()
        })
    }

    /// Nothing may outlive the tests.
    pub(crate) fn stop(&self) {
        if let Some(mut child) = self.running.lock().unwrap().take() {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
}
