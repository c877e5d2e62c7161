//! An API on a database of its own.

use hyperfleet_api::{Api, ApiConfig, Entities, ServerConfig};
use hyperfleet_client::{Call, Client, ClientConfig, Method};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_store::testing::TestDatabase;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) fn registry() -> MetricsRegistry {
    MetricsRegistry::new(Build {
        version: "test".to_owned(),
        commit: String::new(),
    })
    .unwrap()
}

pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) client: Client,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

/// All tests share a runtime, in which it would otherwise run on, and keep its connections to the one database server.
impl Drop for Server {
    fn drop(&mut self) {
        self.shutdown.trigger();
    }
}

impl Server {
    /// With one required adapter, `dns`, for every kind, so that no resource goes before it is made to.
    pub(crate) async fn start() -> Server {
        let store = TestDatabase::new().await.store;
        let kept = store.clone();
        let config = ApiConfig {
            server: ServerConfig {
                port: 0,
                ..ServerConfig::default()
            },
            ..ApiConfig::default()
        };
        let mut kinds = Kind::defaults();
        for kind in &mut kinds {
            kind.required_adapters = vec!["dns".try_into().unwrap()];
        }
        let metrics = registry().component("api", "api").unwrap();
        let entities = Entities::new(kinds).unwrap();
        let health = Health::new();
        let api = Api::bind(&config, entities, store, "test", &metrics, &health)
            .await
            .unwrap();
        let url = format!("http://{}", api.address());
        let shutdown = Shutdown::new();
        let stop = shutdown.clone();
        let task = tokio::spawn(async move {
            api.run(stop.clone()).await;
            stop.joined().await;
            kept.close().await;
        });
        Server {
            client: Client::new(ClientConfig::new(&url)).unwrap(),
            url,
            shutdown,
            task,
        }
    }

    pub(crate) async fn stop(mut self) {
        self.shutdown.trigger();
        (&mut self.task).await.unwrap();
    }

    pub(crate) async fn create(&self, name: &str) -> String {
        let body = json!({"kind": "Cluster", "name": name, "spec": {"region": "eu"}});
        self.client.create("clusters", &body).await.unwrap().id
    }

    /// The lines of the audit log that have this action, newest first.
    pub(crate) async fn audit(&self, action: &str) -> Vec<Value> {
        let answer = self
            .client
            .get_json(&format!("audit?action={action}"))
            .await;
        answer.unwrap()["items"].as_array().unwrap().clone()
    }

    pub(crate) async fn delete(&self, id: &str) {
        let call = Call::new(Method::DELETE, format!("clusters/{id}"));
        self.client.call(call).await.unwrap();
    }

    /// Gone, without waiting for adapters.
    pub(crate) async fn remove(&self, id: &str) {
        self.delete(id).await;
        let call = Call::new(Method::POST, format!("clusters/{id}/force-delete"));
        let body = json!({"reason": "a test"}).to_string();
        self.client.call(call.body(body)).await.unwrap();
    }

    pub(crate) async fn removed(&self, name: &str) -> String {
        let id = self.create(name).await;
        self.remove(&id).await;
        id
    }
}
