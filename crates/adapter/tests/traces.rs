//! What a collector of traces is told about an event.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use hyperfleet_adapter::config::{Identity, parse_task};
use hyperfleet_adapter::serve::{ServeOptions, serve};
use hyperfleet_adapter::{Engine, HttpApi};
use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, SubscribeOptions};
use hyperfleet_client::{Client, ClientConfig, Retry};
use hyperfleet_runtime::trace::{Traces, TracingConfig};
use hyperfleet_source::SourceFile;
use hyperfleet_transport::{OfflineTransport, Target, Unconnected};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt as _;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

const TASK: &str = r#"
params:
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .event.id }}"}}
    required: true
preconditions:
  - {name: known, expression: cluster.id != ""}
resources:
  - name: made
    manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .event.id }}", namespace: default}}
    discovery: {namespace: default, by_name: "{{ .event.id }}"}
"#;

/// An API that keeps the trace each call says it is part of, and a collector.
#[derive(Clone, Default)]
struct Heard {
    callers: Arc<Mutex<Vec<String>>>,
    spans: Arc<Mutex<Vec<u8>>>,
}

impl Heard {
    async fn start(&self, reported: mpsc::Sender<()>) -> String {
        let (reading, reporting, collecting) = (self.clone(), self.clone(), self.clone());
        let router = Router::new()
            .route(
                "/api/hyperfleet/v1/clusters/{id}",
                get(async move |headers: HeaderMap| {
                    reading.call(&headers);
                    Json(json!({"id": "c1", "generation": 1}))
                }),
            )
            .route(
                "/api/hyperfleet/v1/clusters/{id}/statuses",
                put(async move |headers: HeaderMap| {
                    reporting.call(&headers);
                    reported.send(()).await.unwrap();
                    Json(json!({}))
                }),
            )
            .route(
                "/v1/traces",
                post(async move |body: Bytes| collecting.spans.lock().unwrap().extend(&body)),
            );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }

    fn call(&self, headers: &HeaderMap) {
        let trace = headers["traceparent"].to_str().unwrap().to_owned();
        self.callers.lock().unwrap().push(trace);
    }
}

fn engine(url: &str) -> Engine {
    let file = SourceFile::new("task.yaml", TASK);
    let (task, _) = parse_task(&file, Path::new("task.yaml")).unwrap();
    let client = Client::new(ClientConfig::new(url)).unwrap();
    Engine {
        task: Arc::new(task),
        identity: Identity {
            name: "traced".to_owned(),
            version: String::new(),
        },
        config: Arc::new(json!({})),
        env: BTreeMap::new(),
        api: Arc::new(HttpApi::new(client, Retry::NEVER)),
        transport: Arc::new(OfflineTransport::new(Target::Kubernetes, BTreeMap::new())),
        maestro: Arc::new(Unconnected(Target::Maestro)),
        metrics: None,
        keys: None,
    }
}

#[tokio::test]
async fn an_event_is_a_part_of_its_trace_with_a_span_for_every_phase_and_every_call() {
    let heard = Heard::default();
    let (reported, mut reports) = mpsc::channel(1);
    let url = heard.start(reported).await;
    let config = TracingConfig {
        enabled: true,
        endpoint: Some(format!("{url}/v1/traces")),
        ..TracingConfig::default()
    };
    let traces = Traces::start_with(&config, "adapter", "1", &|_| None);
    let traces = traces.unwrap().unwrap();
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    let recording = tracing::subscriber::set_default(subscriber);

    let metrics = Metrics::new(Default::default()).unwrap();
    let broker = Broker::connect(&BrokerConfig::default(), metrics).await;
    let broker = broker.unwrap();
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe("t", "s", options).await.unwrap();
    let data = json!({"id": "c1", "kind": "Cluster", "href": "/api/hyperfleet/v1/clusters/c1"});
    let mut event = Event::reconcile("Cluster", "test", data, chrono::Utc::now(), "1");
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    event
        .extensions
        .insert("traceparent".to_owned(), parent.clone());
    broker.publisher().publish("t", &event).await.unwrap();
    let stop = CancellationToken::new();
    let serving = serve(
        Arc::new(engine(&url)),
        subscriber.as_mut(),
        ServeOptions::default(),
        stop.clone(),
    );
    let stopping = async {
        reports.recv().await.unwrap();
        stop.cancel();
    };
    tokio::join!(serving, stopping);
    drop(recording);
    traces.shutdown().await;

    let callers = heard.callers.lock().unwrap().clone();
    assert_eq!(callers.len(), 2, "one read, one report");
    for caller in &callers {
        assert!(caller.contains(TRACE) && *caller != parent, "{caller}");
    }
    let spans = heard.spans.lock().unwrap().clone();
    let id: Vec<u8> = (0..TRACE.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&TRACE[at..at + 2], 16).unwrap())
        .collect();
    assert!(spans.windows(id.len()).any(|window| window == id));
    let text = String::from_utf8_lossy(&spans);
    for name in [
        "event",
        "params",
        "preconditions",
        "resources",
        "discover",
        "operation",
        "post",
        "api_call",
    ] {
        assert!(text.contains(name), "no span `{name}` in {text}");
    }
}
