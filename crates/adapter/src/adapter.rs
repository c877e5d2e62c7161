//! An adapter put together: an engine that takes its events from a broker.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyperfleet_broker::{Broker, BrokerError, Health, SubscribeOptions, Subscriber};
use hyperfleet_runtime::metrics::Metrics;
use hyperfleet_transport::Transport;
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::config::Deployment;
use crate::connect::EngineError;
use crate::pipeline::Engine;
use crate::serve::{ServeOptions, serve};
use crate::task::Task;

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
    /// It cannot be put together.
    #[error("adapter `{adapter}`: {source}")]
    Engine {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        source: EngineError,
    },
    /// The broker does not let us subscribe.
    #[error("adapter `{adapter}`: {source}")]
    Broker {
        /// Which adapter.
        adapter: String,
        /// What is wrong.
        source: BrokerError,
    },
}

/// A subscribed adapter: events published from now on reach it.
pub struct Adapter {
    engine: Arc<Engine>,
    subscriber: Box<dyn Subscriber>,
    options: ServeOptions,
}

/// How many resources may wait here for their turn, each with its newest event. As long as there is room, a queue of
/// events about the same resources costs no more than one look at each.
const WAITING: usize = 500;

impl Adapter {
    /// Connects to everything. Returns once Kubernetes has answered and the subscription exists.
    pub async fn connect(parts: Parts) -> Result<Self, AdapterError> {
        let Parts {
            deployment,
            task,
            broker,
            metrics,
            environment,
        } = parts;
        let engine = Engine::connect(&deployment, task, &environment, metrics.as_ref()).await;
        Self::subscribe(&deployment, engine, &broker).await
    }

    /// As [`connect`](Self::connect), with a target of the caller's.
    pub async fn with_transport(
        parts: Parts,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, AdapterError> {
        let (deployment, environment) = (&parts.deployment, &parts.environment);
        let metrics = parts.metrics.as_ref();
        let engine =
            Engine::with_transport(deployment, parts.task, environment, metrics, transport);
        Self::subscribe(deployment, engine, &parts.broker).await
    }

    async fn subscribe(
        deployment: &Deployment,
        engine: Result<Engine, EngineError>,
        broker: &Broker,
    ) -> Result<Self, AdapterError> {
        let adapter = &deployment.adapter.name;
        let failed = |source: EngineError| AdapterError::Engine {
            adapter: adapter.clone(),
            source,
        };
        let engine = engine.map_err(failed)?;
        let options = ServeOptions {
            max_concurrency: deployment.message_broker.max_concurrency.max(1),
            event_timeout: deployment.message_broker.event_timeout.get(),
            ..ServeOptions::default()
        };
        let client = &deployment.clients.broker;
        for (key, value) in [
            ("topic", &client.topic),
            ("subscription_id", &client.subscription_id),
        ] {
            if value.is_empty() {
                let message = format!("clients.broker.{key} is missing");
                return Err(failed(EngineError::Invalid(message)));
            }
        }
        let subscribe = SubscribeOptions {
            concurrency: options.max_concurrency + WAITING,
            drain_timeout: options.drain_timeout,
            ..SubscribeOptions::default()
        };
        let subscriber = broker
            .subscribe(&client.topic, &client.subscription_id, subscribe)
            .await
            .map_err(|source| AdapterError::Broker {
                adapter: adapter.clone(),
                source,
            })?;
        Ok(Self {
            engine: Arc::new(engine),
            subscriber,
            options,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.engine.identity.name
    }

    /// The effective configuration, without secrets.
    pub fn config(&self) -> &Json {
        &self.engine.config
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

/// The process' environment, as far as it is text.
pub fn process_environment() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
