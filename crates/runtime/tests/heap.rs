//! Profiles of the heap, in programs that have the allocator for them:
//! `cargo test -p hyperfleet-runtime --features heap-profiling`.
#![cfg(feature = "heap-profiling")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use hyperfleet_runtime::health::{Health, HealthConfig, ObserverServers};
use hyperfleet_runtime::heap::{ALLOCATOR, Allocator};
use hyperfleet_runtime::metrics::{Build, MetricsConfig, MetricsRegistry};
use hyperfleet_runtime::shutdown::Shutdown;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[global_allocator]
static GLOBAL: Allocator = ALLOCATOR;

type Anything = Box<dyn std::error::Error + Send + Sync>;

/// Far more than one sample is taken for.
#[inline(never)]
fn hoard_for_the_profile() -> Vec<Vec<u8>> {
    (0..64).map(|byte| vec![byte; 1 << 20]).collect()
}

#[tokio::test]
async fn a_profile_of_the_heap_names_who_holds_it() -> Result<(), Anything> {
    let health = HealthConfig {
        port: 0,
        ..HealthConfig::default()
    };
    let metrics = MetricsConfig {
        port: 0,
        profiling: true,
        ..MetricsConfig::default()
    };
    let servers = ObserverServers::bind(&health, &metrics, Path::new("")).await?;
    let address = servers.metrics_address()?;
    let build = Build {
        version: "1".into(),
        commit: String::new(),
    };
    let registry = MetricsRegistry::new(build)?;
    let shutdown = Shutdown::new();
    let serving = tokio::spawn(servers.serve(Health::new(), registry, shutdown.clone()));
    // The first answer shows that samples are taken.
    let none = ask(address, "/debug/pprof/memory").await?;
    assert!(none.starts_with(b"HTTP/1.1 200"));

    let hoard = hoard_for_the_profile();
    let answer = ask(address, "/debug/pprof/heap").await?;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    let end = b"\r\n\r\n";
    let head = answer.windows(end.len()).position(|window| window == end);
    let body = &answer[head.ok_or("no body")? + end.len()..];
    let profile = String::from_utf8_lossy(&unzipped(body)?).into_owned();
    assert!(profile.contains("hoard_for_the_profile"), "{profile}");
    drop(hoard);

    shutdown.trigger();
    serving.await?;
    Ok(())
}

async fn ask(address: std::net::SocketAddr, path: &str) -> Result<Vec<u8>, Anything> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(answer)
}

fn unzipped(bytes: &[u8]) -> Result<Vec<u8>, Anything> {
    let mut gzip = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut into = gzip.stdin.take().ok_or("no stdin")?;
    let bytes = bytes.to_owned();
    let writing = std::thread::spawn(move || into.write_all(&bytes));
    let out = gzip.wait_with_output()?;
    writing.join().map_err(|_| "the writer panicked")??;
    Ok(out.stdout)
}
