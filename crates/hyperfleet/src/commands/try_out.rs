//! `hyperfleet adapter validate` and `hyperfleet adapter dry-run`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use chrono::Utc;
use hyperfleet_adapter::config::{self, Deployment};
use hyperfleet_adapter::dry_run::{self, Inputs, Trace};
use hyperfleet_adapter::{Engine, process_environment};

use super::adapter::{load_task, task_file};
use crate::cli::{AdapterArgs, DryRunArgs};
use crate::output::Format;

/// Where relative URLs of an offline run point; nobody is asked there.
const NOWHERE: &str = "http://localhost:8000";

/// Both files if both are given; every mistake of each.
pub(crate) fn validate(args: &AdapterArgs) -> Result<()> {
    let mut deployment = None;
    if let Some(file) = &args.config {
        deployment = Some(config::load_deployment(&args.loader())?);
        eprintln!("{}: no mistakes", file.display());
    }
    if args.config.is_none() || args.task_config.is_some() {
        let file = task_file(args)?;
        let task = load_task(&file)?;
        if let Some(deployment) = &deployment {
            config::check_together(deployment, &task)?;
        }
        eprintln!("{}: no mistakes", file.display());
    }
    Ok(())
}

pub(crate) async fn dry_run(args: DryRunArgs) -> Result<ExitCode> {
    let task = load_task(&task_file(&args.adapter)?)?;
    let event = read(&args.event)?;
    let trace = if args.server {
        if args.adapter.config.is_none() {
            bail!("--server needs --config: it says where the API and the cluster are");
        }
        let deployment = config::load_deployment(&args.adapter.loader().process_env())?;
        let engine = Engine::connect(&deployment, task, &process_environment(), None).await?;
        dry_run::preview(engine, &event, Utc::now()).await?
    } else {
        let deployment = match args.adapter.config {
            Some(_) => config::load_deployment(&args.adapter.loader())?,
            None => anonymous(),
        };
        let inputs = Inputs {
            event,
            responses: args.api_responses.as_deref().map(read).transpose()?,
            discovery: args.discovery.as_deref().map(read).transpose()?,
            environment: process_environment(),
        };
        dry_run::dry_run(&deployment, task, inputs, Utc::now()).await?
    };
    print(&trace, args.output, args.verbose)?;
    Ok(ExitCode::from(trace.exit_code()))
}

/// Enough of a deployment to try a task on its own.
fn anonymous() -> Deployment {
    let mut deployment = Deployment::default();
    deployment.adapter.name = "dry-run".to_owned();
    deployment.clients.hyperfleet_api.base_url = NOWHERE.to_owned();
    deployment
}

fn print(trace: &Trace, format: Format, verbose: bool) -> Result<()> {
    match format {
        Format::Text => println!("{}", trace.text(verbose).trim_end()),
        Format::Json => println!("{}", serde_json::to_string_pretty(trace)?),
        Format::Yaml => bail!("a dry run is printed as text or json"),
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}
