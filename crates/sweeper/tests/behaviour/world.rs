//! A cluster, an API, and a key of the test's own: what others signed is not this sweeper's.

use std::path::PathBuf;
use std::sync::Arc;

use hyperfleet_core::ownership::{ADAPTER, Key, Keyring, OWNERSHIP, RESOURCE_ID};
use hyperfleet_sweeper::{Options, Report, Row, Sweeper};
use hyperfleet_transport::{
    KubernetesConfig, KubernetesTransport, Mode, ObjectKind, ObjectRef, Survey, Transport, claim,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::api::Server;

pub(crate) struct World {
    pub(crate) cluster: Arc<KubernetesTransport>,
    pub(crate) api: Server,
    pub(crate) namespace: String,
    keys: Keyring,
    key_file: tempfile::NamedTempFile,
}

impl World {
    pub(crate) async fn new(kubeconfig: PathBuf, test: &str) -> World {
        let config = KubernetesConfig::new("hyperfleet-adapter/test").with_kube_config(&kubeconfig);
        let cluster = KubernetesTransport::connect(config).await.unwrap();
        let namespace = test.replace('_', "-").chars().take(50).collect::<String>();
        let namespace = namespace.trim_end_matches('-').to_owned();
        let key_file = tempfile::NamedTempFile::new().unwrap();
        let key = format!("{namespace}-{}", "k".repeat(40));
        std::fs::write(key_file.path(), &key).unwrap();
        let world = World {
            cluster: Arc::new(cluster),
            api: Server::start().await,
            namespace,
            keys: Keyring {
                current: Key::new(key.as_bytes()).unwrap(),
                previous: None,
            },
            key_file,
        };
        let home = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": world.namespace}});
        world.cluster.apply(&home, Mode::Commit).await.unwrap();
        world
    }

    pub(crate) fn options(&self) -> Options {
        let mut options = Options {
            deletions_per_second: 1000.0,
            ..Options::default()
        };
        options
            .clients
            .hyperfleet_api
            .base_url
            .clone_from(&self.api.url);
        options.clients.hyperfleet_api.timeout = "2s".parse().unwrap();
        options.ownership.key_file = Some(self.key_file.path().to_owned());
        options.lease.namespace = Some(self.namespace.clone());
        options.lease.duration = "3s".parse().unwrap();
        options.interval = "100ms".parse().unwrap();
        options
    }

    /// A ConfigMap that says whose it is.
    pub(crate) fn labelled(&self, name: &str, owner: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": self.namespace,
            "labels": {ADAPTER: "dns", RESOURCE_ID: owner}}})
    }

    /// The same, proven.
    pub(crate) fn sign(&self, mut object: Value) -> Value {
        let signature = self.keys.sign(&claim(&object).unwrap());
        object["metadata"]["annotations"] = json!({OWNERSHIP: signature});
        object
    }

    pub(crate) async fn apply(&self, object: &Value) {
        self.cluster.apply(object, Mode::Commit).await.unwrap();
    }

    /// Something of ours.
    pub(crate) async fn make(&self, name: &str, owner: &str) {
        let object = self.sign(self.labelled(name, owner));
        self.apply(&object).await;
    }

    pub(crate) fn named(&self, name: &str) -> ObjectRef {
        ObjectKind::new("v1", "ConfigMap").named(Some(&self.namespace), name)
    }

    pub(crate) async fn exists(&self, name: &str) -> bool {
        self.cluster.get(&self.named(name)).await.unwrap().is_some()
    }

    pub(crate) async fn sweep(&self) -> Swept {
        self.sweep_with(self.options()).await
    }

    pub(crate) async fn sweep_with(&self, options: Options) -> Swept {
        let cluster: Arc<dyn Survey> = Arc::clone(&self.cluster) as _;
        self.sweep_on(cluster, options).await
    }

    pub(crate) async fn sweep_on(&self, cluster: Arc<dyn Survey>, options: Options) -> Swept {
        let sweeper = Sweeper::new(options, cluster, None).unwrap();
        self.pass(&sweeper, &CancellationToken::new()).await
    }

    pub(crate) async fn pass(&self, sweeper: &Sweeper, stop: &CancellationToken) -> Swept {
        let mut rows = Vec::new();
        let report = sweeper.pass(stop, &mut |row| rows.push(row)).await;
        rows.retain(|row| {
            row.object.namespace.as_deref() == Some(&self.namespace)
                || row.object.name == self.namespace
        });
        Swept { report, rows }
    }
}

/// A pass, as far as it concerns one test.
pub(crate) struct Swept {
    pub(crate) report: Report,
    pub(crate) rows: Vec<Row>,
}

impl Swept {
    /// Verdict and reason of an object.
    pub(crate) fn of(&self, name: &str) -> (&str, &str) {
        let row = self.rows.iter().find(|row| row.object.name == name);
        let row = row.unwrap_or_else(|| panic!("{name} was not seen: {:?}", self.report));
        (row.verdict, row.reason)
    }
}
