//! An adapter put together: configuration, API, target, broker.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use hyperfleet_broker::{Broker, BrokerError, Health, SubscribeOptions, Subscriber};
use hyperfleet_client::header::{HeaderMap, HeaderName, HeaderValue};
use hyperfleet_client::{
    Answer, Auth, Backoff, BuildError, Call, CallError, Client, ClientConfig, Retry, TokenFrom,
};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_transport::{ConnectError, KubernetesConfig, KubernetesTransport, Transport};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::calls::{Api, HttpApi};
use crate::config::{ApiClient, Deployment, KubernetesClient, RetryBackoff};
use crate::metrics::AdapterMetrics;
use crate::pipeline::Engine;
use crate::serve::{ServeOptions, serve};
use crate::task::{Source, Task};

/// What an adapter is made of.
pub struct Parts {
    /// Who it is and what it talks to.
    pub deployment: Deployment,
    /// What it does.
    pub task: Task,
    /// Where events come from.
    pub broker: Broker,
    /// What is counted, if anything is.
    pub metrics: Option<Metrics>,
    /// The environment, of which the task sees what it names.
    pub environment: BTreeMap<String, String>,
}

/// Why an adapter does not run.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// A value is missing or cannot be used.
    #[error("adapter `{adapter}`: {message}")]
    Invalid {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        message: String,
    },
    /// The API's address cannot be used.
    #[error("adapter `{adapter}`: clients.hyperfleet_api: {source}")]
    Api {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        source: BuildError,
    },
    /// Kubernetes does not answer.
    #[error("adapter `{adapter}`: {source}")]
    Kubernetes {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        source: Box<ConnectError>,
    },
    /// The broker does not let us subscribe.
    #[error("adapter `{adapter}`: {source}")]
    Broker {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        source: BrokerError,
    },
    /// The metrics are registered already.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}

/// A subscribed adapter: events published from now on reach it.
pub struct Adapter {
    engine: Arc<Engine>,
    subscriber: Box<dyn Subscriber>,
    options: ServeOptions,
}

/// Deliveries held per run: some of them wait for a resource that is being worked on.
const HELD_PER_RUN: usize = 4;

impl Adapter {
    /// Connects to everything. Returns once Kubernetes has answered and the subscription exists;
    /// the API is contacted only when an event needs it.
    pub async fn connect(parts: Parts) -> Result<Self, AdapterError> {
        let adapter = parts.deployment.adapter.name.clone();
        let kubernetes = kubernetes(&parts.deployment.clients.kubernetes, &adapter);
        let transport = KubernetesTransport::connect(kubernetes)
            .await
            .map_err(|source| AdapterError::Kubernetes {
                adapter,
                source: Box::new(source),
            })?;
        Self::with_transport(parts, Arc::new(transport)).await
    }

    /// As [`connect`](Self::connect), with a target of the caller's.
    pub async fn with_transport(
        parts: Parts,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, AdapterError> {
        let deployment = parts.deployment;
        let adapter = deployment.adapter.name.clone();
        let invalid = |message: String| AdapterError::Invalid {
            adapter: adapter.clone(),
            message,
        };
        let env = environment(&parts.task, &parts.environment).map_err(invalid)?;
        let client = &deployment.clients.hyperfleet_api;
        let api = api(client).map_err(|message| invalid(message.to_owned()))?;
        let retry = api.retry;
        let api = Client::new(api).map_err(|source| AdapterError::Api {
            adapter: adapter.clone(),
            source,
        })?;
        let metrics = match &parts.metrics {
            Some(metrics) => Some(AdapterMetrics::new(metrics, &adapter)?),
            None => None,
        };
        let config =
            serde_json::to_value(&deployment).map_err(|error| invalid(error.to_string()))?;
        if deployment.debug_config {
            tracing::info!(adapter, %config, "effective configuration");
        }
        let options = ServeOptions {
            max_concurrency: deployment.message_broker.max_concurrency.max(1),
            event_timeout: deployment.message_broker.event_timeout.get(),
            ..ServeOptions::default()
        };
        let broker = &deployment.clients.broker;
        for (key, value) in [
            ("topic", &broker.topic),
            ("subscription_id", &broker.subscription_id),
        ] {
            if value.is_empty() {
                return Err(invalid(format!("clients.broker.{key} is missing")));
            }
        }
        let subscribe = SubscribeOptions {
            concurrency: options.max_concurrency * HELD_PER_RUN,
            drain_timeout: options.drain_timeout,
            ..SubscribeOptions::default()
        };
        let subscriber = parts
            .broker
            .subscribe(&broker.topic, &broker.subscription_id, subscribe)
            .await
            .map_err(|source| AdapterError::Broker {
                adapter: adapter.clone(),
                source,
            })?;
        let api = Metered {
            inner: HttpApi::new(api, retry),
            metrics: metrics.clone(),
        };
        Ok(Self {
            engine: Arc::new(Engine {
                task: Arc::new(parts.task),
                identity: deployment.adapter.clone(),
                config: Arc::new(config),
                env,
                api: Arc::new(api),
                transport,
                metrics,
            }),
            subscriber,
            options,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.engine.identity.name
    }

    /// Whether events can arrive now.
    pub fn health(&self) -> Health {
        self.subscriber.health()
    }

    /// Handles events until `stop`, then finishes what runs.
    pub async fn run(mut self, stop: CancellationToken) {
        tracing::info!(
            adapter = self.name(),
            max_concurrency = self.options.max_concurrency,
            "adapter runs"
        );
        serve(self.engine, self.subscriber.as_mut(), self.options, stop).await;
    }
}

/// Only what the task names. A variable a required parameter needs must be there from the start.
fn environment(
    task: &Task,
    all: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    for param in &task.params {
        if let Source::Env(name) = &param.source
            && param.required
            && all.get(name).is_none_or(String::is_empty)
        {
            let param = &param.name;
            return Err(format!(
                "the environment variable {name}, which parameter `{param}` requires, is not set"
            ));
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

fn api(client: &ApiClient) -> Result<ClientConfig, &'static str> {
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
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) else {
            return Err("clients.hyperfleet_api.default_headers has one that cannot be sent");
        };
        headers.insert(name, value);
    }
    config.default_headers = headers;
    let auth = &client.auth;
    config.auth = (!auth.token_path.is_empty()).then(|| Auth {
        token: TokenFrom::File((&auth.token_path).into()),
        cache_ttl: auth.token_cache_ttl.get(),
    });
    Ok(config)
}

/// Counts calls.
struct Metered {
    inner: HttpApi,
    metrics: Option<AdapterMetrics>,
}

#[async_trait]
impl Api for Metered {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let method = call.method.to_string();
        let started = Instant::now();
        let answer = self.inner.call(call).await;
        if let Some(metrics) = &self.metrics {
            let status = match &answer {
                Ok(answer) => answer.status.as_u16().to_string(),
                Err(error) => error
                    .status()
                    .map_or_else(|| "none".to_owned(), |status| status.as_u16().to_string()),
            };
            metrics.api_request(&method, &status, started.elapsed());
        }
        answer
    }

    fn retry(&self) -> Retry {
        self.inner.retry()
    }
}

/// The process' environment, as far as it is text.
pub fn process_environment() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Shown by `/config` and `config print`.
impl Adapter {
    /// The effective configuration, without secrets.
    pub fn config(&self) -> &Json {
        &self.engine.config
    }
}
