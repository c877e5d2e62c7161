//! A caller of an API of its own.

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use hyperfleet_api::{ApiState, Entities, HttpMetrics, router};
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_store::testing::TestDatabase;
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) struct Caller {
    router: axum::Router,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: Value,
}

impl Caller {
    /// An API with the default kinds; clusters need `validation` and `dns`.
    pub(crate) async fn new() -> Caller {
        let mut kinds = Kind::defaults();
        kinds[0].required_adapters = ["validation", "dns"]
            .map(|name| AdapterName::try_from(name).unwrap())
            .to_vec();
        Caller::with(kinds).await
    }

    /// An API with kinds of one's own.
    pub(crate) async fn with(kinds: Vec<Kind>) -> Caller {
        let registry = MetricsRegistry::new(Build {
            version: "test".into(),
            commit: String::new(),
        })
        .unwrap();
        let metrics = HttpMetrics::register(&registry.component("api", "api").unwrap()).unwrap();
        let entities = Entities::new(kinds).unwrap();
        let state = ApiState {
            store: TestDatabase::new().await.store,
            kinds: entities.kinds,
            schemas: entities.schemas,
            version: "test",
        };
        Caller {
            router: router(state, metrics),
        }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        let path = if path.starts_with("/api") {
            path.to_owned()
        } else {
            format!("/api/hyperfleet/v1{path}")
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(body.into())
            .unwrap();
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).unwrap()
        };
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send("PUT", path, body.to_string()).await
    }

    pub(crate) async fn cluster(&self, name: &str) -> Value {
        let answer = self
            .post(
                "/clusters",
                json!({"kind": "Cluster", "name": name, "spec": {"region": "us-east"}}),
            )
            .await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.body
    }
}

/// A report that is as good as it gets.
pub(crate) fn done(adapter: &str) -> Value {
    json!({
        "adapter": adapter,
        "observed_generation": 1,
        "observed_time": chrono::Utc::now(),
        "conditions": [
            {"type": "Available", "status": "True", "reason": "Done", "message": "all is well"},
            {"type": "Applied", "status": "True"},
            {"type": "Health", "status": "True"},
        ],
        "data": {"answer": 42},
    })
}

/// Replaces what differs from run to run, so that the rest can be compared.
pub(crate) fn stable(mut value: Value) -> Value {
    replace(&mut value);
    value
}

fn replace(value: &mut Value) {
    match value {
        Value::String(text) if chrono::DateTime::parse_from_rfc3339(text).is_ok() => {
            *text = "[time]".to_owned()
        }
        Value::String(text) => {
            while let Some(start) =
                (0..text.len()).find(|start| is_id(text.get(*start..start + 36)))
            {
                text.replace_range(start..start + 36, "[id]");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(replace),
        Value::Object(fields) => fields.values_mut().for_each(replace),
        _ => {}
    }
}

fn is_id(text: Option<&str>) -> bool {
    text.is_some_and(|text| uuid::Uuid::parse_str(text).is_ok())
}
