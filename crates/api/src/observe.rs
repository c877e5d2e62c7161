//! Around every request: its id, its log line, its metrics, and the shape of its failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hyperfleet_core::problem::Code;
use tracing::Instrument;
use uuid::Uuid;

use crate::body::BodyTimeout;
use crate::caller::RequestId;
use crate::failure::{Failure, REQUEST_ID, render};
use crate::metrics::HttpMetrics;
use crate::state::ApiState;

pub(crate) async fn observe(
    State((state, metrics)): State<(ApiState, HttpMetrics)>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let request_id: Arc<str> = Uuid::now_v7().to_string().into();
    request
        .extensions_mut()
        .insert(RequestId(request_id.clone()));
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let span = tracing::info_span!("request", component = "api", %request_id, %method, path);
    request
        .extensions_mut()
        .insert(BodyTimeout(state.timeouts.read));
    let mut response = if is_too_long(&request, &state) {
        too_long(&state).into_response()
    } else {
        let handled = next.run(request).instrument(span.clone());
        match tokio::time::timeout(state.timeouts.write, handled).await {
            Ok(response) => response,
            Err(_) => too_late(state.timeouts.write).into_response(),
        }
    };
    if let Some(failure) = response.extensions_mut().remove::<Failure>() {
        let problem = failure.problem(&path, &request_id, state.now());
        response = render(&problem, response);
    } else {
        response
            .headers_mut()
            .insert(header::VARY, HeaderValue::from_static("Authorization"));
    }
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let elapsed = started.elapsed();
    let status_code = response.status().as_u16();
    if let Some(route) = route {
        metrics.observe(method.as_str(), &route, status_code, elapsed);
    }
    let duration_ms = elapsed.as_secs_f64() * 1000.0;
    span.in_scope(|| tracing::debug!(status_code, duration_ms, "request handled"));
    response
}

fn is_too_long(request: &Request, state: &ApiState) -> bool {
    let whole = request.uri().path_and_query();
    whole.is_some_and(|whole| whole.as_str().len() > state.security.limits.url_bytes())
}

fn too_long(state: &ApiState) -> Failure {
    let most = state.security.limits.url_bytes();
    let detail = format!("The path with its query must be at most {most} bytes");
    Failure::new(Code::TooLarge, detail).with_status(414)
}

/// What the handler was at is dropped with it; a transaction that was not committed is rolled back.
fn too_late(after: Duration) -> Failure {
    let seconds = after.as_secs_f64();
    Failure::new(
        Code::Unavailable,
        format!(
            "The request was not answered within {seconds} s; whether it took effect is not known"
        ),
    )
}
