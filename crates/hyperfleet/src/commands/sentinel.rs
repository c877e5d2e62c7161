//! `hyperfleet sentinel serve`.

mod lease;
pub(crate) mod why;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use hyperfleet_broker::Publisher;
use hyperfleet_runtime::config::Format;
use hyperfleet_runtime::trace::TracingConfig;
use hyperfleet_sentinel::{Clock, Flags, Options, Registrar, Replicas, Sentinel};

use crate::broker;
use crate::cli::SentinelArgs;
use crate::process::Host;
use lease::LeaseRegistrar;

/// The effective configuration, for people.
pub(crate) fn print(config: Option<PathBuf>, format: Format) -> Result<String> {
    let flags = Flags {
        config,
        ..Flags::default()
    };
    Ok(Options::load(flags, std::env::vars())?.print(format)?)
}

pub(crate) async fn serve(args: SentinelArgs) -> Result<()> {
    let flags = Flags {
        config: args.config,
        name: args.name,
        resource_type: args.resource_type,
        poll_interval: args.poll_interval,
        api_base_url: args.hyperfleet_api_base_url,
        api_timeout: args.hyperfleet_api_timeout,
        api_page_size: args.hyperfleet_api_page_size,
        broker_topic: args.broker_topic,
        log_level: args.log_level,
        log_format: args.log_format,
        log_output: args.log_output,
        ..Flags::default()
    };
    let loaded = Options::load(flags, std::env::vars())?;
    let directory = loaded.directory();
    let options = loaded.value;
    options.check()?;
    let tracing = TracingConfig {
        enabled: options.tracing_enabled,
        ..TracingConfig::default()
    };
    let mut host = Host::start(
        "sentinel",
        &options.log,
        &tracing,
        &options.health,
        &options.metrics,
        &directory,
    )
    .await?;
    host.warn(&loaded.warnings);
    let broker = broker::connect(&broker::config()?, &host.metrics).await?;
    let outcome = match registrar(&options).await {
        Ok(registrar) => match start(&mut host, &options, broker.publisher(), registrar) {
            Ok(()) => host.run().await,
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    broker.close().await;
    outcome
}

/// Where replicas meet, if it is not at the API.
async fn registrar(options: &Options) -> Result<Option<Arc<dyn Registrar>>> {
    if options.sentinel.replicas != Replicas::Kubernetes {
        return Ok(None);
    }
    Ok(Some(Arc::new(LeaseRegistrar::connect(options).await?)))
}

/// Adds a Sentinel to a process: its loop, and its two readiness checks.
pub(crate) fn start(
    host: &mut Host,
    options: &Options,
    publisher: Arc<dyn Publisher>,
    registrar: Option<Arc<dyn Registrar>>,
) -> Result<()> {
    let metrics = host.metrics.component("sentinel", "sentinel")?;
    let mut sentinel = Sentinel::new(
        options,
        options.client()?,
        publisher,
        &metrics,
        Clock::system(),
    )?;
    if let Some(registrar) = registrar {
        sentinel = sentinel.with_registrar(&registrar);
    }
    let handle = sentinel.handle();
    host.process.component("sentinel", |stop| async move {
        sentinel.run(stop.token()).await
    });
    handle.register_checks(&host.health);
    Ok(())
}
