//! Where and on what the figures were taken.

use std::fs;
use std::process::Command;

use bytes::Bytes;
use http::Method;
use serde::Serialize;
use serde_json::Value;

use crate::connection::Connection;

#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) processor: String,
    pub(crate) memory_gib: f64,
    pub(crate) kernel: String,
    /// What the server says of itself.
    pub(crate) server_version: String,
    pub(crate) postgres_version: Option<String>,
    /// The load average of the last minute, before and after: above the number of cores others are at work too.
    pub(crate) load_before: f64,
    pub(crate) load_after: f64,
}

impl Machine {
    /// Looks around; `load_after` is for later.
    pub(crate) async fn describe(connection: &mut Connection, postgres: Option<u32>) -> Machine {
        Machine {
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            processor: value_of("/proc/cpuinfo", "model name").unwrap_or_default(),
            memory_gib: memory_gib().unwrap_or_default(),
            kernel: first_words("/proc/sys/kernel/osrelease"),
            server_version: server_version(connection).await,
            postgres_version: postgres.and_then(version_of),
            load_before: load(),
            load_after: 0.0,
        }
    }
}

pub(crate) fn load() -> f64 {
    let text = first_words("/proc/loadavg");
    let first = text.split_whitespace().next();
    first
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

async fn server_version(connection: &mut Connection) -> String {
    let path = "/api/hyperfleet".to_owned();
    let answer = connection.ask(path, Method::GET, Bytes::new()).await;
    answer
        .ok()
        .and_then(|answer| serde_json::from_slice::<Value>(&answer.body).ok())
        .and_then(|body| Some(body["version"].as_str()?.to_owned()))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// A running program's answer to `--version`.
fn version_of(pid: u32) -> Option<String> {
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let output = Command::new(program).arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn memory_gib() -> Option<f64> {
    let total = value_of("/proc/meminfo", "MemTotal")?;
    let kibibytes: f64 = total.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes / f64::from(1 << 20))
}

fn value_of(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    })
}

fn first_words(file: &str) -> String {
    fs::read_to_string(file)
        .unwrap_or_default()
        .trim()
        .to_owned()
}
