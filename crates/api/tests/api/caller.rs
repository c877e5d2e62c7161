//! A caller of an API of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};
use http_body_util::BodyExt;
use hyperfleet_api::{
    ApiConfig, ApiState, Entities, FeedMetrics, HttpMetrics, Hub, Recheck, RulesInForce, Security,
    TimeoutsConfig, router,
};
use hyperfleet_core::aggregation::Rulebook;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_source::SourceFile;
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) struct Caller {
    router: axum::Router,
    pub(crate) state: ApiState,
    pub(crate) store: Store,
    pub(crate) shutdown: Shutdown,
}

/// An open watch.
pub(crate) struct Watch {
    body: Body,
    text: String,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Value,
}

impl Watch {
    /// The next event; `None` when the server ended the stream.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.unwrap().to_owned()
                };
                let event = Event {
                    name: field("event: "),
                    id: field("id: "),
                    data: serde_json::from_str(&field("data: ")).unwrap(),
                };
                self.text = rest.to_owned();
                return Some(event);
            }
            let frame = tokio::time::timeout(Duration::from_secs(30), self.body.frame());
            let frame = frame
                .await
                .expect("an event within half a minute")?
                .unwrap();
            self.text
                .push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }

    /// The next event that is not a bookmark. Bookmarks come for ever, so waiting for it ends by itself.
    pub(crate) async fn change(&mut self) -> Event {
        let change = async {
            loop {
                let event = self.next().await.expect("the watch goes on");
                if event.name != "bookmark" {
                    return event;
                }
            }
        };
        let change = tokio::time::timeout(Duration::from_secs(30), change);
        change.await.expect("a change within half a minute")
    }
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
        Caller::with_ring(kinds, Hub::RING).await
    }

    /// An API whose statuses are made by an AggregationConfig.
    pub(crate) async fn ruled(kinds: Vec<Kind>, config: &str) -> Caller {
        let configs = AggregationConfig::read(&SourceFile::new("a.yaml", config)).unwrap();
        let (book, _) = Rulebook::new(&kinds, &configs).unwrap();
        let rules = RulesInForce::of_kinds(book, &kinds);
        Caller::adjusted(kinds, Hub::RING, |state| state.rules = rules).await
    }

    /// An API that keeps few changes for slow watchers.
    pub(crate) async fn with_ring(kinds: Vec<Kind>, ring: usize) -> Caller {
        Caller::adjusted(kinds, ring, |_| {}).await
    }

    /// An API with the default kinds that is protected as configured; clusters need nobody.
    pub(crate) async fn secured(config: Value) -> Caller {
        Caller::secured_with(Kind::defaults(), config).await
    }

    pub(crate) async fn secured_with(kinds: Vec<Kind>, config: Value) -> Caller {
        let config: ApiConfig = serde_json::from_value(config).unwrap();
        let registry = Entities::new(kinds.clone()).unwrap().kinds;
        let security = Security::new(&config, &registry, Path::new("")).unwrap();
        let security = Arc::new(security);
        Caller::adjusted(kinds, Hub::RING, |state| state.security = security).await
    }

    /// An API that is otherwise configured.
    pub(crate) async fn adjusted(
        kinds: Vec<Kind>,
        ring: usize,
        adjust: impl FnOnce(&mut ApiState),
    ) -> Caller {
        let registry = MetricsRegistry::new(Build {
            version: "test".into(),
            commit: String::new(),
        })
        .unwrap();
        let component = registry.component("api", "api").unwrap();
        let metrics = HttpMetrics::register(&component).unwrap();
        let entities = Entities::new(kinds).unwrap();
        let store = TestDatabase::new().await.store;
        let hub = Arc::new(Hub::new(
            store.clone(),
            FeedMetrics::register(&component).unwrap(),
            ring,
        ));
        let mut state = ApiState {
            store: store.clone(),
            kinds: entities.kinds,
            schemas: entities.schemas,
            hub: hub.clone(),
            rules: entities.rules,
            timeouts: (&TimeoutsConfig::default()).into(),
            security: Arc::new(Security::off()),
            statuses_format: Default::default(),
            version: "test",
        };
        adjust(&mut state);
        let shutdown = Shutdown::new();
        let stop = shutdown.clone();
        tokio::spawn(async move { hub.run(stop).await });
        Caller {
            router: router(state.clone(), metrics),
            state,
            store,
            shutdown,
        }
    }

    /// Lets the API compute statuses anew in the background.
    pub(crate) fn recheck(&self) {
        let recheck = Recheck::new(self.state.clone());
        tokio::spawn(recheck.run(self.shutdown.clone()));
    }

    /// Puts an AggregationConfig in force.
    pub(crate) fn change_rules(&self, config: &str) {
        let configs = AggregationConfig::read(&SourceFile::new("a.yaml", config)).unwrap();
        let (book, _) = Rulebook::new(self.state.kinds.kinds(), &configs).unwrap();
        self.state.rules.replace(book, config.to_owned());
    }

    /// Opens a watch; the answer must be a stream.
    pub(crate) async fn watch(&self, path: &str) -> Watch {
        self.watch_with(path, &[]).await
    }

    pub(crate) async fn watch_with(&self, path: &str, headers: &[(&str, &str)]) -> Watch {
        let uri = format!("/api/hyperfleet/v1{path}");
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Watch {
            body: response.into_body(),
            text: String::new(),
        }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        self.send_with(method, path, &[], body).await
    }

    pub(crate) async fn send_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let path = if path.starts_with("/api") {
            path.to_owned()
        } else {
            format!("/api/hyperfleet/v1{path}")
        };
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send_request(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn send_request(&self, request: Request<Body>) -> Answer {
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            let text = || String::from_utf8(bytes.to_vec()).unwrap();
            serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(text()))
        };
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
        }
    }

    /// The head of an answer whose body is not JSON.
    pub(crate) async fn send_raw(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> axum::http::HeaderMap {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/api/hyperfleet/v1{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let response: Response<Body> = self.router.clone().oneshot(request).await.unwrap();
        response.headers().clone()
    }

    /// The status of an answer whose body may have no end.
    pub(crate) async fn head_status(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> u16 {
        let uri = format!("/api/hyperfleet/v1{path}");
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        self.router
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .status()
            .as_u16()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, Body::empty()).await
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
