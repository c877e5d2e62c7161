//! A small world: a Kubernetes-like server, an API, and an adapter between them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Json as Body;
use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use chrono::Utc;
use hyperfleet_adapter::config::{Deployment, Identity, parse_task};
use hyperfleet_adapter::task::Task;
use hyperfleet_adapter::{Engine, HttpApi, Run};
use hyperfleet_broker::Event;
use hyperfleet_client::{Client, ClientConfig, Retry};
use hyperfleet_source::SourceFile;
use hyperfleet_transport::{
    KubernetesConfig, KubernetesTransport, ObjectKind, ObjectRef, Target, Transport, Unconnected,
};
use serde_json::{Value as Json, json};

/// The API as far as adapters see it.
#[derive(Clone, Default)]
pub(crate) struct FakeApi {
    pub(crate) clusters: Arc<Mutex<BTreeMap<String, Json>>>,
    pub(crate) reports: Arc<Mutex<Vec<Json>>>,
    pub(crate) down: Arc<AtomicBool>,
    pub(crate) reads: Arc<AtomicUsize>,
    mute: Arc<Mutex<BTreeSet<String>>>,
}

impl FakeApi {
    pub(crate) fn set(&self, id: &str, cluster: Json) {
        self.clusters.lock().unwrap().insert(id.to_owned(), cluster);
    }

    /// Whoever reads it waits for ever.
    pub(crate) fn never_answer(&self, id: &str) {
        self.mute.lock().unwrap().insert(id.to_owned());
    }

    pub(crate) fn last_report(&self) -> Json {
        let reports = self.reports.lock().unwrap();
        reports.last().expect("nothing was reported").clone()
    }

    async fn start(&self) -> String {
        let router = Router::new()
            .route("/api/hyperfleet/v1/clusters/{id}", get(read))
            .route("/api/hyperfleet/v1/clusters/{id}/statuses", put(report))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}")
    }
}

async fn read(State(api): State<FakeApi>, UrlPath(id): UrlPath<String>) -> Response {
    api.reads.fetch_add(1, Ordering::SeqCst);
    if api.down.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    let is_mute = api.mute.lock().unwrap().contains(&id);
    if is_mute {
        std::future::pending::<()>().await;
    }
    match api.clusters.lock().unwrap().get(&id) {
        Some(cluster) => Body(cluster.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn report(
    State(api): State<FakeApi>,
    UrlPath(id): UrlPath<String>,
    Body(report): Body<Json>,
) -> Response {
    if api.down.load(Ordering::SeqCst) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    if !api.clusters.lock().unwrap().contains_key(&id) {
        return StatusCode::NOT_FOUND.into_response();
    }
    // Its clock is that of whoever reports: tests move it.
    let clock = report["observed_time"].as_str();
    let clock = clock.and_then(|time| time.parse().ok());
    let clock = clock.unwrap_or_else(Utc::now);
    if let Err(error) = hyperfleet_core::report::Report::decode(&report, clock) {
        let problem = json!({"code": "HYPERFLEET-VAL-001", "detail": error.message});
        return (StatusCode::BAD_REQUEST, Body(problem)).into_response();
    }
    let conditions = report["conditions"].as_array().unwrap();
    for kind in hyperfleet_core::condition::types::MANDATORY {
        if !conditions.iter().any(|one| one["type"] == kind) {
            let problem = json!({"detail": format!("the condition {kind} is missing")});
            return (StatusCode::BAD_REQUEST, Body(problem)).into_response();
        }
    }
    api.reports.lock().unwrap().push(report.clone());
    (StatusCode::CREATED, Body(report)).into_response()
}

pub(crate) struct World {
    pub(crate) api: FakeApi,
    pub(crate) api_url: String,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) kubernetes: Option<kubesim::Server>,
    pub(crate) kubeconfig: tempfile::NamedTempFile,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::start_with(kubesim::Options::default()).await
    }

    pub(crate) async fn start_with(options: kubesim::Options) -> Self {
        let server = kubesim::Server::start(options).await.unwrap();
        let kubeconfig = server.kubeconfig();
        let mut world = Self::on(&kubeconfig).await;
        world.kubernetes = Some(server);
        world
    }

    /// With a server that somebody else runs.
    pub(crate) async fn on(kubeconfig_text: &str) -> Self {
        let kubeconfig = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(kubeconfig.path(), kubeconfig_text).unwrap();
        let config =
            KubernetesConfig::new("hyperfleet-adapter/test").with_kube_config(kubeconfig.path());
        let transport = KubernetesTransport::connect(config).await.unwrap();
        let api = FakeApi::default();
        let api_url = api.start().await;
        Self {
            api,
            api_url,
            transport: Arc::new(transport),
            kubernetes: None,
            kubeconfig,
        }
    }

    pub(crate) fn engine(&self, task: &str) -> Engine {
        self.engine_on(task, Arc::clone(&self.transport))
    }

    pub(crate) fn engine_on(&self, task: &str, transport: Arc<dyn Transport>) -> Engine {
        let mut config = ClientConfig::new(&self.api_url);
        config.retry = Retry::NEVER;
        let client = Client::new(config).unwrap();
        Engine {
            task: Arc::new(compiled(task)),
            identity: Identity {
                name: "test".to_owned(),
                version: String::new(),
            },
            config: Arc::new(serde_json::to_value(Deployment::default()).unwrap()),
            env: BTreeMap::new(),
            api: Arc::new(HttpApi::new(client, Retry::NEVER)),
            transport,
            maestro: Arc::new(Unconnected(Target::Maestro)),
            metrics: None,
            keys: None,
        }
    }

    pub(crate) async fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<Json> {
        self.transport
            .get(&object(kind, namespace, name))
            .await
            .unwrap()
    }
}

pub(crate) fn object(kind: &str, namespace: &str, name: &str) -> ObjectRef {
    let version = match kind {
        "Job" => "batch/v1",
        _ => "v1",
    };
    ObjectKind::new(version, kind).named(Some(namespace), name)
}

pub(crate) fn compiled(task: &str) -> Task {
    let file = SourceFile::new("task.yaml", task);
    let (task, _) = parse_task(&file, Path::new("task.yaml")).unwrap_or_else(|e| panic!("{e}"));
    task
}

pub(crate) fn cluster(id: &str, generation: i64) -> Json {
    json!({"id": id, "kind": "Cluster", "name": "blue", "generation": generation,
        "spec": {"region": "eu", "provider": "gcp"}, "status": {"phase": "Pending"}})
}

pub(crate) fn event(id: &str, generation: i64) -> Event {
    let data = json!({"id": id, "kind": "Cluster", "generation": generation,
        "href": format!("/api/hyperfleet/v1/clusters/{id}")});
    let unique = format!("event-{id}-{generation}");
    Event::reconcile(
        "Cluster",
        "sentinel-operator/test",
        data,
        Utc::now(),
        unique,
    )
}

pub(crate) async fn handle(engine: &Engine, event: &Event) -> Run {
    engine.handle(event, Utc::now()).await
}

/// `status` and `reason` of a condition in a report.
pub(crate) fn condition(report: &Json, kind: &str) -> (String, String) {
    let conditions = report["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == kind).unwrap();
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

pub(crate) fn message(report: &Json, kind: &str) -> String {
    let conditions = report["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|one| one["type"] == kind).unwrap();
    found["message"].as_str().unwrap_or_default().to_owned()
}

/// A ConfigMap per cluster, in the default namespace.
pub(crate) const CONFIG_MAP: &str = r#"
params:
  - name: clusterId
    source: event.id
    required: true
  - name: cluster
    source:
      api_call:
        method: GET
        url: "clusters/{{ .clusterId }}"
    required: true
  - name: isDeleting
    source:
      expression: cluster.?deleted_time.orValue(null) != null
resources:
  - name: settings
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "settings-{{ .clusterId }}"
        namespace: default
      data:
        region: "{{ .cluster.spec.region }}"
        generation: "{{ .cluster.generation }}"
    discovery:
      namespace: default
      by_name: "settings-{{ .clusterId }}"
    lifecycle:
      delete:
        when:
          expression: isDeleting
"#;
