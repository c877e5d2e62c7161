//! The command line of adapters.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand, ValueEnum};
use hyperfleet_adapter::config::{FLAGS, deployment_loader};
use hyperfleet_runtime::config::Loader;

use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum AdapterCommand {
    /// Take events and bring about what they ask for
    Serve(AdapterServeArgs),
    /// Check an adapter's configuration and tell every mistake
    Validate(AdapterArgs),
    /// Show what an event would do, without doing it; the exit code is 1 when it would fail
    DryRun(DryRunArgs),
    /// Print what the adapter would run with, both files together and without secrets
    ConfigDump(AdapterArgs),
    /// Print the JSON Schema of a configuration file, for editors
    Schema(AdapterSchemaArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AdapterSchemaArgs {
    /// Of which file
    #[arg(short, long, value_enum, default_value_t = SchemaKind::Task)]
    pub(crate) kind: SchemaKind,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SchemaKind {
    /// What the adapter does
    Task,
    /// Who it is, and what it talks to
    Deployment,
}

#[derive(Debug, Args)]
pub(crate) struct AdapterServeArgs {
    #[command(flatten)]
    pub(crate) adapter: AdapterArgs,
    /// Port of /healthz and /readyz; 8080 if nothing is said (`HYPERFLEET_HEALTH_PORT`)
    #[arg(long, value_name = "PORT")]
    pub(crate) health_port: Option<u16>,
    /// Port of /metrics; 9090 if nothing is said (`HYPERFLEET_METRICS_PORT`)
    #[arg(long, value_name = "PORT")]
    pub(crate) metrics_port: Option<u16>,
    /// Answer /debug/pprof/profile, …/heap and …/memory at that port too (`HYPERFLEET_METRICS_PROFILING`)
    #[arg(long)]
    pub(crate) profiling: bool,
    /// Export spans over OTLP, to where OTEL_EXPORTER_OTLP_ENDPOINT says (`HYPERFLEET_TRACING_ENABLED`)
    #[arg(long)]
    pub(crate) tracing_enabled: bool,
    #[command(flatten)]
    dry_run: ServeDryRunArgs,
}

/// What makes `serve` a dry run, as adapters of v1.0 have it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Instead of serving, as `adapter dry-run` does")]
struct ServeDryRunArgs {
    /// Show what this event would do: a CloudEvent, as a JSON file
    #[arg(long, value_name = "FILE")]
    dry_run_event: Option<PathBuf>,
    /// Recorded answers of the API
    #[arg(long, value_name = "FILE", requires = "dry_run_event")]
    dry_run_api_responses: Option<PathBuf>,
    /// Objects that exist, by name
    #[arg(long, value_name = "FILE", requires = "dry_run_event")]
    dry_run_discovery: Option<PathBuf>,
    /// Also show manifests and bodies
    #[arg(long, requires = "dry_run_event")]
    dry_run_verbose: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, requires = "dry_run_event")]
    dry_run_output: Format,
}

impl AdapterServeArgs {
    /// The dry run that was asked for instead.
    pub(crate) fn or_dry_run(self) -> Result<AdapterServeArgs, Box<DryRunArgs>> {
        let Some(event) = self.dry_run.dry_run_event else {
            return Ok(self);
        };
        Err(Box::new(DryRunArgs {
            adapter: self.adapter,
            event,
            api_responses: self.dry_run.dry_run_api_responses,
            discovery: self.dry_run.dry_run_discovery,
            server: false,
            verbose: self.dry_run.dry_run_verbose,
            output: self.dry_run.dry_run_output,
        }))
    }
}

#[derive(Debug, Args)]
pub(crate) struct DryRunArgs {
    #[command(flatten)]
    pub(crate) adapter: AdapterArgs,
    /// The CloudEvent, as a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) event: PathBuf,
    /// Recorded answers of the API; without, every call is answered with an empty object
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) api_responses: Option<PathBuf>,
    /// Objects that exist, by name
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) discovery: Option<PathBuf>,
    /// Ask the live API and cluster; every write is a server-side dry run
    #[arg(long)]
    pub(crate) server: bool,
    /// Also show manifests and bodies
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct AdapterArgs {
    /// Deployment configuration: who the adapter is, and what it talks to
    #[arg(short, long, value_name = "FILE", env = "HYPERFLEET_ADAPTER_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Task configuration: what the adapter does
    #[arg(short, long, value_name = "FILE", env = "HYPERFLEET_TASK_CONFIG")]
    pub(crate) task_config: Option<PathBuf>,
    #[command(flatten)]
    flags: DeploymentFlags,
}

impl AdapterArgs {
    /// A loader of the deployment configuration: its file, and the flags over it.
    pub(crate) fn loader(&self) -> Loader {
        let loader = deployment_loader(self.config.clone());
        let given = self.flags.0.iter();
        given.fold(loader, |loader, (name, path, value)| {
            loader.flag_named(*name, *path, Some(value))
        })
    }
}

/// A flag for each key of the deployment that has one: name, key and what was given. The adapter has the table.
#[derive(Debug, Clone, Default)]
struct DeploymentFlags(Vec<(&'static str, &'static str, String)>);

impl FromArgMatches for DeploymentFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = FLAGS.iter().filter_map(|(name, path)| {
            let value = matches.get_one::<String>(path)?;
            Some((*name, *path, value.clone()))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for DeploymentFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        FLAGS.iter().fold(command, |command, (name, path)| {
            let flag = Arg::new(*path)
                .long(name.trim_start_matches("--"))
                .value_name("VALUE")
                .help(format!("Sets `{path}`"))
                .help_heading("Deployment");
            command.arg(match *path {
                "debug_config" | "clients.maestro.insecure" => flag
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_missing_value("true"),
                _ => flag,
            })
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}
