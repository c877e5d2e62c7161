//! The command line of the sweeper.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum SweeperCommand {
    /// One pass: delete what lost its owner, and say why everything else is kept; the exit code is 1 when the pass could
    /// not see everything
    Run(SweeperRunArgs),
    /// Pass after pass, by one of several processes at a time
    Serve(SweeperServeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SweeperArgs {
    /// Configuration file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A kubeconfig file; without one, the service account of the pod
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Where the API is, for example http://localhost:8000
    #[arg(long, value_name = "URL")]
    pub(crate) hyperfleet_api_base_url: Option<String>,
    /// The file with the key that the adapters sign with
    #[arg(long, value_name = "FILE")]
    pub(crate) ownership_key_file: Option<PathBuf>,
    /// debug, info, warn or error
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SweeperRunArgs {
    #[command(flatten)]
    pub(crate) sweeper: SweeperArgs,
    /// How to print what was found
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SweeperServeArgs {
    #[command(flatten)]
    pub(crate) sweeper: SweeperArgs,
    /// From the end of a pass to the beginning of the next, for example 5m
    #[arg(long, value_name = "DURATION")]
    pub(crate) interval: Option<String>,
}
