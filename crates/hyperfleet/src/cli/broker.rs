//! `hyperfleet broker …`.

use clap::{Args, Subcommand};

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum BrokerCommand {
    /// Messages that were given up on: look at them, give them back, or remove them
    #[command(subcommand)]
    DeadLetters(DeadLettersCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List the dead letters of a subscription, the oldest first; they stay where they are
    List(ListArgs),
    /// Show one with its whole message
    Show(ShowArgs),
    /// Give dead letters back to their subscription as new messages
    Replay(ClearArgs),
    /// Remove dead letters for good
    Discard(ClearArgs),
}

/// Whose dead letters. Which broker it is, and where, is the broker's own configuration.
#[derive(Debug, Args)]
pub(crate) struct SubscriptionArgs {
    /// The topic the Sentinel publishes to
    #[arg(short, long, env = "BROKER_TOPIC")]
    pub(crate) topic: String,
    /// The subscription of the adapter
    #[arg(short, long, env = "BROKER_SUBSCRIPTION_ID")]
    pub(crate) subscription: String,
    /// The broker, for example amqp://host, instead of the configured one
    #[arg(
        long,
        env = "HYPERFLEET_BROKER_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) broker_url: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) of: SubscriptionArgs,
    /// How many at most
    #[arg(long, default_value_t = 100, value_name = "NUMBER")]
    pub(crate) limit: usize,
    /// How to print them
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The dead letter's id, or that of the event in it
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) of: SubscriptionArgs,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[group(id = "which", required = true, multiple = false, args = ["ids", "all"])]
pub(crate) struct ClearArgs {
    /// Ids of dead letters, or of the events in them
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// All there are now; those that come meanwhile are left
    #[arg(long)]
    pub(crate) all: bool,
    /// With --all: how many at most, the oldest first
    #[arg(long, value_name = "NUMBER", requires = "all")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) of: SubscriptionArgs,
    /// Do not ask before removing
    #[arg(short, long)]
    pub(crate) yes: bool,
}
