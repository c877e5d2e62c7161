//! `hyperfleet sweeper run` and `hyperfleet sweeper serve`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use hyperfleet_runtime::config::{Format as Printed, Loaded};
use hyperfleet_runtime::log::{self, LogConfig, LogOutput};
use hyperfleet_runtime::shutdown::{Shutdown, on_signals};
use hyperfleet_runtime::trace::TracingConfig;
use hyperfleet_sweeper::{Flags, Options, Report, Row, Sweeper};
use serde::Serialize;

use crate::build::VERSION;
use crate::cli::{SweeperArgs, SweeperRunArgs, SweeperServeArgs};
use crate::output::{Format, Table};
use crate::process::Host;

/// The effective configuration, for people.
pub(crate) fn print(config: Option<PathBuf>, format: Printed) -> Result<String> {
    let flags = Flags {
        config,
        ..Flags::default()
    };
    Ok(Options::load(flags, std::env::vars())?.print(format)?)
}

fn load(args: SweeperArgs, interval: Option<String>) -> Result<Loaded<Options>> {
    let flags = Flags {
        config: args.config,
        // Not given is not `false`: a file may say it.
        dry_run: args.dry_run.then_some(true),
        interval,
        kubeconfig: args.kubeconfig,
        api_base_url: args.hyperfleet_api_base_url,
        key_file: args.ownership_key_file,
        log_level: args.log_level,
    };
    let loaded = Options::load(flags, std::env::vars())?;
    loaded.value.check()?;
    Ok(loaded)
}

pub(crate) async fn run(args: SweeperRunArgs) -> Result<ExitCode> {
    let loaded = load(args.sweeper, None)?;
    let logging = LogConfig {
        // What was found is the data.
        output: LogOutput::Stderr,
        ..loaded.value.log.clone()
    };
    log::init(&logging, "sweeper", VERSION)?;
    for warning in &loaded.warnings {
        tracing::warn!("{warning}");
    }
    let stop = Shutdown::new();
    on_signals(&stop)?;
    let sweeper = Sweeper::connect(loaded.value, None).await?;
    let mut objects = Vec::new();
    let report = sweeper
        .pass(&stop.token(), &mut |row| objects.push(row))
        .await;
    let complete = report.complete;
    show(args.output, Found { report, objects })?;
    Ok(match complete {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// A pass and everything it saw.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    report: Report,
    objects: Vec<Row>,
}

fn show(format: Format, found: Found) -> Result<()> {
    match format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&found)?),
        Format::Yaml => print!("{}", serde_yaml_ng::to_string(&found)?),
        Format::Text => {
            let mut table = Table::new(["OBJECT", "ADAPTER", "OWNER", "VERDICT", "REASON"]);
            for row in found.objects {
                table.row([
                    row.object.to_string(),
                    row.adapter,
                    row.resource_id,
                    row.verdict.to_owned(),
                    row.message,
                ]);
            }
            print!("{table}");
            let report = &found.report;
            eprintln!("{}", report.summary());
            if !report.skipped.is_empty() {
                eprintln!("may not be listed: {}", report.skipped.join(", "));
            }
            for problem in &report.problems {
                eprintln!("{}", crate::output::printable(problem));
            }
        }
    }
    Ok(())
}

pub(crate) async fn serve(args: SweeperServeArgs) -> Result<()> {
    let loaded = load(args.sweeper, args.interval)?;
    let directory = loaded.directory();
    let options = loaded.value;
    let mut host = Host::start(
        "sweeper",
        &options.log,
        &TracingConfig::default(),
        &options.health,
        &options.metrics,
        &directory,
    )
    .await?;
    host.warn(&loaded.warnings);
    start(&mut host, options).await?;
    host.run().await
}

/// Adds a sweeper to a process.
pub(crate) async fn start(host: &mut Host, options: Options) -> Result<()> {
    let metrics = host.metrics.component("sweeper", "sweeper")?;
    let sweeper = Sweeper::connect(options, Some(&metrics)).await?;
    sweeper.handle().register_checks(&host.health);
    host.process.component("sweeper", |stop| async move {
        sweeper.serve(stop.token()).await;
        Ok::<(), anyhow::Error>(())
    });
    Ok(())
}
