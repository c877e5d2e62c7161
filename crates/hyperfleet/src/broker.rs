//! The broker of a process.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use hyperfleet_broker::config::{BrokerFile, BrokerType};
use hyperfleet_broker::{Broker, BrokerConfig, Metrics};
use hyperfleet_runtime::config::Loader;
use hyperfleet_runtime::metrics::MetricsRegistry;

use crate::build::VERSION;

/// The broker that file and environment name. One in this process alone would connect nobody.
pub(crate) fn config() -> Result<BrokerConfig> {
    let file = std::env::var_os("BROKER_CONFIG_FILE").map(Into::into);
    let file: BrokerFile = Loader::new("broker")
        .file(file)
        .search(["broker.yaml"])
        .load()?
        .value;
    let mut config = BrokerConfig::from(file);
    config.apply_env(std::env::vars())?;
    if config.kind == BrokerType::Memory {
        bail!(
            "no broker is configured: set BROKER_TYPE (rabbitmq with BROKER_RABBITMQ_URL, pubsub with \
             BROKER_PROJECT_ID, sqs with BROKER_REGION), or name a file with \
             BROKER_CONFIG_FILE (the memory broker is for `hyperfleet up`, where all parts share one process)"
        );
    }
    Ok(config)
}

/// Connects, and counts what passes.
pub(crate) async fn connect(config: &BrokerConfig, registry: &MetricsRegistry) -> Result<Broker> {
    let labels = [("component", "broker"), ("version", VERSION)];
    let labels: HashMap<String, String> = labels
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let metrics = Metrics::new(labels)
        .and_then(|metrics| metrics.register(registry.registry()).map(|()| metrics));
    let metrics = metrics.context("cannot register the metrics of the broker")?;
    Ok(Broker::connect(config, metrics).await?)
}
