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
    health: Option<TcpListener>,
    health_tls: Option<Tls>,
    /// Also where the listener of health is theirs too.
    metrics: Metrics,
    metrics_tls: Option<Tls>,
    token: Option<Token>,
    profiling: bool,
    liveness_path: String,
    readiness_path: String,
    metrics_path: String,
}

/// Where metrics are answered.
#[derive(Debug)]
enum Metrics {
    At(TcpListener),
    WithHealth,
    Nowhere,
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
    #[error("{key} is `{path}`: a path begins with `/` and has no `{{`, `}}` or `*`")]
    Path { key: &'static str, path: String },
    #[error("{key} is `{path}`, where something else is answered already; choose another path")]
    TwiceAtOnePath { key: &'static str, path: String },
}

impl ObserverServers {
    /// Binds at once, so that a port in use is an error at the start. Relative paths of files start at `directory`.
    pub async fn bind(
        health: &HealthConfig,
        metrics: &MetricsConfig,
        directory: &Path,
    ) -> Result<Self, ObserveError> {
        check_paths(health, metrics)?;
        let both = health.enabled && metrics.enabled;
        let same = health.port != 0 && (&health.host, health.port) == (&metrics.host, metrics.port);
        let shared = both && same;
        if shared && health.tls != metrics.tls {
            return Err(ObserveError::TwoKindsOfTls);
        }
        let tls = |key, config| {
            Tls::new(config, directory).map_err(|source| ObserveError::Tls { key, source })
        };
        Ok(Self {
            health: match health.enabled {
                true => Some(http::bind(&health.host, health.port, "health").await?),
                false => None,
            },
            health_tls: tls("health", &health.tls)?,
            metrics: match (shared, metrics.enabled) {
                (true, _) => Metrics::WithHealth,
                (false, true) => {
                    Metrics::At(http::bind(&metrics.host, metrics.port, "metrics").await?)
                }
                (false, false) => Metrics::Nowhere,
            },
            metrics_tls: tls("metrics", &metrics.tls)?,
            token: match &metrics.token_file {
                None => None,
                Some(file) => Some(Token::new(directory.join(file))?),
            },
            profiling: metrics.profiling,
            liveness_path: health.liveness_path.clone(),
            readiness_path: health.readiness_path.clone(),
            metrics_path: metrics.path.clone(),
        })
    }

    /// Where health is answered; an error where it is not.
    pub fn health_address(&self) -> std::io::Result<SocketAddr> {
        address(self.health.as_ref())
    }

    /// Where metrics are answered; an error where they are not.
    pub fn metrics_address(&self) -> std::io::Result<SocketAddr> {
        match &self.metrics {
            Metrics::At(listener) => listener.local_addr(),
            Metrics::WithHealth => self.health_address(),
            Metrics::Nowhere => address(None),
        }
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
        let metrics = routes::metrics(&self.metrics_path, metrics).merge(profiling);
        let metrics = match self.token {
            None => metrics,
            Some(token) => token.guard(metrics),
        };
        let health = routes::health([&self.liveness_path, &self.readiness_path], health);
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
        let (health, listener) = match self.metrics {
            Metrics::WithHealth => (health.merge(metrics.clone()), None),
            Metrics::At(listener) => (health, Some(listener)),
            Metrics::Nowhere => (health, None),
        };
        let answer = async |listener: Option<TcpListener>, router, tls: Option<Tls>| {
            if let Some(listener) = listener {
                tokio::join!(serve(listener, router, &tls), reload(tls.clone()));
            }
        };
        tokio::join!(
            answer(self.health, health, health_tls),
            answer(listener, metrics, metrics_tls),
        );
    }
}

fn address(listener: Option<&TcpListener>) -> std::io::Result<SocketAddr> {
    let none = || std::io::Error::other("it is not answered: `enabled` is false");
    listener.ok_or_else(none)?.local_addr()
}

/// Two things at one path, or a path that stands for many, would be a panic when they are served.
fn check_paths(health: &HealthConfig, metrics: &MetricsConfig) -> Result<(), ObserveError> {
    let mut taken = vec![routes::CONFIG];
    taken.extend(profile::PATHS);
    for (key, path) in [
        ("health.liveness_path", health.liveness_path.as_str()),
        ("health.readiness_path", health.readiness_path.as_str()),
        ("metrics.path", metrics.path.as_str()),
    ] {
        let path_of = || path.to_owned();
        if !path.starts_with('/') || path.contains(['{', '}', '*', '?', '#']) {
            return Err(ObserveError::Path {
                key,
                path: path_of(),
            });
        }
        if taken.contains(&path) {
            return Err(ObserveError::TwiceAtOnePath {
                key,
                path: path_of(),
            });
        }
        taken.push(path);
    }
    Ok(())
}
