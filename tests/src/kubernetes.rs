//! A Kubernetes API, real or simulated, asked and changed by path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::runtime::Runtime;

/// Kinds that adapters make, with the paths of all their objects.
pub const KINDS: [(&str, &str); 6] = [
    ("Namespace", "/api/v1/namespaces"),
    ("Secret", "/api/v1/secrets"),
    ("ConfigMap", "/api/v1/configmaps"),
    ("Job", "/apis/batch/v1/jobs"),
    ("HostedCluster", HOSTED_CLUSTERS),
    ("NodePool", NODE_POOLS),
];
pub const HOSTED_CLUSTERS: &str = "/apis/hypershift.openshift.io/v1beta1/hostedclusters";
pub const NODE_POOLS: &str = "/apis/hypershift.openshift.io/v1beta1/nodepools";

/// How the test itself is called in the server's audit log.
pub const AGENT: &str = "e2e";

/// The label that says whose an object is.
pub const RESOURCE_ID: &str = "hyperfleet.io/resource-id";

/// Reads its kubeconfig anew for every connection: a server that was started again may be elsewhere.
#[derive(Debug, Clone)]
pub struct Kubernetes {
    kubeconfig: PathBuf,
    runtime: Arc<Runtime>,
}

impl Kubernetes {
    pub fn new(kubeconfig: &Path) -> Result<Kubernetes> {
        Ok(Kubernetes {
            kubeconfig: kubeconfig.to_owned(),
            runtime: Arc::new(Runtime::new()?),
        })
    }

    /// A connection that lasts as long as its server.
    pub fn connect(&self) -> Result<Connection> {
        let (server, client) = self.runtime.block_on(async {
            let file = kube::config::Kubeconfig::read_from(&self.kubeconfig)?;
            let mut config =
                kube::Config::from_custom_kubeconfig(file, &Default::default()).await?;
            let agent = http::HeaderValue::from_static(AGENT);
            config.headers.push((http::header::USER_AGENT, agent));
            anyhow::Ok((
                config.cluster_url.to_string(),
                kube::Client::try_from(config)?,
            ))
        })?;
        Ok(Connection {
            server,
            client,
            runtime: Arc::clone(&self.runtime),
        })
    }
}

/// Requests, one after the other.
pub struct Connection {
    /// Its address.
    pub(crate) server: String,
    client: kube::Client,
    runtime: Arc<Runtime>,
}

impl Connection {
    fn send(&self, method: &str, path: &str, kind: &str, body: Vec<u8>) -> Result<Value> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .body(body)?;
        self.runtime
            .block_on(self.client.request::<Value>(request))
            .with_context(|| format!("{method} {path}"))
    }

    /// `None` if there is no such object.
    pub fn get(&self, path: &str) -> Result<Option<Value>> {
        match self.send("GET", path, "application/json", Vec::new()) {
            Ok(object) => Ok(Some(object)),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The objects at a path; none of a kind that is not there.
    pub fn list(&self, path: &str) -> Result<Vec<Value>> {
        let list = self.get(path)?.unwrap_or_default();
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    /// All objects of a resource, with their kinds.
    pub fn objects_of(&self, id: &str) -> Result<Vec<(&'static str, Value)>> {
        let mut found = Vec::new();
        for (kind, path) in KINDS {
            let selected = format!("{path}?labelSelector={RESOURCE_ID}%3D{id}");
            found.extend(self.list(&selected)?.into_iter().map(|one| (kind, one)));
        }
        Ok(found)
    }

    pub fn create(&self, path: &str, object: &Value) -> Result<Value> {
        self.send("POST", path, "application/json", object.to_string().into())
    }

    /// A merge patch.
    pub fn patch(&self, path: &str, patch: &Value) -> Result<Value> {
        let kind = "application/merge-patch+json";
        self.send("PATCH", path, kind, patch.to_string().into())
    }

    /// That it is not there any more is fine.
    pub fn delete(&self, path: &str) -> Result<()> {
        let options = br#"{"propagationPolicy": "Background"}"#.to_vec();
        match self.send("DELETE", path, "application/json", options) {
            Ok(_) => Ok(()),
            Err(error) if is_not_found(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn is_not_found(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<kube::Error>();
    matches!(error, Some(kube::Error::Api(status)) if status.code == 404)
}

/// `metadata.name`, and the like.
pub fn metadata<'o>(object: &'o Value, key: &str) -> &'o str {
    object["metadata"][key].as_str().unwrap_or_default()
}

/// Whose an object is, by its label.
pub fn owner(object: &Value) -> &str {
    let label = &object["metadata"]["labels"][RESOURCE_ID];
    label.as_str().unwrap_or_default()
}
