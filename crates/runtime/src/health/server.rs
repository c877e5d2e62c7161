//! The listeners of `/healthz`, `/readyz` and `/metrics`.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use super::{Health, HealthConfig, routes};
use crate::http::{self, BindError, ServeOptions};
use crate::metrics::{MetricsConfig, MetricsRegistry};
use crate::profile;
use crate::shutdown::Shutdown;

/// Both listeners, bound but not yet served; one listener if both have the same address.
#[derive(Debug)]
pub struct ObserverServers {
    health: TcpListener,
    metrics: Option<TcpListener>,
    profiling: bool,
}

impl ObserverServers {
    /// Binds at once, so that a port in use is an error at the start.
    pub async fn bind(health: &HealthConfig, metrics: &MetricsConfig) -> Result<Self, BindError> {
        let shared =
            health.port != 0 && (&health.host, health.port) == (&metrics.host, metrics.port);
        Ok(Self {
            health: http::bind(&health.host, health.port, "health").await?,
            metrics: if shared {
                None
            } else {
                Some(http::bind(&metrics.host, metrics.port, "metrics").await?)
            },
            profiling: metrics.profiling,
        })
    }

    /// Where health is answered.
    pub fn health_address(&self) -> std::io::Result<SocketAddr> {
        self.health.local_addr()
    }

    /// Where metrics are answered.
    pub fn metrics_address(&self) -> std::io::Result<SocketAddr> {
        self.metrics.as_ref().unwrap_or(&self.health).local_addr()
    }

    /// Answers until told to stop. Run it as a [`Process::observer`](crate::shutdown::Process),
    /// so that the end can be watched.
    pub async fn serve(self, health: Health, metrics: MetricsRegistry, shutdown: Shutdown) {
        let options = ServeOptions {
            max_drain: Duration::from_secs(1),
            ..ServeOptions::default()
        };
        let profiling = match self.profiling {
            true => profile::routes(),
            false => Router::new(),
        };
        match self.metrics {
            None => {
                let router = routes(Some(health), Some(metrics)).merge(profiling);
                http::serve(self.health, router, shutdown.token(), options).await;
            }
            Some(listener) => {
                let health = routes(Some(health), None);
                let metrics = routes(None, Some(metrics)).merge(profiling);
                tokio::join!(
                    http::serve(self.health, health, shutdown.token(), options.clone()),
                    http::serve(listener, metrics, shutdown.token(), options),
                );
            }
        }
    }
}
