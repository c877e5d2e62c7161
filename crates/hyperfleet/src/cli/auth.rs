//! The command line of `hyperfleet auth`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Whether one may do something; the exit code is 1 when not
    CanI(CanIArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CanIArgs {
    /// get, list, watch, create, patch, delete, force-delete, report, audit, note or announce
    pub(crate) verb: String,
    /// A kind, or one resource: cluster, or cluster/ID
    pub(crate) resource: Option<String>,
    /// Where the API is
    #[arg(
        long,
        env = "HYPERFLEET_API_BASE_URL",
        default_value = "http://localhost:8000",
        value_name = "URL"
    )]
    pub(crate) hyperfleet_api_base_url: String,
    /// A file with the token to show; without one, the variable HYPERFLEET_TOKEN if it is set
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A header to send, for example `X-HyperFleet-Org: acme`; can be repeated
    #[arg(long, value_name = "NAME: VALUE")]
    pub(crate) header: Vec<String>,
    /// How to print the answer
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
