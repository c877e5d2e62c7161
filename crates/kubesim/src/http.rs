//! From HTTP to verbs and back.

mod body;
mod discovery;
mod listing;
mod negotiate;
mod openapi;
mod path;
mod table;
mod verbs;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State as Shared};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;
use crate::failure::Failure;

pub(crate) struct Front {
    pub cluster: Arc<Cluster>,
    /// Ends watches when the server stops.
    pub cancel: CancellationToken,
    /// How many requests came.
    pub requests: Arc<AtomicU64>,
}

pub(crate) fn router(front: Front) -> Router {
    Router::new().fallback(serve).with_state(Arc::new(front))
}

async fn serve(Shared(front): Shared<Arc<Front>>, request: Request) -> Response {
    front.requests.fetch_add(1, Ordering::Relaxed);
    match answer(&front, request).await {
        Ok(response) => response,
        Err(failure) => refuse(&failure),
    }
}

async fn answer(front: &Arc<Front>, request: Request) -> Result<Response, Failure> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    match path.as_str() {
        "/healthz" | "/livez" | "/readyz" => return Ok(text("ok")),
        "/version" => return Ok(json_response(StatusCode::OK, &version(), false)),
        "" => {
            return Ok(json_response(
                StatusCode::OK,
                &json!({ "paths": ["/api", "/apis", "/healthz", "/version"] }),
                false,
            ));
        }
        _ => {}
    }
    if let Some(rest) = path.strip_prefix("/openapi/") {
        return openapi::serve(front, rest, &request);
    }
    if let Some(response) = discovery::serve(front, &path, &request)? {
        return Ok(response);
    }
    let target = path::parse(&path).ok_or_else(Failure::no_such_path)?;
    verbs::serve(front, target, request).await
}

pub(crate) fn json_response(code: StatusCode, body: &Value, pretty: bool) -> Response {
    let text = if pretty {
        format!("{body:#}\n")
    } else {
        format!("{body}\n")
    };
    text_response(code, text)
}

/// A body that is JSON already.
fn text_response(code: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = code;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

fn refuse(failure: &Failure) -> Response {
    let code = StatusCode::from_u16(failure.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json_response(code, &failure.body(), false)
}

fn text(body: &'static str) -> Response {
    let mut response = Response::new(Body::from(body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}

/// The version whose API this imitates; the build says who is really answering.
fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": "v1.36.0+kubesim", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc",
        "platform": concat!("kubesim/", env!("CARGO_PKG_VERSION")),
    })
}
