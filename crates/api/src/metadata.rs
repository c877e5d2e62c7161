//! What this API is, and which kinds it has: what a client asks first.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use hyperfleet_core::kind::Kind;
use serde_json::{Value, json};

use crate::state::ApiState;

pub(crate) async fn metadata(State(state): State<ApiState>, uri: Uri) -> Json<Value> {
    let kinds: Vec<Value> = state.kinds.kinds().iter().map(kind).collect();
    Json(json!({
        "id": "hyperfleet",
        "kind": "API",
        "href": uri.path(),
        "version": state.version,
        "build_time": option_env!("HYPERFLEET_BUILD_TIME").unwrap_or("unknown"),
        // A server that does not know `dry_run` would do what it is only asked to try: clients look here first.
        "dry_run": true,
        "kinds": kinds,
    }))
}

fn kind(kind: &Kind) -> Value {
    let mut told = json!({
        "kind": kind.kind,
        "plural": kind.plural,
        "singular": kind.singular(),
        "short_names": kind.short_names,
        "required_adapters": kind.required_adapters,
    });
    if let Some(parent) = &kind.parent_kind {
        told["parent_kind"] = json!(parent);
    }
    if let Some(policy) = kind.on_parent_delete {
        told["on_parent_delete"] = json!(policy);
    }
    told
}
