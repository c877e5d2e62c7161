//! What this API is.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use serde_json::{Value, json};

use crate::state::ApiState;

pub(crate) async fn metadata(State(state): State<ApiState>, uri: Uri) -> Json<Value> {
    Json(json!({
        "id": "hyperfleet",
        "kind": "API",
        "href": uri.path(),
        "version": state.version,
        "build_time": option_env!("HYPERFLEET_BUILD_TIME").unwrap_or("unknown"),
    }))
}
