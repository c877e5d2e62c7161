//! An API that can be stopped and started again on the same port.

use std::net::SocketAddr;

use hyperfleet_api::{Api, ApiConfig, Entities, ServerConfig};
use hyperfleet_client::{Client, ClientConfig};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_store::Store;
use tokio::task::JoinHandle;

pub(crate) fn registry() -> MetricsRegistry {
    MetricsRegistry::new(Build {
        version: "test".to_owned(),
        commit: String::new(),
    })
    .unwrap()
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shutdown: Shutdown,
    task: JoinHandle<()>,
}

impl Server {
    /// With one required adapter, `validation`, for every kind. Port 0 takes a free one.
    pub(crate) async fn start(store: &Store, port: u16) -> Server {
        let config = ApiConfig {
            server: ServerConfig {
                port,
                ..ServerConfig::default()
            },
            ..ApiConfig::default()
        };
        let mut kinds = Kind::defaults();
        for kind in &mut kinds {
            kind.required_adapters = vec!["validation".try_into().unwrap()];
        }
        let metrics = registry().component("api", "api").unwrap();
        let entities = Entities::new(kinds).unwrap();
        let api = Api::bind(
            &config,
            entities,
            store.clone(),
            "test",
            &metrics,
            &Health::new(),
        )
        .await
        .unwrap();
        let address = api.address();
        let shutdown = Shutdown::new();
        let stop = shutdown.clone();
        let task = tokio::spawn(async move {
            api.run(stop.clone()).await;
            stop.joined().await;
        });
        Server {
            address,
            shutdown,
            task,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(ClientConfig::new(self.url())).unwrap()
    }

    pub(crate) async fn stop(self) -> u16 {
        self.shutdown.trigger();
        self.task.await.unwrap();
        self.address.port()
    }
}
