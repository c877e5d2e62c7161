//! The servers around the system, each a process of its own: PostgreSQL, RabbitMQ, Kubernetes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use hyperfleet_store::PrivateServer;
use tokio::runtime::Runtime;

use crate::kubernetes::Kubernetes;
use crate::process::{signal, wait_for};
use crate::root;

fn script(name: &str) -> PathBuf {
    root().join("dev").join(name)
}

/// Why there cannot be all of them on this machine.
pub fn unavailable() -> Option<String> {
    let mut reasons = Vec::new();
    for name in ["rabbitmq", "kubernetes"] {
        match Command::new(script(name)).arg("status").output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => reasons.push(String::from_utf8_lossy(&output.stdout).trim().to_owned()),
            Err(error) => reasons.push(format!("dev/{name}: {error}")),
        }
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// A server that a script of `dev/` runs until its stdin closes.
#[derive(Debug)]
struct Scripted {
    child: Child,
    /// What it said after `ready`.
    place: String,
}

impl Scripted {
    fn run(name: &str, arguments: &[&str], dir: &Path) -> Result<Scripted> {
        let mut child = Command::new(script(name))
            .args(["run", "--dir"])
            .arg(dir)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().context("it has no stdout")?;
        for line in BufReader::new(out).lines() {
            if let Some(place) = line?.strip_prefix("ready ") {
                let place = place.trim().to_owned();
                return Ok(Scripted { child, place });
            }
        }
        bail!("dev/{name} ended before it was ready")
    }

    fn stop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// PostgreSQL in a directory of its own.
pub struct Database {
    dir: PathBuf,
    runtime: Runtime,
    server: Option<PrivateServer>,
}

impl Database {
    pub fn start(dir: &Path) -> Result<Database> {
        let runtime = Runtime::new()?;
        let server = runtime.block_on(PrivateServer::start(dir))?;
        Ok(Database {
            dir: dir.to_owned(),
            runtime,
            server: Some(server),
        })
    }

    pub fn url(&self) -> String {
        self.server
            .as_ref()
            .map(PrivateServer::url)
            .unwrap_or_default()
    }

    /// Without a checkpoint: the next start replays its log.
    pub fn kill(&mut self) -> Result<()> {
        let pid = std::fs::read_to_string(self.dir.join("postgres/data/postmaster.pid"))?;
        let pid = pid.lines().next().context("an empty postmaster.pid")?;
        signal(pid.trim().parse()?, "-QUIT")?;
        self.stop();
        Ok(())
    }

    pub fn start_again(&mut self) -> Result<()> {
        self.server = Some(self.runtime.block_on(PrivateServer::start(&self.dir))?);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop();
    }
}

/// RabbitMQ in a directory of its own.
pub struct RabbitMq {
    dir: PathBuf,
    server: Scripted,
}

impl RabbitMq {
    pub fn start(dir: &Path) -> Result<RabbitMq> {
        std::fs::create_dir_all(dir)?;
        Ok(RabbitMq {
            dir: dir.to_owned(),
            server: Scripted::run("rabbitmq", &[], dir)?,
        })
    }

    pub fn url(&self) -> &str {
        &self.server.place
    }

    pub fn stop(&mut self) {
        self.server.stop();
    }

    /// At the same address, with what was durable.
    pub fn start_again(&mut self) -> Result<()> {
        let port = self.url().rsplit_once(':').map_or("", |(_, port)| port);
        let port = port.trim_end_matches("/%2f").to_owned();
        self.server = Scripted::run("rabbitmq", &["--port", &port], &self.dir)?;
        Ok(())
    }
}

impl Drop for RabbitMq {
    fn drop(&mut self) {
        self.stop();
    }
}

/// etcd, kube-apiserver and kube-controller-manager.
pub struct ControlPlane {
    server: Scripted,
    /// An apiserver that was started again here, in place of the script's.
    apiserver: Option<Child>,
}

/// How to start a process as it was started before.
pub struct CommandLine {
    arguments: Vec<String>,
    dir: PathBuf,
}

impl ControlPlane {
    pub fn start(dir: &Path) -> Result<ControlPlane> {
        Ok(ControlPlane {
            server: Scripted::run("kubernetes", &[], dir)?,
            apiserver: None,
        })
    }

    pub fn kubeconfig(&self) -> PathBuf {
        PathBuf::from(&self.server.place)
    }

    /// Kills the apiserver; etcd and the controllers stay.
    pub fn kill_apiserver(&mut self) -> Result<CommandLine> {
        let pid = match &self.apiserver {
            Some(child) => child.id(),
            None => child_named(self.server.child.id(), "kube-apiserver")?,
        };
        let proc = PathBuf::from(format!("/proc/{pid}"));
        let arguments = std::fs::read_to_string(proc.join("cmdline"))?;
        let arguments = arguments.split_terminator('\0').map(str::to_owned);
        let command = CommandLine {
            arguments: arguments.collect(),
            dir: std::fs::read_link(proc.join("cwd"))?,
        };
        signal(pid, "-9")?;
        if let Some(mut child) = self.apiserver.take() {
            child.wait()?;
        }
        Ok(command)
    }

    /// Waits until it answers: whatever is started meanwhile would refuse to start without it.
    pub fn start_apiserver(&mut self, command: &CommandLine) -> Result<()> {
        let (program, arguments) = command.arguments.split_first().context("no command")?;
        let child = Command::new(program)
            .args(arguments)
            .current_dir(&command.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.apiserver = Some(child);
        let kubernetes = Kubernetes::new(&self.kubeconfig())?;
        wait_for("the apiserver to answer", || {
            kubernetes.connect()?.list("/api/v1/namespaces").map(drop)
        })
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        if let Some(mut child) = self.apiserver.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.server.stop();
    }
}

fn child_named(parent: u32, name: &str) -> Result<u32> {
    for entry in std::fs::read_dir("/proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
            continue;
        };
        // `pid (name) state ppid …`; the kernel cuts names at 15 characters.
        let Some((head, tail)) = stat.rsplit_once(") ") else {
            continue;
        };
        let comm = head.split_once('(').map_or("", |(_, comm)| comm);
        let ppid = tail.split_whitespace().nth(1).unwrap_or_default();
        if ppid == parent.to_string() && name.starts_with(comm) && !comm.is_empty() {
            return Ok(pid);
        }
    }
    bail!("no child of {parent} is named {name}")
}
