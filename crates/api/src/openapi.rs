//! The contract as an OpenAPI 3.0 document, made from the types, the routes and the configured kinds.
//!
//! ```text
//!   core's types ──schemars──► components ◄── spec schemas of the kinds (as OpenAPI 3.0 says them)
//!   endpoints ──describe──► paths ────────────► document, served as it was when the process started
//! ```

mod bodies;
mod components;
mod describe;
mod downgrade;
mod examples;
mod metadata;
mod of_kind;
mod parameters;
mod responses;

use std::sync::Arc;

use axum::extract::Extension;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyperfleet_core::kind::Registry;
use serde_json::{Map, Value, json};

use crate::operation::endpoints;
use crate::schema::SpecSchemas;
use crate::state::ApiState;
use components::Components;

/// The document as it is served.
#[derive(Debug)]
pub(crate) struct Document(Bytes);

impl Document {
    pub(crate) fn new(state: &ApiState) -> Document {
        let mut document = document(&state.kinds, &state.schemas, state.version);
        if state.security.authenticator.is_none() {
            // Nobody is asked who they are.
            document["security"] = json!([]);
        }
        Document(serde_json::to_vec(&document).unwrap_or_default().into())
    }
}

pub(crate) async fn serve(Extension(document): Extension<Arc<Document>>) -> Response {
    let mut response = document.0.clone().into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    response
}

/// The whole document.
pub(crate) fn document(kinds: &Registry, schemas: &SpecSchemas, version: &str) -> Value {
    let components = Components::new(kinds, schemas);
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in endpoints(kinds) {
        let described = describe::operation(&endpoint, kinds, &components);
        let path = paths
            .entry(endpoint.path.clone())
            .or_insert_with(|| json!({}));
        path[endpoint.method.as_str().to_lowercase()] = described;
    }
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "HyperFleet API",
            "version": version,
            "description": "What is wanted of a fleet, and what was reported about it. Every failure is a problem \
                            document (RFC 9457) with a stable code.",
            "license": {"name": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": tags(kinds),
        "paths": paths,
        "components": components.into_value(),
    })
}

fn tags(kinds: &Registry) -> Vec<Value> {
    let tag = |name: &str, description: String| json!({"name": name, "description": description});
    let of_kinds = kinds.kinds().iter().map(|kind| {
        let description = match &kind.parent_kind {
            None => format!("Resources of the kind {}.", kind.kind),
            Some(parent) => format!(
                "Resources of the kind {}; each belongs to a {parent}.",
                kind.kind
            ),
        };
        tag(&kind.kind, description)
    });
    of_kinds
        .chain([
            tag(describe::ANY_KIND, "Resources of every kind.".to_owned()),
            tag(describe::SERVER, "The API itself.".to_owned()),
        ])
        .collect()
}

#[cfg(test)]
mod tests;
