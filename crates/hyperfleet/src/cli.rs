//! The command line.

mod adapter;
mod broker;
mod sweeper;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hyperfleet_runtime::GoDuration;

pub(crate) use self::adapter::{
    AdapterArgs, AdapterCommand, AdapterSchemaArgs, AdapterServeArgs, DryRunArgs, SchemaKind,
};
pub(crate) use self::broker::{
    BrokerCommand, ClearArgs, DeadLettersCommand, ListArgs, ShowArgs, SubscriptionArgs,
};
pub(crate) use self::sweeper::{SweeperArgs, SweeperCommand, SweeperRunArgs, SweeperServeArgs};
use crate::operator::context_commands::ContextCommand;
use crate::operator::{AuthCommand, Verb};
use crate::output::Format;
use crate::reference::ReferenceArgs;

/// Brings a fleet of clusters to the state their owners asked for, and keeps them there.
#[derive(Debug, Parser)]
#[command(name = "hyperfleet", version = crate::build::VERSION, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Operate(Verb),
    /// Run everything in one process on this machine: API, Sentinels, adapters, sweeper, broker, a simulated Kubernetes
    #[command(args_override_self = true)]
    Up(UpArgs),
    /// The API: what is wanted, what was reported
    #[command(subcommand)]
    Api(ApiCommand),
    /// The Sentinel: when something must be looked at again
    #[command(subcommand)]
    Sentinel(SentinelCommand),
    /// An adapter: how the wanted state comes about
    #[command(subcommand)]
    Adapter(AdapterCommand),
    /// The sweeper: what lost its owner goes
    #[command(subcommand)]
    Sweeper(SweeperCommand),
    /// The broker: what passes between Sentinels and adapters
    #[command(subcommand)]
    Broker(BrokerCommand),
    /// Who may do what
    #[command(subcommand)]
    Auth(AuthCommand),
    /// The rules by which statuses are computed
    #[command(subcommand)]
    Aggregation(AggregationCommand),
    /// Try an expression as production evaluates it
    #[command(subcommand)]
    Expr(ExprCommand),
    /// Try a template as production renders it
    #[command(subcommand)]
    Template(TemplateCommand),
    /// Contexts: the servers one works with; and the configuration of a role
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Write the reference of the command line
    #[command(hide = true)]
    Reference(ReferenceArgs),
}

#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// Port of the API; 0 takes a free one
    #[arg(long, default_value_t = 8000)]
    pub(crate) port: u16,
    /// Port of /healthz and /readyz; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    pub(crate) health_port: u16,
    /// Port of /metrics; 0 takes a free one
    #[arg(long, default_value_t = 9090)]
    pub(crate) metrics_port: u16,
    /// Where everything is kept
    #[arg(long, env = "HYPERFLEET_HOME", default_value = ".hyperfleet")]
    pub(crate) data_dir: PathBuf,
    /// A PostgreSQL to use instead of a private one
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// A broker to use instead of one in this process, for example amqp://host
    #[arg(
        long,
        env = "HYPERFLEET_BROKER_URL",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) broker_url: Option<String>,
    /// A Kubernetes to use instead of a simulated one
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The adapters to run, a directory each
    #[arg(long, value_name = "DIR", default_value = "adapters")]
    pub(crate) adapters: PathBuf,
    /// How often what is Ready is looked at again, and repaired if somebody meddled with it
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub(crate) refresh: GoDuration,
    /// What is logged on stderr: debug, info, warn or error
    #[arg(
        long,
        env = "HYPERFLEET_LOG_LEVEL",
        default_value = "warn",
        value_name = "LEVEL"
    )]
    pub(crate) log_level: String,
    /// Create a cluster named `demo` with two node pools if there is none, and show their way to Ready
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApiCommand {
    /// Serve the API
    Serve(ApiServeArgs),
    /// Bring the database to this version's tables
    Migrate(ApiArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ApiServeArgs {
    #[command(flatten)]
    pub(crate) api: ApiArgs,
    /// Bring the database to this version's tables first
    #[arg(long)]
    pub(crate) migrate: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApiArgs {
    /// Configuration file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where a private PostgreSQL is kept if no other database is configured
    #[arg(long, env = "HYPERFLEET_HOME", default_value = ".hyperfleet")]
    pub(crate) data_dir: PathBuf,
    /// Address to listen on
    #[arg(long, value_name = "HOST")]
    pub(crate) server_host: Option<String>,
    /// Port to listen on
    #[arg(long, value_name = "PORT")]
    pub(crate) server_port: Option<u16>,
    /// Port of /healthz and /readyz
    #[arg(long, value_name = "PORT")]
    pub(crate) health_port: Option<u16>,
    /// Port of /metrics
    #[arg(long, value_name = "PORT")]
    pub(crate) metrics_port: Option<u16>,
    /// debug, info, warn or error
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// json or text
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SentinelCommand {
    /// Watch resources and publish an event for each that is due
    Serve(SentinelArgs),
    /// Say what a Sentinel of this configuration would decide about a resource now, and why
    Why(SentinelWhyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SentinelWhyArgs {
    /// The resource, for example cluster/production-1 or clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b
    #[arg(value_name = "KIND/NAME_OR_ID")]
    pub(crate) resource: String,
    /// Configuration file of the Sentinel; without one, everything is as by default
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Where the API is, for example http://localhost:8000
    #[arg(long, value_name = "URL")]
    pub(crate) hyperfleet_api_base_url: Option<String>,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SentinelArgs {
    /// Configuration file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Name in the source of its events
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// Kind to watch, by its plural
    #[arg(long, value_name = "PLURAL")]
    pub(crate) resource_type: Option<String>,
    /// How often the list is read, for example 5s
    #[arg(long, value_name = "DURATION")]
    pub(crate) poll_interval: Option<String>,
    /// Where the API is, for example http://localhost:8000
    #[arg(long, value_name = "URL")]
    pub(crate) hyperfleet_api_base_url: Option<String>,
    /// How long one request to the API may take
    #[arg(long, value_name = "DURATION")]
    pub(crate) hyperfleet_api_timeout: Option<String>,
    /// Resources per request, 1 to 100
    #[arg(long, value_name = "NUMBER")]
    pub(crate) hyperfleet_api_page_size: Option<u32>,
    /// Topic of its events
    #[arg(long, value_name = "TOPIC")]
    pub(crate) broker_topic: Option<String>,
    /// debug, info, warn or error
    #[arg(short, long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// json or text
    #[arg(short = 'f', long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// stdout or stderr
    #[arg(long, value_name = "STREAM")]
    pub(crate) log_output: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AggregationCommand {
    /// Check an AggregationConfig and tell every mistake; the exit code is 1 when there is one
    Validate(AggregationValidateArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AggregationValidateArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// Configuration file of the API whose kinds it is for
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How to print what was found
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    #[command(flatten)]
    Context(ContextCommand),
    /// Print the effective configuration of a role, secrets redacted
    Print(ConfigPrintArgs),
}

/// The roles that have a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    Api,
    Sentinel,
    Adapter,
    Sweeper,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigPrintArgs {
    /// Whose configuration
    #[arg(value_enum, default_value_t = Role::Api)]
    pub(crate) role: Role,
    /// Configuration file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Yaml)]
    pub(crate) output: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExprCommand {
    /// Evaluate a CEL expression and print the result as JSON
    Eval {
        /// The expression; its variables are the top-level keys of the data
        expression: String,
        /// A JSON or YAML file, or - for standard input
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// Render a Go template and print the text
    Render {
        /// The template, or - for standard input
        file: PathBuf,
        /// A JSON or YAML file, or - for standard input
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
    },
}

/// Reads the command line; on a mistake prints what is wrong and exits.
pub(crate) fn parse() -> Cli {
    Cli::parse()
}
