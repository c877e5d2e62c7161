//! The listeners of `/healthz`, `/readyz` and `/metrics`.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;

use super::token::{Token, TokenError};
use super::{Health, HealthConfig, routes};
use crate::http::{self, BindError, ServeOptions};
use crate::metrics::{MetricsConfig, MetricsRegistry};
use crate::profile;
use crate::shutdown::Shutdown;
use crate::tls::{Tls, TlsError};

/// Both listeners, bound but not yet served; one listener if both have the same address.
#[derive(Debug)]
pub struct ObserverServers {
    health: TcpListener,
    health_tls: Option<Tls>,
    metrics: Option<TcpListener>,
    metrics_tls: Option<Tls>,
    token: Option<Token>,
    profiling: bool,
}

/// Why health and metrics cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error("{key}.tls: {source}")]
    Tls {
        /// The section of the configuration.
        key: &'static str,
        source: TlsError,
    },
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(
        "health and metrics have the same address and so one listener, and metrics.tls is not what health.tls is: \
         write the same in both, or give them different ports"
    )]
    TwoKindsOfTls,
}

impl ObserverServers {
    /// Binds at once, so that a port in use is an error at the start. Relative paths of files start at `directory`.
    pub async fn bind(
        health: &HealthConfig,
        metrics: &MetricsConfig,
        directory: &Path,
    ) -> Result<Self, ObserveError> {
        let shared =
            health.port != 0 && (&health.host, health.port) == (&metrics.host, metrics.port);
        if shared && health.tls != metrics.tls {
            return Err(ObserveError::TwoKindsOfTls);
        }
        let tls = |key, config| {
            Tls::new(config, directory).map_err(|source| ObserveError::Tls { key, source })
        };
        Ok(Self {
            health: http::bind(&health.host, health.port, "health").await?,
            health_tls: tls("health", &health.tls)?,
            metrics: if shared {
                None
            } else {
                Some(http::bind(&metrics.host, metrics.port, "metrics").await?)
            },
            metrics_tls: tls("metrics", &metrics.tls)?,
            token: match &metrics.token_file {
                None => None,
                Some(file) => Some(Token::new(directory.join(file))?),
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
        let options = |tls: &Option<Tls>| ServeOptions {
            max_drain: Duration::from_secs(1),
            tls: tls.clone(),
            ..ServeOptions::default()
        };
        let profiling = match self.profiling {
            true => profile::routes(),
            false => Router::new(),
        };
        let metrics = routes::metrics(metrics).merge(profiling);
        let metrics = match self.token {
            None => metrics,
            Some(token) => token.guard(metrics),
        };
        let health = routes::health(health);
        let serve = |listener, router: Router, tls: &Option<Tls>| {
            let router = router.fallback(http::not_found);
            http::serve(listener, router, shutdown.token(), options(tls))
        };
        let reload = |tls: Option<Tls>| {
            let shutdown = shutdown.clone();
            async move {
                if let Some(tls) = tls {
                    tls.reload(shutdown).await;
                }
            }
        };
        let (health_tls, metrics_tls) = (self.health_tls, self.metrics_tls);
        match self.metrics {
            None => {
                let served = serve(self.health, health.merge(metrics), &health_tls);
                tokio::join!(served, reload(health_tls));
            }
            Some(listener) => {
                tokio::join!(
                    serve(self.health, health, &health_tls),
                    serve(listener, metrics, &metrics_tls),
                    reload(health_tls),
                    reload(metrics_tls),
                );
            }
        }
    }
}
