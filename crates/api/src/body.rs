//! Request bodies: bounded, and JSON objects or nothing.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyperfleet_core::problem::Code;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The largest body taken.
pub(crate) const MAX_BODY: usize = 1024 * 1024;

/// How long a body may take. Put there by `observe`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimeout(pub(crate) Duration);

impl Default for BodyTimeout {
    fn default() -> Self {
        BodyTimeout(Duration::from_secs(5))
    }
}

/// The body as a JSON object. `serde_json` bounds the depth to 128 and refuses invalid UTF-8.
pub(crate) struct JsonObject(pub(crate) Map<String, Value>);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let limit = request.extensions().get::<BodyTimeout>().copied();
        let bytes = read(request.into_body(), limit).await?;
        if bytes.is_empty() {
            return Err(Failure::new(
                Code::Malformed,
                "Request body is required but was empty",
            ));
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::new(
                Code::Malformed,
                format!("Invalid JSON in request body: {error}"),
            )
        })?;
        if holds_nul(&value) {
            return Err(Failure::new(
                Code::Malformed,
                "Request body holds a NUL character (\\u0000), which cannot be stored",
            ));
        }
        match value {
            Value::Object(object) => Ok(JsonObject(object)),
            _ => Err(Failure::new(
                Code::Malformed,
                "Request body must be a JSON object",
            )),
        }
    }
}

async fn read(body: Body, limit: Option<BodyTimeout>) -> Result<bytes::Bytes, Failure> {
    let BodyTimeout(limit) = limit.unwrap_or_default();
    let Ok(read) = tokio::time::timeout(limit, Limited::new(body, MAX_BODY).collect()).await else {
        let seconds = limit.as_secs_f64();
        return Err(Failure::new(
            Code::Malformed,
            format!("The body did not come within {seconds} s"),
        ));
    };
    match read {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Failure::new(
            Code::TooLarge,
            format!("Request body must be at most {MAX_BODY} bytes"),
        )),
        Err(error) => Err(Failure::new(
            Code::Malformed,
            format!("Request body could not be read: {error}"),
        )),
    }
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key.contains('\0') || holds_nul(value)),
        _ => false,
    }
}
