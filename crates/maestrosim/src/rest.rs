//! The REST API: bundles and consumers.

use std::collections::BTreeMap;

use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Handle;

#[derive(Deserialize)]
struct Listing {
    #[serde(default)]
    search: String,
    page: Option<usize>,
    size: Option<usize>,
}

pub(crate) fn router() -> Router<Handle> {
    Router::new()
        .route("/api/maestro/v1/resource-bundles", get(bundles))
        .route("/api/maestro/v1/resource-bundles/{id}", get(bundle))
        .route("/api/maestro/v1/consumers", get(consumers).post(register))
        .fallback(nowhere)
}

async fn bundle(State(state): State<Handle>, Path(id): Path<String>) -> Response {
    let state = state.lock();
    match state.bundles.get(&id) {
        Some(bundle) => Json(bundle.shown(&id)).into_response(),
        None => {
            let reason = format!("Resource with id='{id}' not found");
            error(StatusCode::NOT_FOUND, "7", &reason)
        }
    }
}

async fn bundles(State(state): State<Handle>, Query(listing): Query<Listing>) -> Response {
    let wanted = match wanted(&listing.search, &["source", "consumer_name"]) {
        Ok(wanted) => wanted,
        Err(reason) => return error(StatusCode::BAD_REQUEST, "21", &reason),
    };
    let says = |field: &str, is: &str| wanted.get(field).is_none_or(|wanted| wanted == is);
    let state = state.lock();
    let found = state.bundles.iter().filter(|(_, bundle)| {
        says("source", &bundle.source) && says("consumer_name", &bundle.consumer)
    });
    let found = found.map(|(id, bundle)| bundle.shown(id)).collect();
    page("ResourceBundleList", &listing, found)
}

async fn consumers(State(state): State<Handle>, Query(listing): Query<Listing>) -> Response {
    let wanted = match wanted(&listing.search, &["name"]) {
        Ok(wanted) => wanted,
        Err(reason) => return error(StatusCode::BAD_REQUEST, "21", &reason),
    };
    let state = state.lock();
    let found = state.consumers.iter();
    let found = found.filter(|name| wanted.get("name").is_none_or(|wanted| wanted == *name));
    let found = found.map(|name| json!({"id": name, "kind": "Consumer", "name": name}));
    page("ConsumerList", &listing, found.collect())
}

async fn register(State(state): State<Handle>, Json(consumer): Json<Value>) -> Response {
    let Some(name) = consumer["name"].as_str().filter(|name| !name.is_empty()) else {
        return error(
            StatusCode::BAD_REQUEST,
            "8",
            "consumer.name: Required value",
        );
    };
    if !state.lock().consumers.insert(name.to_owned()) {
        return error(StatusCode::CONFLICT, "6", "This Consumer already exists");
    }
    (
        StatusCode::CREATED,
        Json(json!({"id": name, "kind": "Consumer", "name": name})),
    )
        .into_response()
}

async fn nowhere(uri: Uri) -> Response {
    let reason = format!("The requested resource '{}' doesn't exist", uri.path());
    error(StatusCode::NOT_FOUND, "404", &reason)
}

fn page(kind: &str, listing: &Listing, found: Vec<Value>) -> Response {
    let (page, size) = (listing.page.unwrap_or(1), listing.size.unwrap_or(100));
    let total = found.len();
    let start = page.saturating_sub(1) * size;
    let items: Vec<Value> = found.into_iter().skip(start).take(size).collect();
    let list =
        json!({"kind": kind, "page": page, "size": items.len(), "total": total, "items": items});
    Json(list).into_response()
}

/// Only `field='value'`, joined by `and`, is understood.
fn wanted(search: &str, known: &[&str]) -> Result<BTreeMap<String, String>, String> {
    let terms = search.split(" and ").filter(|term| !term.is_empty());
    terms
        .map(|term| {
            let term = term.trim();
            let (field, value) = term.split_once('=').ok_or("a term without `=`")?;
            let value = value
                .strip_prefix('\'')
                .and_then(|value| value.strip_suffix('\''));
            let value = value.filter(|value| !value.contains('\''));
            match (known.contains(&field), value) {
                (true, Some(value)) => Ok((field.to_owned(), value.to_owned())),
                _ => Err(format!("Failed to parse search query: {term}")),
            }
        })
        .collect()
}

fn error(status: StatusCode, id: &str, reason: &str) -> Response {
    let body = json!({"id": id, "kind": "Error", "href": format!("/api/maestro/v1/errors/{id}"),
        "code": format!("maestro-{id}"), "reason": reason});
    (status, Json(body)).into_response()
}
