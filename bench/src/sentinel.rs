//! What a Sentinel costs, and how long a change takes through it.
//!
//! ```text
//!   private PostgreSQL ◄── a fleet, by SQL        RabbitMQ ──► a consumer that notes when
//!        ▲                                           ▲
//!   hyperfleet api serve ◄──────────── hyperfleet sentinel serve
//!   start ──► idle ──► changes ──► start again, with many due at one moment
//! ```

mod due;
mod fleet;
mod listener;
mod print;
mod stage;

use std::time::Duration;

use anyhow::{Context, Result};
use chrono::Utc;
use serde::Serialize;
use tokio::time::Instant;

use crate::cli::SentinelArgs;
use crate::machine;
use crate::role::Role;
use crate::sentinel::listener::Latencies;
use crate::sentinel::stage::Stage;
use crate::usage::Watched;

/// What was measured.
#[derive(Debug, Serialize)]
struct Figures {
    flags: SentinelArgs,
    cores: usize,
    load_before: f64,
    load_after: f64,
    /// From the start of the process until the whole fleet is known.
    start_seconds: f64,
    rss_mib: f64,
    /// The whole process, divided by the fleet.
    bytes_per_resource: f64,
    idle: Idle,
    changes: Latencies,
    due: due::Due,
}

/// What happens while nothing does, per second.
#[derive(Debug, Serialize)]
struct Idle {
    seconds: f64,
    sentinel_cpu_percent: f64,
    api_cpu_percent: f64,
    postgres_cpu_percent: f64,
    api_requests_per_second: f64,
    database_transactions_per_second: f64,
}

pub(crate) async fn run(args: SentinelArgs) -> Result<()> {
    let load_before = machine::load();
    let mut stage = Stage::set(&args).await?;
    let outcome = tokio::select! {
        outcome = measure(&args, &mut stage) => outcome,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt?;
            Err(anyhow::anyhow!("interrupted"))
        }
    };
    stage.strike().await?;
    let mut figures = outcome?;
    figures.load_before = load_before;
    figures.load_after = machine::load();
    print::figures(&figures)
}

async fn measure(args: &SentinelArgs, stage: &mut Stage) -> Result<Figures> {
    let (mut sentinel, start) = stage.sentinel().await?;
    eprintln!("started in {:.1} s", start.as_secs_f64());
    let idle = idle(args.duration.get(), &mut sentinel, stage).await?;
    let rss = rss_mib(&sentinel)?;
    // Told at once, as is what follows: a later phase that fails should not take it along.
    eprintln!("{rss:.0} MiB; {idle:?}");
    eprintln!(
        "{} changes per second for {}",
        args.changes_per_second, args.duration
    );
    let changes = listener::changes(args, stage, start).await?;
    eprintln!("change {}", changes.line());
    stage.stop(sentinel).await?;
    let due = due::measure(args, stage, start).await?;
    Ok(Figures {
        flags: args.clone(),
        cores: std::thread::available_parallelism().map_or(0, usize::from),
        load_before: 0.0,
        load_after: 0.0,
        start_seconds: start.as_secs_f64(),
        rss_mib: rss,
        bytes_per_resource: rss * f64::from(1 << 20) / f64::from(args.clusters),
        idle,
        changes,
        due,
    })
}

fn rss_mib(sentinel: &Role) -> Result<f64> {
    let spent = watched(sentinel.pid(), None).read().spent();
    spent.server_rss_mib.context("the Sentinel is gone")
}

fn watched(server: Option<u32>, postgres: Option<u32>) -> Watched {
    Watched { server, postgres }
}

async fn idle(duration: Duration, sentinel: &mut Role, stage: &mut Stage) -> Result<Idle> {
    // What the start left behind, such as events of rows that were seen in between.
    tokio::time::sleep(Duration::from_secs(5)).await;
    eprintln!(
        "idle for {} s, since {}",
        duration.as_secs(),
        Utc::now().format("%H:%M:%S")
    );
    let sentinel_before = watched(sentinel.pid(), None).read();
    let api_before = watched(stage.api.pid(), stage.postgres_pid()).read();
    let transactions = stage.transactions().await?;
    let requests = stage.api.metric("hyperfleet_api_requests_total").await?;
    let started = Instant::now();
    tokio::time::sleep(duration).await;
    let seconds = started.elapsed().as_secs_f64();
    let (sentinel, api) = (sentinel_before.spent(), api_before.spent());
    let requests = stage.api.metric("hyperfleet_api_requests_total").await? - requests;
    let transactions = stage.transactions().await? - transactions;
    let percent = |cpu: Option<f64>| cpu.unwrap_or_default() / seconds * 100.0;
    Ok(Idle {
        seconds,
        sentinel_cpu_percent: percent(sentinel.server_cpu_seconds),
        api_cpu_percent: percent(api.server_cpu_seconds),
        postgres_cpu_percent: percent(api.postgres_cpu_seconds),
        api_requests_per_second: requests / seconds,
        database_transactions_per_second: transactions / seconds,
    })
}
