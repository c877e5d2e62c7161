//! An API that tells what the test tells it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct Api(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    lists: BTreeMap<String, Vec<Value>>,
    away: bool,
    /// A page begins this many items before the end of the one before, as after inserts at the front.
    shift: usize,
    asked: Vec<BTreeMap<String, String>>,
}

impl Api {
    pub(crate) async fn serve(&self) -> String {
        let app = Router::new()
            .route("/api/hyperfleet/v1/{plural}", axum::routing::get(list))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        url
    }

    /// Adds a resource, or replaces the one with its id.
    pub(crate) fn put(&self, plural: &str, resource: Value) {
        let mut inner = self.0.lock().unwrap();
        let list = inner.lists.entry(plural.to_owned()).or_default();
        match list
            .iter_mut()
            .find(|known| known["id"] == resource["id"] && resource["id"] != "")
        {
            Some(known) => *known = resource,
            None => list.push(resource),
        }
    }

    /// Adds a resource that is known to be new.
    pub(crate) fn put_new(&self, plural: &str, resource: Value) {
        self.0
            .lock()
            .unwrap()
            .lists
            .entry(plural.to_owned())
            .or_default()
            .push(resource);
    }

    pub(crate) fn remove(&self, plural: &str, id: &str) {
        let mut inner = self.0.lock().unwrap();
        inner
            .lists
            .entry(plural.to_owned())
            .or_default()
            .retain(|known| known["id"] != id);
    }

    pub(crate) fn set_away(&self, away: bool) {
        self.0.lock().unwrap().away = away;
    }

    pub(crate) fn set_shift(&self, shift: usize) {
        self.0.lock().unwrap().shift = shift;
    }

    pub(crate) fn asked(&self) -> Vec<BTreeMap<String, String>> {
        self.0.lock().unwrap().asked.clone()
    }
}

async fn list(
    State(api): State<Api>,
    Path(plural): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let mut inner = api.0.lock().unwrap();
    // An API without a change feed knows no `limit`; whoever asks with it finds that out.
    if !query.contains_key("limit") {
        inner.asked.push(query.clone());
    }
    if inner.away {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let all = inner.lists.get(&plural).map_or(&[][..], Vec::as_slice);
    // v1.0 refuses members it does not have, unless there is nothing to leave them out of.
    if query
        .get("fields")
        .is_some_and(|fields| fields.contains("status.phase"))
        && !all.is_empty()
    {
        let problem = json!({"code": "HYPERFLEET-VAL-000", "status": 400,
            "detail": "The following field(s) doesn't exist in `Resource`: status.phase"});
        return (StatusCode::BAD_REQUEST, axum::Json(problem)).into_response();
    }
    let number = |name: &str, default: usize| {
        query
            .get(name)
            .map_or(default, |text| text.parse::<usize>().unwrap())
    };
    let (page, size) = (number("page", 1), number("size", 20));
    let start = ((page - 1) * size).saturating_sub((page - 1) * inner.shift);
    let items: Vec<Value> = all.iter().skip(start).take(size).cloned().collect();
    let shifted = (page - 1) * inner.shift;
    let body = json!({"kind": "List", "page": page, "size": items.len(), "total": all.len() + shifted, "items": items});
    axum::Json(body).into_response()
}
