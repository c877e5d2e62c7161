//! How many events an adapter handles, how long each takes, and what that costs.
//!
//! ```text
//!   RabbitMQ ──events──► hyperfleet adapter serve ──GET, PUT──► an API in the generator
//!      ▲                          │ three ConfigMaps per cluster          │
//!      │                          ▼                                       │
//!      │                  kubesim │ a real kube-apiserver                 │
//!      └──────────────── the next event for each report ◄─────────────────┘
//! ```

mod api;
mod drive;
mod print;
mod target;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use crate::adapter::api::StandIn;
use crate::adapter::drive::Driver;
use crate::adapter::target::Running;
use crate::cli::{AdapterArgs, Target};
use crate::figures::Figures as Rates;
use crate::machine;
use crate::rabbitmq::RabbitMq;
use crate::role::{Role, free_port};
use crate::usage::Watched;

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    flags: AdapterArgs,
    cores: usize,
    load_before: f64,
    load_after: f64,
    rows: Vec<Row>,
}

/// One number of workers on one target.
#[derive(Debug, Serialize)]
struct Row {
    target: Target,
    workers: u16,
    /// The first event of each cluster: three objects are created.
    create: Rates,
    /// Events that find everything as it should be.
    converged: Rates,
    /// Of such an event.
    cpu_micros_per_event: f64,
    api_requests_per_event: f64,
    kubernetes_requests_per_event: f64,
    /// What the adapter held at the end.
    rss_mib: f64,
    /// Of that its own: not pages of the program's file.
    own_mib: f64,
    backlog: Backlog,
}

/// What became of events that waited for an adapter that was away.
#[derive(Debug, Serialize)]
struct Backlog {
    /// From when it was ready until an event behind all of them was reported on.
    seconds: f64,
    /// How often it read a cluster in this time.
    looks: u64,
    /// What it held then.
    rss_mib: f64,
    own_mib: f64,
}

const TOPIC: &str = "hyperfleet.bench.v1";
const TASK: &str = include_str!("adapter/task.yaml");

pub(crate) async fn run(args: AdapterArgs) -> Result<()> {
    let load_before = machine::load();
    let (rabbitmq, broker_url) = match &args.broker_url {
        Some(url) => (None, url.clone()),
        None => {
            let server = RabbitMq::start().await?;
            let url = server.url.clone();
            (Some(server), url)
        }
    };
    let outcome = tokio::select! {
        outcome = all(&args, &broker_url) => outcome,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt?;
            Err(anyhow::anyhow!("interrupted"))
        }
    };
    if let Some(rabbitmq) = rabbitmq {
        rabbitmq.stop().await?;
    }
    print::figures(&Figures {
        flags: args,
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        load_before,
        load_after: machine::load(),
        rows: outcome?,
    })
}

async fn all(args: &AdapterArgs, broker_url: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for target in &args.target {
        let kubernetes = Running::start(*target).await?;
        for workers in &args.workers {
            eprintln!("{target:?}, {workers} at once");
            let row = one(args, broker_url, &kubernetes, *target, *workers).await;
            rows.push(row?);
        }
        kubernetes.stop().await?;
    }
    Ok(rows)
}

async fn one(
    args: &AdapterArgs,
    broker_url: &str,
    kubernetes: &Running,
    target: Target,
    workers: u16,
) -> Result<Row> {
    let mut api = StandIn::start().await?;
    let directory = tempfile::Builder::new().prefix("hf-bench-").tempdir()?;
    // A subscription of its own: what an earlier one left is not its business.
    let name = format!("bench-{target:?}-{workers}-{}", std::process::id()).to_lowercase();
    let adapter = start(
        args, broker_url, kubernetes, &api, &directory, &name, workers,
    )
    .await?;
    let watched = Watched {
        server: adapter.pid(),
        postgres: None,
    };
    let mut driver = Driver::connect(broker_url, TOPIC, &name, usize::from(workers)).await?;
    driver.wait_for_the_adapter(&mut api).await?;
    let create = driver
        .drive("create", args.clusters, args.clusters, &mut api, watched)
        .await?;
    let (api_before, kubernetes_before) = (api.requests(), kubernetes.requests().await?);
    let converged = driver
        .drive("converged", args.events, args.clusters, &mut api, watched)
        .await?;
    let (api_after, kubernetes_after) = (api.requests(), kubernetes.requests().await?);
    let held = watched.read().spent();
    adapter.stop().await?;
    driver.pile_up(args.backlog, args.clusters).await?;
    let before = api.requests();
    let adapter = start(
        args, broker_url, kubernetes, &api, &directory, &name, workers,
    )
    .await?;
    let seconds = driver.wait_for_the_last(&mut api).await?;
    let after = Watched {
        server: adapter.pid(),
        postgres: None,
    };
    let after = after.read().spent();
    let backlog = Backlog {
        seconds: seconds.as_secs_f64(),
        // Each is a read and a report.
        looks: (api.requests() - before) / 2,
        rss_mib: after.server_rss_mib.context("the adapter is gone")?,
        own_mib: after.server_own_mib.context("the adapter is gone")?,
    };
    driver.close().await;
    adapter.stop().await?;
    let events = f64::from(args.events);
    Ok(Row {
        target,
        workers,
        cpu_micros_per_event: converged.spent.server_cpu_seconds.unwrap_or_default() * 1e6 / events,
        api_requests_per_event: (api_after - api_before) as f64 / events,
        kubernetes_requests_per_event: (kubernetes_after - kubernetes_before) as f64 / events,
        rss_mib: held.server_rss_mib.context("the adapter is gone")?,
        own_mib: held.server_own_mib.context("the adapter is gone")?,
        backlog,
        create,
        converged,
    })
}

async fn start(
    args: &AdapterArgs,
    broker_url: &str,
    kubernetes: &Running,
    api: &StandIn,
    directory: &TempDir,
    name: &str,
    workers: u16,
) -> Result<Role> {
    let write = |file: &str, text: &str| -> Result<String> {
        let path = directory.path().join(file);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    };
    let config = json!({
        "adapter": {"name": "bench"},
        "clients": {
            "hyperfleet_api": {"base_url": api.url},
            "broker": {"topic": TOPIC, "subscription_id": name},
            // The limit of requests per second is not what is measured.
            "kubernetes": {"kube_config_path": kubernetes.kubeconfig(), "qps": 1e6, "burst": 1_000_000},
        },
        "message_broker": {"max_concurrency": workers},
        "log": {"level": "warn", "output": "stderr"},
    });
    let config = write("adapter.yaml", &config.to_string())?;
    let task = write("task.yaml", &TASK.replace("PREFIX", name))?;
    let (health, metrics) = (free_port()?, free_port()?);
    Role::start(
        &args.start.join("hyperfleet"),
        &[
            "adapter",
            "serve",
            "--config",
            &config,
            "--task-config",
            &task,
            "--health-port",
            &health.to_string(),
            "--metrics-port",
            &metrics.to_string(),
        ],
        &[
            ("BROKER_TYPE", "rabbitmq"),
            ("BROKER_RABBITMQ_URL", broker_url),
        ],
        metrics,
    )
    .await
}
