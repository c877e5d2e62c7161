//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hyperfleet_runtime::GoDuration;
use serde::Serialize;

use crate::scenario::Scenario;

/// Measures a server that speaks HyperFleet's v1.0 wire format.
#[derive(Debug, Parser)]
#[command(name = "hyperfleet-bench", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Seed an API with clusters, then read, list, report on, change and create some
    Api(ApiArgs),
    /// Give a Sentinel a fleet: its start, its memory, its idling, how long changes take, how fast many due events go
    Sentinel(SentinelArgs),
    /// Give an adapter events: how many it handles, how long each takes, and what that costs
    Adapter(AdapterArgs),
}

#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct AdapterArgs {
    /// Where `hyperfleet` is; the adapter, RabbitMQ and Kubernetes are started and stopped again
    #[arg(long, value_name = "PATH")]
    pub(crate) start: PathBuf,
    /// Where objects are applied
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [Target::Kubesim])]
    pub(crate) target: Vec<Target>,
    /// How many events are handled at once
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100], value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) workers: Vec<u16>,
    /// How many clusters there are for each number of workers; each has three objects
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clusters: u32,
    /// How many events find everything as it should be
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) events: u32,
    /// How many events about these clusters wait for an adapter that was away
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) backlog: u32,
    /// A RabbitMQ to use instead of a private one
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    pub(crate) broker_url: Option<String>,
    /// How to print the figures
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    /// The simulated one, in a process of its own
    Kubesim,
    /// A real kube-apiserver, from `dev/kubernetes`
    Kubernetes,
}

#[derive(Debug, Clone, Args, Serialize)]
pub(crate) struct SentinelArgs {
    /// Where `hyperfleet` is; API, Sentinel, PostgreSQL and RabbitMQ are started and stopped again
    #[arg(long, value_name = "PATH")]
    pub(crate) start: PathBuf,
    /// How many clusters there are
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) clusters: u32,
    /// How the Sentinel learns of changes
    #[arg(long, value_enum, default_value_t = Mode::Feed)]
    pub(crate) mode: Mode,
    /// How many clusters are due at one moment
    #[arg(long, default_value_t = 50_000)]
    pub(crate) due: u32,
    /// How many clusters are changed in a second
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) changes_per_second: u32,
    /// How long idling and changing are measured, each
    #[arg(long, default_value = "30s")]
    pub(crate) duration: GoDuration,
    /// Events that may wait for their confirmation at the same time
    #[arg(long, default_value_t = 256)]
    pub(crate) max_in_flight: u32,
    /// A RabbitMQ to use instead of a private one
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    pub(crate) broker_url: Option<String>,
    /// How to print the figures
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// From the API's change feed
    Feed,
    /// From the list, read every 5 s
    Poll,
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct ApiArgs {
    /// The API to measure, for example http://127.0.0.1:8000; what is created there stays there
    #[arg(long, value_name = "URL", required_unless_present = "start")]
    pub(crate) server: Option<String>,
    /// Start `PATH/hyperfleet api serve` on a free port with a PostgreSQL of its own, and stop it afterwards
    #[arg(long, value_name = "PATH", conflicts_with_all = ["server", "pid", "postgres_pid"])]
    pub(crate) start: Option<PathBuf>,
    /// How many clusters there are before anything is measured
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clusters: u32,
    /// How many of them adapters report on
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) report_clusters: u32,
    /// How many requests are under way at once, each on a connection of its own
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,
    /// How long each scenario is measured, after a tenth of that to warm up
    #[arg(long, default_value = "10s")]
    pub(crate) duration: GoDuration,
    /// Only these scenarios
    #[arg(long, value_delimiter = ',', value_enum)]
    pub(crate) only: Vec<Scenario>,
    /// A header for every request, for example an Authorization
    #[arg(long = "header", value_name = "NAME: VALUE")]
    #[serde(skip)]
    pub(crate) headers: Vec<String>,
    /// The server's process, to tell what it takes
    #[arg(long)]
    pub(crate) pid: Option<u32>,
    /// PostgreSQL's first process, to tell what it and its children take
    #[arg(long)]
    pub(crate) postgres_pid: Option<u32>,
    /// How to print the figures
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    Text,
    Json,
}
