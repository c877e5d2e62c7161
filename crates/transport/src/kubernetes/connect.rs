//! From a kubeconfig, or the pod we run in, to a client that was seen to work.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderValue;
use http::header::USER_AGENT;
use hyperfleet_runtime::crypto;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

/// How to reach a Kubernetes API server.
#[derive(Clone, Debug, PartialEq)]
pub struct KubernetesConfig {
    /// The kubeconfig file; without one, the service account of the pod we run in.
    pub kube_config_path: Option<PathBuf>,
    /// Requests per second, on average.
    pub qps: f64,
    /// Requests that may come before their time by that rate.
    pub burst: u32,
    /// Under which name our fields are kept.
    pub field_manager: String,
    /// How long a request may take.
    pub timeout: Duration,
}

impl KubernetesConfig {
    /// In-cluster, 100 requests per second with bursts of 200.
    pub fn new(field_manager: impl Into<String>) -> Self {
        Self {
            kube_config_path: None,
            qps: 100.0,
            burst: 200,
            field_manager: field_manager.into(),
            timeout: Duration::from_secs(30),
        }
    }

    /// With a kubeconfig file.
    #[must_use]
    pub fn with_kube_config(mut self, path: impl Into<PathBuf>) -> Self {
        self.kube_config_path = Some(path.into());
        self
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file cannot be used.
    #[error("cannot use kubeconfig {path}: {reason}; check clients.kubernetes.kube_config_path")]
    Kubeconfig {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no file and we are in no pod.
    #[error(
        "no kubeconfig is configured and this is no Kubernetes pod ({reason}); set \
         clients.kubernetes.kube_config_path or HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH"
    )]
    NotInCluster {
        /// What was missing.
        reason: String,
    },
    /// The server does not answer.
    #[error(
        "Kubernetes at {server} ({source_name}) does not answer: {reason}; check that the server \
         runs and that this machine can reach it"
    )]
    Unreachable {
        /// The server's URL.
        server: String,
        /// Where that URL is from.
        source_name: String,
        /// What was seen.
        reason: String,
    },
    /// The server answers, but not to us.
    #[error("Kubernetes at {server} ({source_name}) refused us: {reason}; check the credentials")]
    Refused {
        /// The server's URL.
        server: String,
        /// Where that URL is from.
        source_name: String,
        /// What it said.
        reason: String,
    },
}

/// Where the namespace of a pod stands.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The namespace of the pod we run in; `default` outside of one.
pub async fn pod_namespace() -> String {
    match tokio::fs::read_to_string(NAMESPACE_FILE).await {
        Ok(text) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "default".to_owned(),
    }
}

/// How long connecting may take altogether.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn connect(config: &KubernetesConfig) -> Result<Client, ConnectError> {
    let (mut kube, source_name) = match &config.kube_config_path {
        Some(path) => {
            let shown = path.display().to_string();
            let refused = |error: kube::config::KubeconfigError| ConnectError::Kubeconfig {
                path: shown.clone(),
                reason: error.to_string(),
            };
            let file = Kubeconfig::read_from(path).map_err(refused)?;
            let options = KubeConfigOptions::default();
            let kube = Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(refused)?;
            (kube, format!("kubeconfig {shown}"))
        }
        None => {
            let kube = Config::incluster().map_err(|error| ConnectError::NotInCluster {
                reason: error.to_string(),
            })?;
            (kube, "in-cluster".to_owned())
        }
    };
    kube.connect_timeout = Some(PATIENCE);
    // The Sentinel's next event is the retry; a second loop inside would hide the outage.
    kube.default_retry = false;
    // Whoever reads the server's audit log sees which component wrote. A name that fits no header goes without.
    if let Ok(agent) = HeaderValue::try_from(config.field_manager.as_str()) {
        kube.headers.push((USER_AGENT, agent));
    }
    let server = kube.cluster_url.to_string();
    let unreachable = |reason: String| ConnectError::Unreachable {
        server: server.clone(),
        source_name: source_name.clone(),
        reason,
    };
    crypto::install_ring();
    let client = Client::try_from(kube).map_err(|error| unreachable(reason(&error)))?;
    match tokio::time::timeout(PATIENCE, client.apiserver_version()).await {
        Ok(Ok(version)) => {
            tracing::debug!(%server, version = version.git_version, "connected to Kubernetes");
            Ok(client)
        }
        Ok(Err(kube::Error::Api(status))) if matches!(status.code, 401 | 403) => {
            Err(ConnectError::Refused {
                server: server.clone(),
                source_name: source_name.clone(),
                reason: status.message.clone(),
            })
        }
        Ok(Err(error)) => Err(unreachable(reason(&error))),
        Err(_) => Err(unreachable(format!(
            "no answer in {} s",
            PATIENCE.as_secs()
        ))),
    }
}

/// The innermost cause too: "client error (Connect)" alone helps nobody.
pub(crate) fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
