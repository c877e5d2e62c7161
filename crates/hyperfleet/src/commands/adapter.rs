//! `hyperfleet adapter serve`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hyperfleet_adapter::config::{self, Deployment};
use hyperfleet_adapter::schema;
use hyperfleet_adapter::task::Task;
use hyperfleet_adapter::{Adapter, Parts, process_environment};
use hyperfleet_runtime::config::Format;
use hyperfleet_runtime::health::ObserverConfig;

use crate::broker;
use crate::cli::{AdapterArgs, AdapterSchemaArgs, AdapterServeArgs, SchemaKind};
use crate::process::Host;

/// The effective deployment configuration, for people.
pub(crate) fn print(file: Option<PathBuf>, format: Format) -> Result<String> {
    let loaded = config::deployment_loader(file)
        .process_env()
        .load::<Deployment>()?;
    Ok(loaded.print(format)?)
}

/// Both files together, on stdout.
pub(crate) fn dump(args: &AdapterArgs) -> Result<()> {
    let deployment = config::load_deployment(&args.loader().process_env())?;
    let file = task_file(args)?;
    let task = load_task(&file)?;
    config::check_together(&deployment, &task)?;
    print!("{}", effective(&deployment, &file)?);
    Ok(())
}

/// What an adapter runs with, for people.
fn effective(deployment: &Deployment, task: &Path) -> Result<String> {
    let shown = config::effective(deployment, task)?;
    Ok(serde_yaml_ng::to_string(&shown)?)
}

/// The schema of a file, on stdout.
pub(crate) fn schema(args: &AdapterSchemaArgs) -> Result<()> {
    let schema = match args.kind {
        SchemaKind::Task => schema::task(),
        SchemaKind::Deployment => schema::deployment(),
    };
    println!("{}", serde_json::to_string_pretty(&schema)?);
    Ok(())
}

pub(crate) async fn serve(args: AdapterServeArgs) -> Result<()> {
    let deployment = config::load_deployment(&args.adapter.loader().process_env())?;
    let task_file = task_file(&args.adapter)?;
    let task = load_task(&task_file)?;
    let observers = observers(&args)?;
    let mut host = Host::start(
        "adapter",
        &deployment.log,
        &observers.tracing,
        &observers.health,
        &observers.metrics,
        Path::new(""),
    )
    .await?;
    if deployment.debug_config {
        host.health.show_config(effective(&deployment, &task_file)?);
    }
    let broker = broker::connect(&broker::config()?, &host.metrics).await?;
    let outcome = match start(&mut host, deployment, task, broker.clone()).await {
        Ok(()) => host.run().await,
        Err(error) => Err(error),
    };
    broker.close().await;
    outcome
}

/// How the process is observed. An adapter's files say nothing about it: flags and the environment do.
fn observers(args: &AdapterServeArgs) -> Result<ObserverConfig> {
    let mut observers = ObserverConfig::from_environment("adapter", std::env::vars())?;
    observers.health.port = args.health_port.unwrap_or(observers.health.port);
    observers.metrics.port = args.metrics_port.unwrap_or(observers.metrics.port);
    observers.metrics.profiling |= args.profiling;
    observers.tracing.enabled |= args.tracing_enabled;
    Ok(observers)
}

/// The task file that was named.
pub(crate) fn task_file(args: &AdapterArgs) -> Result<PathBuf> {
    args.task_config
        .clone()
        .context("no task configuration: give one with --task-config or HYPERFLEET_TASK_CONFIG")
}

/// Loads a task and says what is odd about it.
pub(crate) fn load_task(file: &Path) -> Result<Task> {
    let (task, warnings) = config::load_task(file)?;
    for warning in warnings {
        eprintln!("{warning}");
    }
    Ok(task)
}

/// Adds an adapter to a process. When this returns, events published from now on reach it.
pub(crate) async fn start(
    host: &mut Host,
    deployment: Deployment,
    task: Task,
    broker: hyperfleet_broker::Broker,
) -> Result<()> {
    let name = deployment.adapter.name.clone();
    let metrics = host.metrics.component("adapter", &name)?;
    let parts = Parts {
        deployment,
        task,
        broker,
        metrics: Some(metrics),
        environment: process_environment(),
    };
    let adapter = Adapter::connect(parts).await?;
    let health = adapter.health();
    host.health.check(format!("adapter {name}"), move || {
        let health = health.clone();
        async move { health.check() }
    });
    host.process
        .component(format!("adapter {name}"), |stop| async move {
            adapter.run(stop.token()).await;
            Ok::<(), anyhow::Error>(())
        });
    Ok(())
}
