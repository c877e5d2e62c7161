//! From a configuration to an engine that can handle events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use hyperfleet_client::header::{HeaderMap, HeaderName, HeaderValue};
use hyperfleet_client::{
    Answer, Auth, Backoff, BuildError, Call, CallError, Client, ClientConfig, Retry, TokenFrom,
};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_transport::{
    ConnectError, KubernetesConfig, KubernetesTransport, MaestroError, MaestroTransport,
    OwnershipError, Target, Transport, Unconnected,
};

use crate::calls::{Api, HttpApi};
use crate::config::{self, ApiClient, Deployment, KubernetesClient, LoadError, RetryBackoff};
use crate::metrics::AdapterMetrics;
use crate::pipeline::Engine;
use crate::task::{Param, Resource, Source, Task};

/// Why an engine cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A value is missing or cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The API's address cannot be used.
    #[error("clients.hyperfleet_api: {0}")]
    Api(#[from] BuildError),
    /// Kubernetes does not answer.
    #[error(transparent)]
    Kubernetes(#[from] Box<ConnectError>),
    /// Maestro does not answer.
    #[error(transparent)]
    Maestro(#[from] MaestroError),
    /// Deployment and task do not fit together.
    #[error(transparent)]
    Together(#[from] LoadError),
    /// The keys of ownership cannot be read.
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    /// The metrics are registered already.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}

impl Engine {
    /// Connects to what the task keeps objects in, Kubernetes or Maestro or both, and returns once they have answered;
    /// the API is contacted only when an event needs it. Of `environment` the task sees what it names.
    pub async fn connect(
        deployment: &Deployment,
        task: Task,
        environment: &BTreeMap<String, String>,
        metrics: Option<&Metrics>,
    ) -> Result<Self, EngineError> {
        config::check_together(deployment, &task)?;
        let transport: Arc<dyn Transport> = match needs_kubernetes(&task) {
            true => {
                let client = &deployment.clients.kubernetes;
                let config = kubernetes(client, &deployment.adapter.name);
                let connected = KubernetesTransport::connect(config).await;
                Arc::new(connected.map_err(Box::new)?)
            }
            false => Arc::new(Unconnected(Target::Kubernetes)),
        };
        let maestro: Arc<dyn Transport> = match needs_maestro(&task) {
            true => {
                let config = deployment.clients.maestro.target();
                let config = config.map_err(EngineError::Invalid)?;
                Arc::new(MaestroTransport::connect(config).await?)
            }
            false => Arc::new(Unconnected(Target::Maestro)),
        };
        let engine = Self::with_transport(deployment, task, environment, metrics, transport)?;
        Ok(Self { maestro, ..engine })
    }

    /// As [`connect`](Self::connect), with a Kubernetes of the caller's. Maestro is contacted only when an event needs it.
    pub fn with_transport(
        deployment: &Deployment,
        task: Task,
        environment: &BTreeMap<String, String>,
        metrics: Option<&Metrics>,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, EngineError> {
        let env = visible(&task, environment)?;
        let name = &deployment.adapter.name;
        let mut config = api(&deployment.clients.hyperfleet_api)?;
        config.user_agent = user_agent(name, environment);
        config.auth = config.auth.or_else(|| token_of(environment));
        let retry = config.retry;
        let client = Client::new(config)?;
        let metrics = match metrics {
            Some(metrics) => Some(AdapterMetrics::new(metrics, name)?),
            None => None,
        };
        let maestro: Arc<dyn Transport> = match deployment.clients.maestro.is_configured() {
            true => {
                let config = deployment.clients.maestro.target();
                Arc::new(MaestroTransport::new(
                    config.map_err(EngineError::Invalid)?,
                )?)
            }
            false => Arc::new(Unconnected(Target::Maestro)),
        };
        let config = deployment.redacted();
        if deployment.debug_config {
            tracing::info!(adapter = name, %config, "effective configuration");
        }
        Ok(Self {
            task: Arc::new(task),
            identity: deployment.adapter.clone(),
            config: Arc::new(config),
            env,
            api: Arc::new(Metered {
                inner: HttpApi::new(client, retry),
                base_url: deployment.clients.hyperfleet_api.base_url.clone(),
                metrics: metrics.clone(),
            }),
            transport,
            maestro,
            metrics,
            keys: deployment.ownership.load()?.map(Arc::new),
        })
    }
}

/// Nothing but works, and no values kept in the cluster: then none is needed.
fn needs_kubernetes(task: &Task) -> bool {
    let held = |param: &Param| matches!(param.source, Source::Held { .. });
    let is_work = |resource: &Resource| resource.destination.is_maestro();
    !needs_maestro(task) || !task.resources.iter().all(is_work) || task.params.iter().any(held)
}

fn needs_maestro(task: &Task) -> bool {
    let mut resources = task.resources.iter();
    resources.any(|resource| resource.destination.is_maestro())
}

/// Only what the task names. A variable a required parameter needs must be there from the start.
fn visible(
    task: &Task,
    all: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, EngineError> {
    for param in &task.params {
        if let Source::Env(name) = &param.source
            && param.required
            && all.get(name).is_none_or(String::is_empty)
        {
            let param = &param.name;
            return Err(EngineError::Invalid(format!(
                "the environment variable {name}, which parameter `{param}` requires, is not set"
            )));
        }
    }
    let named = task.environment.iter();
    Ok(named
        .filter_map(|name| Some((name.clone(), all.get(name)?.clone())))
        .collect())
}

fn kubernetes(client: &KubernetesClient, adapter: &str) -> KubernetesConfig {
    let mut config = KubernetesConfig::new(format!("hyperfleet-adapter/{adapter}"));
    config.kube_config_path = client.kube_config_path.clone();
    if client.qps > 0.0 {
        config.qps = client.qps;
    }
    if client.burst > 0 {
        config.burst = client.burst;
    }
    config
}

fn api(client: &ApiClient) -> Result<ClientConfig, EngineError> {
    let mut config = ClientConfig::new(&client.base_url);
    if !client.version.is_empty() {
        config.version.clone_from(&client.version);
    }
    if !client.timeout.is_zero() {
        config.timeout = client.timeout.get();
    }
    config.retry = Retry {
        attempts: match client.retry_attempts {
            0 => Retry::default().attempts,
            attempts => attempts,
        },
        backoff: match client.retry_backoff {
            RetryBackoff::Exponential => Backoff::Exponential,
            RetryBackoff::Linear => Backoff::Linear,
            RetryBackoff::Constant => Backoff::Constant,
        },
        base_delay: client.base_delay.get(),
        max_delay: client.max_delay.get(),
    };
    let mut headers = HeaderMap::new();
    for (name, value) in &client.default_headers {
        let name = HeaderName::from_bytes(name.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value.expose())) else {
            return Err(EngineError::Invalid(
                "clients.hyperfleet_api.default_headers has one that cannot be sent".to_owned(),
            ));
        };
        headers.insert(name, value);
    }
    config.default_headers = headers;
    config.allowed_origins.clone_from(&client.allowed_origins);
    let auth = &client.auth;
    config.auth = (!auth.token_path.is_empty()).then(|| Auth {
        token: TokenFrom::File((&auth.token_path).into()),
        cache_ttl: auth.token_cache_ttl.get(),
    });
    Ok(config)
}

/// A token that nobody put into a file.
const TOKEN: &str = "HYPERFLEET_API_TOKEN";

fn token_of(environment: &BTreeMap<String, String>) -> Option<Auth> {
    let said = environment.get(TOKEN).filter(|token| !token.is_empty());
    said.map(|_| Auth {
        token: TokenFrom::Env(TOKEN.to_owned()),
        cache_ttl: Duration::ZERO,
    })
}

/// Who the API is told that it talks to.
fn user_agent(name: &str, environment: &BTreeMap<String, String>) -> String {
    let said = environment.get("HYPERFLEET_USER_AGENT");
    let said = said.filter(|said| !said.is_empty());
    said.cloned()
        .unwrap_or_else(|| format!("hyperfleet-adapter/{} ({name})", env!("CARGO_PKG_VERSION")))
}

/// Counts calls.
struct Metered {
    inner: HttpApi,
    base_url: String,
    metrics: Option<AdapterMetrics>,
}

#[async_trait]
impl Api for Metered {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let Some(metrics) = &self.metrics else {
            return self.inner.call(call).await;
        };
        let (method, endpoint) = (
            call.method.to_string(),
            metrics.endpoint(&self.base_url, &call.url),
        );
        let started = Instant::now();
        let answer = self.inner.call(call).await;
        let status = match &answer {
            Ok(answer) => Some(answer.status),
            Err(error) => error.status(),
        };
        let status = status.map_or("none".to_owned(), |status| status.as_u16().to_string());
        metrics.api_call(&method, &endpoint, &status, started.elapsed());
        answer
    }

    fn retry(&self) -> Retry {
        self.inner.retry()
    }
}
