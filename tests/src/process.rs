//! Processes of the built program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::call::call;

/// How long anything may take before a test gives up waiting for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The program: `HYPERFLEET_BIN`, else the one beside this test.
pub fn program() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("HYPERFLEET_BIN") {
        return Ok(named.into());
    }
    let test = std::env::current_exe()?;
    let built = test
        .ancestors()
        .nth(2)
        .map(|profile| profile.join("hyperfleet"));
    match built.filter(|built| built.is_file()) {
        Some(built) => Ok(built),
        None => bail!("there is no program to test: cargo build -p hyperfleet"),
    }
}

/// A command line of the program that knows nothing of this machine's settings.
pub fn hyperfleet() -> Result<Command> {
    let mut command = Command::new(program()?);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["HYPERFLEET_", "BROKER_", "DATABASE_URL"]
            .iter()
            .any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    Ok(command)
}

/// One running process, whose output goes to a file.
#[derive(Debug)]
pub struct Process {
    pub name: String,
    child: Child,
}

impl Process {
    pub fn start(name: &str, command: &mut Command, logs: &Path) -> Result<Process> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(logs.join(format!("{name}.log")))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Process {
            name: name.to_owned(),
            child,
        })
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Without a word.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Politely, and how it ended.
    pub fn terminate(mut self) -> Result<ExitStatus> {
        signal(self.child.id(), "-TERM")?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                bail!("{} does not stop", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether it ended by itself.
    pub fn ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

pub fn signal(pid: u32, signal: &str) -> Result<()> {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()?;
    anyhow::ensure!(status.success(), "kill {signal} {pid}: {status}");
    Ok(())
}

/// A loopback port below those that are given out by chance.
pub fn free_port() -> u16 {
    loop {
        let port = fastrand::u16(12_000..32_000);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Waits until `http://127.0.0.1:<port>/readyz` says so.
pub fn wait_until_ready(name: &str, port: u16) -> Result<()> {
    let url = format!("http://127.0.0.1:{port}/readyz");
    let what = format!("{name} to be ready");
    wait_for(&what, || {
        let answer = call("GET", &url, None)?;
        anyhow::ensure!(answer.status == 200, "{}", answer.body);
        Ok(())
    })
}

/// Asks again until the answer is good; fails with the last complaint.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Result<T>) -> Result<T> {
    wait_as_long_as(PATIENCE, what, &mut ask)
}

/// The same, with a patience of one's own.
pub fn wait_as_long_as<T>(
    patience: Duration,
    what: &str,
    mut ask: impl FnMut() -> Result<T>,
) -> Result<T> {
    let deadline = Instant::now() + patience;
    loop {
        match ask() {
            Ok(good) => return Ok(good),
            Err(complaint) if Instant::now() > deadline => {
                return Err(complaint.context(format!("waited {patience:?} for {what}")));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
