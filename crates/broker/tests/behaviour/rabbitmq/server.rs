//! A private server, started by `dev/rabbitmq`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

pub(super) struct Server {
    dir: TempDir,
    url: String,
    running: Option<Child>,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/rabbitmq")
}

impl Server {
    /// Why there can be none on this machine.
    pub(super) fn unavailable() -> Option<String> {
        match Command::new(script()).arg("status").output() {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Err(error) => Some(format!("dev/rabbitmq: {error}")),
        }
    }

    pub(super) fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let (running, url) = run(dir.path(), &[]);
        Self {
            dir,
            url,
            running: Some(running),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// With the durable queues and messages of before, at the same address.
    pub(super) fn start_again(&mut self) {
        let port = self
            .url
            .rsplit_once(':')
            .unwrap()
            .1
            .trim_end_matches("/%2f");
        let (running, url) = run(self.dir.path(), &["--port", port]);
        assert_eq!(url, self.url);
        self.running = Some(running);
    }

    /// Runs rabbitmqctl.
    pub(super) fn control(&self, arguments: &[&str]) {
        let mut command = Command::new(script());
        command
            .arg("ctl")
            .arg("--dir")
            .arg(self.dir.path())
            .args(arguments);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    pub(super) fn stop(&mut self) {
        if let Some(mut child) = self.running.take() {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(dir: &Path, more: &[&str]) -> (Child, String) {
    let mut child = Command::new(script())
        .arg("run")
        .arg("--dir")
        .arg(dir)
        .args(more)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let url = line
        .trim()
        .strip_prefix("ready ")
        .expect("the server to become ready")
        .to_owned();
    (child, url)
}
