//! The API as far as an adapter needs it: it knows every cluster, takes every report, and tells of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

pub(super) struct StandIn {
    pub(super) url: String,
    /// The clusters that were reported on, as they were.
    pub(super) reports: mpsc::UnboundedReceiver<String>,
    counted: Arc<Counted>,
    task: JoinHandle<()>,
}

struct Counted {
    requests: AtomicU64,
    /// Never fuller than there are events under way.
    reports: mpsc::UnboundedSender<String>,
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl StandIn {
    pub(super) async fn start() -> Result<StandIn> {
        let (tell, reports) = mpsc::unbounded_channel();
        let counted = Arc::new(Counted {
            requests: AtomicU64::new(0),
            reports: tell,
        });
        let router = Router::new()
            .route("/api/hyperfleet/v1/clusters/{id}", get(read))
            .route("/api/hyperfleet/v1/clusters/{id}/statuses", put(report))
            .with_state(Arc::clone(&counted));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let task = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the generator's API ended: {error}");
            }
        });
        Ok(StandIn {
            url,
            reports,
            counted,
            task,
        })
    }

    /// How often it was asked anything.
    pub(super) fn requests(&self) -> u64 {
        self.counted.requests.load(Ordering::Relaxed)
    }
}

async fn read(State(counted): State<Arc<Counted>>, Path(id): Path<String>) -> Json<Value> {
    counted.requests.fetch_add(1, Ordering::Relaxed);
    Json(json!({
        "id": id, "kind": "Cluster", "name": id, "generation": 1,
        "href": format!("/api/hyperfleet/v1/clusters/{id}"),
        "spec": {"region": "eu-west-1"}, "status": {"phase": "Pending", "conditions": []},
    }))
}

async fn report(
    State(counted): State<Arc<Counted>>,
    Path(id): Path<String>,
    Json(report): Json<Value>,
) -> (StatusCode, Json<Value>) {
    counted.requests.fetch_add(1, Ordering::Relaxed);
    // Nobody listens any more when a run was given up.
    let _ = counted.reports.send(id);
    (StatusCode::CREATED, Json(report))
}
