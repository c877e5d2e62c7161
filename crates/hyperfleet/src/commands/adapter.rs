//! `hyperfleet adapter serve`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hyperfleet_adapter::config::{self, Deployment};
use hyperfleet_adapter::schema;
use hyperfleet_adapter::task::Task;
use hyperfleet_adapter::{Adapter, Parts, process_environment};
use hyperfleet_runtime::config::Format;
use hyperfleet_runtime::health::ObserverConfig;
use hyperfleet_runtime::trace::TracingConfig;

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
    let task = load_task(&task_file(&args.adapter)?)?;
    let tracing = TracingConfig::default();
    let observers = observers(&args)?;
    let mut host = Host::start(
        "adapter",
        &deployment.log,
        &tracing,
        &observers.health,
        &observers.metrics,
        Path::new(""),
    )
    .await?;
    let broker = broker::connect(&broker::config()?, &host.metrics).await?;
    let outcome = match start(&mut host, deployment, task, broker.clone()).await {
        Ok(()) => host.run().await,
        Err(error) => Err(error),
    };
    broker.close().await;
    outcome
}

/// Where health and metrics are answered. An adapter's files say nothing about it: flags and the environment do.
fn observers(args: &AdapterServeArgs) -> Result<ObserverConfig> {
    let mut observers = ObserverConfig::from_environment("adapter", std::env::vars())?;
    observers.health.port = args.health_port;
    observers.metrics.port = args.metrics_port;
    observers.metrics.profiling = args.profiling;
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
    if deployment.debug_config {
        tracing::info!(adapter = name, config = %deployment.redacted(), "effective configuration");
    }
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
