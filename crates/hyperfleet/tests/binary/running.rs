//! A `hyperfleet up` in a directory of its own.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything may take before a test gives up waiting for it.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters")
}

/// A data directory that PostgreSQL's account can reach.
pub(crate) fn data_dir() -> tempfile::TempDir {
    let directory = tempfile::Builder::new().prefix("hf-up-").tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

pub(crate) fn hyperfleet() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hyperfleet"));
    command
        .env_remove("DATABASE_URL")
        .env_remove("HYPERFLEET_HOME")
        // The contexts of whoever runs the tests stay as they are.
        .env(
            "XDG_CONFIG_HOME",
            std::env::temp_dir().join("hf-test-config"),
        );
    command
}

/// `hyperfleet up` on free ports.
pub(crate) fn up(data_dir: &Path) -> Command {
    let mut command = hyperfleet();
    command
        .arg("up")
        .args(["--port", "0", "--health-port", "0", "--metrics-port", "0"]);
    command
        .arg("--data-dir")
        .arg(data_dir)
        .arg("--adapters")
        .arg(adapters());
    command
}

/// Runs a command that is expected to end by itself.
pub(crate) fn outcome(command: &mut Command) -> Output {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let (done, waiting) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    match waiting.recv_timeout(PATIENCE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            signal(pid, "-9");
            panic!("it did not end by itself");
        }
    }
}

pub(crate) fn signal(pid: u32, signal: &str) {
    assert!(
        Command::new("kill")
            .args([signal, &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// A running system, addressed through its API.
pub(crate) struct Up {
    child: Child,
    pub(crate) api: String,
    health: String,
}

impl Up {
    pub(crate) fn start(data_dir: &Path) -> Up {
        let mut child = up(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut found = |label: &str| {
            lines
                .by_ref()
                .map(|line| line.expect("it goes on printing"))
                .find_map(|line| {
                    Some(
                        line.trim()
                            .strip_prefix(label)?
                            .split_whitespace()
                            .next()?
                            .to_owned(),
                    )
                })
                .unwrap_or_else(|| panic!("it printed no line `{label}`"))
        };
        let (api, health) = (found("API"), found("health"));
        std::thread::spawn(move || lines.for_each(drop));
        Up { child, api, health }
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.call("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.call("POST", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) {
        self.call("DELETE", path, None);
    }

    /// Without waiting for adapters; that they were faster is fine.
    pub(crate) fn force_delete(&self, path: &str) {
        let url = format!("{}{path}/force-delete", self.api);
        match ureq::post(&url).send(r#"{"reason": "a test"}"#) {
            Ok(_) | Err(ureq::Error::StatusCode(404)) => {}
            Err(error) => panic!("POST {url}: {error}"),
        }
    }

    /// Through curl-free plain HTTP: the binary under test must not also be the client under test.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let url = format!("{}{path}", self.api);
        let request = ureq::http::Request::builder().method(method).uri(&url);
        let request = request
            .body(body.map(Value::to_string).unwrap_or_default())
            .unwrap();
        let mut response =
            ureq::run(request).unwrap_or_else(|error| panic!("{method} {url}: {error}"));
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    /// What `/readyz` says.
    pub(crate) fn readiness(&self) -> Value {
        let mut response = ureq::get(&self.health).call().unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    /// Waits until a resource is in a phase; fails with what it was last.
    pub(crate) fn wait_for_phase(&self, path: &str, phase: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let resource = self.get(path);
            if resource["status"]["phase"] == phase {
                return resource;
            }
            assert!(
                Instant::now() < deadline,
                "not {phase}: {resource:#}\n{:#}",
                self.get(&format!("{path}/statuses"))
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn kill(mut self) {
        signal(self.child.id(), "-9");
        self.child.wait().unwrap();
    }

    /// Ctrl-C, and how it ended.
    pub(crate) fn interrupt(mut self) -> std::process::ExitStatus {
        signal(self.child.id(), "-INT");
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            signal(self.child.id(), "-INT");
            let _ = self.child.wait();
        }
    }
}

/// Processes whose command line names a directory: what a stopped system must not leave.
pub(crate) fn processes_of(directory: &Path) -> Vec<String> {
    let name = directory.to_str().unwrap();
    let output = Command::new("ps")
        .args(["-eo", "pid,args"])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| line.contains(name) && !line.contains("ps -eo"))
        .map(str::to_owned)
        .collect()
}

/// A running `hyperfleet api serve`.
pub(crate) struct Api {
    child: Child,
    /// What it said when it began to listen.
    listening: Value,
}

impl Api {
    /// On free ports.
    pub(crate) fn serve(config: &Path, data_dir: &Path) -> Api {
        let ports = [
            "--server-port",
            "0",
            "--health-port",
            "0",
            "--metrics-port",
            "0",
        ];
        let mut child = hyperfleet()
            .args(["api", "serve", "--migrate"])
            .args(ports)
            .arg("--config")
            .arg(config)
            .arg("--data-dir")
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listening = lines
            .by_ref()
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
            .find(|entry| entry["message"] == "the API listens")
            .expect("it says where it listens");
        std::thread::spawn(move || lines.for_each(drop));
        Api { child, listening }
    }

    /// Host and port of the API.
    pub(crate) fn address(&self) -> String {
        self.listening["address"].as_str().unwrap().to_owned()
    }

    fn url(&self, server: &str, path: &str) -> String {
        format!("http://{}{path}", self.listening[server].as_str().unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        serde_json::from_str(&read(&self.url("address", path))).unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let request = ureq::post(self.url("address", path));
        let mut response = request.send(body.to_string()).unwrap();
        serde_json::from_str(&response.body_mut().read_to_string().unwrap()).unwrap()
    }

    pub(crate) fn readiness(&self) -> Value {
        serde_json::from_str(&read(&self.url("health", "/readyz"))).unwrap()
    }

    pub(crate) fn metrics(&self) -> String {
        read(&self.url("metrics", "/metrics"))
    }

    pub(crate) fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.signal("-INT");
        let _ = self.child.wait();
    }
}

fn read(url: &str) -> String {
    let mut response = ureq::get(url)
        .call()
        .unwrap_or_else(|error| panic!("{url}: {error}"));
    response.body_mut().read_to_string().unwrap()
}
