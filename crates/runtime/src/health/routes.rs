//! The HTTP face of health and metrics.

use axum::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;

use super::Health;
use crate::http;
use crate::metrics::MetricsRegistry;

/// Where a process shows what it runs with, if it does.
pub(super) const CONFIG: &str = "/config";

/// Whether it lives, whether it is ready and, where it is shown, what it runs with.
pub(super) fn health(paths: [&str; 2], health: Health) -> Router {
    let [liveness, readiness] = paths;
    Router::new()
        .route(liveness, get(healthz))
        .route(readiness, get(readyz))
        .route(CONFIG, get(config))
        .with_state(health)
}

pub(super) fn metrics(path: &str, metrics: MetricsRegistry) -> Router {
    Router::new()
        .route(path, get(exposition))
        .with_state(metrics)
}

/// Alive means: able to answer. A dependency that is down is no reason to be restarted.
async fn healthz() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

async fn readyz(State(health): State<Health>) -> Response {
    let readiness = health.readiness().await;
    let status = if readiness.is_ready() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(readiness)).into_response()
}

async fn config(State(health): State<Health>, request: Request) -> Response {
    match health.config() {
        Some(yaml) => ([(header::CONTENT_TYPE, "application/yaml")], yaml).into_response(),
        None => http::not_found(request).await,
    }
}

async fn exposition(State(metrics): State<MetricsRegistry>) -> Response {
    match metrics.scrape().await {
        Ok(text) => {
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "cannot encode metrics");
            (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
        }
    }
}
