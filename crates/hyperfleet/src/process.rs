//! What every serving command sets up before its own work.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use hyperfleet_runtime::health::{Health, HealthConfig, ObserverServers};
use hyperfleet_runtime::log::{self, LogConfig};
use hyperfleet_runtime::metrics::{MetricsConfig, MetricsRegistry};
use hyperfleet_runtime::shutdown::{Process, Shutdown, on_signals};
use hyperfleet_runtime::trace::{Traces, TracingConfig};

use crate::build::{VERSION, build};

/// A process with its log, its health and metrics servers and its signals, waiting for components.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) process: Process,
    pub(crate) health: Health,
    pub(crate) metrics: MetricsRegistry,
    /// Where they are answered, if they are.
    pub(crate) health_address: Option<SocketAddr>,
    pub(crate) metrics_address: Option<SocketAddr>,
}

impl Host {
    /// Relative paths of the files that health and metrics name start at `directory`.
    pub(crate) async fn start(
        component: &'static str,
        logging: &LogConfig,
        tracing: &TracingConfig,
        health_config: &HealthConfig,
        metrics_config: &MetricsConfig,
        directory: &Path,
    ) -> Result<Host> {
        let traces = Traces::start(tracing, component, VERSION)?;
        log::init_with(logging, component, VERSION, traces.as_ref())?;
        let observers = ObserverServers::bind(health_config, metrics_config, directory).await?;
        let (health_address, metrics_address) = (
            observers.health_address().ok(),
            observers.metrics_address().ok(),
        );
        let health = Health::new();
        let metrics = MetricsRegistry::new(build())?;
        let shutdown = Shutdown::new();
        on_signals(&shutdown)?;
        let mut process = Process::new(
            shutdown,
            health.clone(),
            health_config.shutdown_timeout.into(),
        );
        let served = (health.clone(), metrics.clone());
        process.observer("health and metrics", |stop| async move {
            observers.serve(served.0, served.1, stop).await;
            Ok::<(), anyhow::Error>(())
        });
        if let Some(traces) = traces {
            process.observer("traces", |stop| async move {
                stop.requested().await;
                traces.shutdown().await;
                Ok::<(), anyhow::Error>(())
            });
        }
        Ok(Host {
            process,
            health,
            metrics,
            health_address,
            metrics_address,
        })
    }

    /// Says what was odd about the configuration.
    pub(crate) fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            tracing::warn!("{warning}");
        }
    }

    /// Runs until a signal or a failure, then stops everything in order.
    pub(crate) async fn run(self) -> Result<()> {
        Ok(self.process.run().await?)
    }
}
