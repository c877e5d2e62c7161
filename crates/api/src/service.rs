//! The API as a component of a process.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::serve::ListenerExt;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::http::{self, BindError, ServeOptions};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_runtime::tls::{Tls, TlsError};
use hyperfleet_store::Store;
use tokio::net::TcpListener;

use crate::config::{ApiConfig, HistoryConfig};
use crate::entities::Entities;
use crate::housekeeping;
use crate::metrics::{DatabaseMetrics, HttpMetrics, PhaseMetrics, ReconciliationMetrics};
use crate::routes::router;
use crate::rules::recheck::Recheck;
use crate::rules::reload::Reload;
use crate::security::{Security, SecurityError};
use crate::state::ApiState;
use crate::watch::hub::{FeedMetrics, Hub};

/// Why the API cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Bind(#[from] BindError),
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error(transparent)]
    Security(#[from] SecurityError),
    #[error("server.tls: {0}")]
    Tls(#[from] TlsError),
    #[error("cannot tell the address the API listens on: {0}")]
    Address(#[source] std::io::Error),
}

/// An API that has its port and is ready to serve.
#[derive(Debug)]
pub struct Api {
    listener: TcpListener,
    address: SocketAddr,
    state: ApiState,
    metrics: HttpMetrics,
    history: HistoryConfig,
    reload: Option<Reload>,
    tls: Option<Tls>,
}

impl Api {
    /// Takes the port. Registers `database` as a readiness check.
    pub async fn bind(
        config: &ApiConfig,
        entities: Entities,
        store: Store,
        version: &'static str,
        metrics: &Metrics,
        health: &Health,
    ) -> Result<Api, StartError> {
        let tls = Tls::new(&config.server.tls, &entities.directory)?;
        let security = Security::new(config, &entities.kinds, &entities.directory)?;
        let store = DatabaseMetrics::observe(metrics, store)?;
        let threshold = config.metrics.reconciliation_stuck_threshold.into();
        ReconciliationMetrics::register(metrics, store.clone(), threshold)?;
        PhaseMetrics::register(metrics, store.clone())?;
        let reload = Reload::new(&entities.rules, metrics, health)?;
        let hub = Hub::new(store.clone(), FeedMetrics::register(metrics)?, Hub::RING);
        let metrics = HttpMetrics::register(metrics)?;
        let listener = http::bind(&config.server.host, config.server.port, "server").await?;
        let address = listener.local_addr().map_err(StartError::Address)?;
        security.check_address(address)?;
        let security = Arc::new(security);
        if security.authenticator.is_some() {
            let noted = security.clone();
            health.note("issuers", move || match noted.without_keys().as_slice() {
                [] => "ok".to_owned(),
                missing => format!("the keys of {} cannot be read", missing.join(", ")),
            });
        }
        let checked = store.clone();
        health.check("database", move || {
            let store = checked.clone();
            async move { store.ping().await.map_err(|error| error.to_string()) }
        });
        Ok(Api {
            listener,
            address,
            state: ApiState {
                store,
                kinds: entities.kinds,
                schemas: entities.schemas,
                hub: Arc::new(hub),
                rules: entities.rules,
                timeouts: (&config.server.timeouts).into(),
                security,
                statuses_format: config.api.statuses_format,
                version,
            },
            metrics,
            history: config.history.clone(),
            reload,
            tls,
        })
    }

    /// Where it listens; the port is the real one when the configured one was 0.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until told to stop, then lets requests in flight finish.
    pub async fn run(self, shutdown: Shutdown) {
        let hub = self.state.hub.clone();
        let stop = shutdown.clone();
        shutdown.spawn(async move { hub.run(stop).await });
        let (store, stop) = (self.state.store.clone(), shutdown.clone());
        shutdown.spawn(async move { housekeeping::run(&store, &self.history, stop).await });
        if let Some(reload) = self.reload {
            shutdown.spawn(reload.run(shutdown.clone()));
        }
        if let Some(authenticator) = &self.state.security.authenticator {
            authenticator.keep_keys(&shutdown);
        }
        shutdown.spawn(Recheck::new(self.state.clone()).run(shutdown.clone()));
        let router = router(self.state, self.metrics);
        // An answer of several packets must not wait for the caller to confirm the first.
        let listener = self.listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY cannot be set");
            }
        });
        if let Some(tls) = &self.tls {
            shutdown.spawn(tls.clone().reload(shutdown.clone()));
        }
        let options = ServeOptions {
            tls: self.tls,
            ..ServeOptions::default()
        };
        http::serve(listener, router, shutdown.token(), options).await;
    }
}
