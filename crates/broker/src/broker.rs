//! The one handle callers hold, whichever broker is behind it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::config::{BrokerConfig, BrokerType, ConfigError};
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::memory::MemoryBroker;
use crate::metrics::Metrics;
use crate::publish::Publisher;
use crate::subscribe::{SubscribeOptions, Subscriber};

/// A connected broker. Clones are the same broker, so in one process the memory broker of a
/// publisher is that of a subscriber.
#[derive(Clone)]
pub struct Broker {
    kind: BrokerType,
    backend: Arc<dyn Backend>,
}

/// Why a broker cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// The configuration cannot be used.
    #[error("broker configuration: {0}")]
    Config(#[from] ConfigError),
    /// The broker cannot be reached.
    #[error("cannot {action}: broker is not reachable: {reason}")]
    Disconnected {
        /// What was being done.
        action: String,
        /// Why.
        reason: String,
    },
    /// The broker refuses; a person must change the configuration of either side.
    #[error("cannot {action}: {reason}")]
    Refused {
        /// What was being done.
        action: String,
        /// What the broker says.
        reason: String,
    },
    /// There is no such subscription.
    #[error("topic `{topic}` has no subscription `{subscription}`")]
    NoSubscription {
        /// The topic.
        topic: String,
        /// The subscription.
        subscription: String,
    },
    /// The broker was closed.
    #[error("broker is closed")]
    Closed,
}

/// What a broker must offer; one implementation per [`BrokerType`].
#[async_trait]
pub(crate) trait Backend: Send + Sync {
    fn publisher(&self) -> Arc<dyn Publisher>;

    /// Returns once the subscription exists: events published from then on reach it.
    async fn subscribe(
        &self,
        topic: &str,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Result<Box<dyn Subscriber>, BrokerError>;

    async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError>;

    /// A replayed letter is removed only when its message is safely back.
    async fn clear_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> Result<usize, BrokerError>;

    async fn close(&self);
}

impl Broker {
    /// Connects as configured.
    ///
    /// Fails only for a configuration that can never work. A server that cannot be reached is
    /// tried again in the background; [`Publisher::health`] tells.
    pub async fn connect(config: &BrokerConfig, metrics: Metrics) -> Result<Self, BrokerError> {
        config.validate()?;
        for key in config.without_effect() {
            tracing::warn!(key, "key in the broker configuration has no effect");
        }
        if config.log_config {
            tracing::info!(config = ?config, "broker configuration");
        }
        let backend: Arc<dyn Backend> = match config.kind {
            BrokerType::Memory => Arc::new(MemoryBroker::new(config.memory.clone(), metrics)),
            #[cfg(feature = "rabbitmq")]
            BrokerType::RabbitMq => {
                let settings = config.require_rabbitmq()?.clone();
                Arc::new(crate::rabbitmq::RabbitMqBroker::connect(settings, metrics).await?)
            }
            #[cfg(feature = "pubsub")]
            BrokerType::PubSub => {
                let settings = config.require_pubsub()?.clone();
                Arc::new(crate::pubsub::PubSubBroker::connect(settings, metrics).await?)
            }
            #[cfg(feature = "sqs")]
            BrokerType::Sqs => {
                Arc::new(crate::sqs::SqsBroker::connect(config.sqs(), metrics).await?)
            }
            #[cfg(not(all(feature = "rabbitmq", feature = "pubsub", feature = "sqs")))]
            other => return Err(other.missing().into()),
        };
        Ok(Self {
            kind: config.kind,
            backend,
        })
    }

    /// Around an in-process broker the caller keeps hold of, e.g. to put foreign messages in.
    pub fn from_memory(memory: MemoryBroker) -> Self {
        Self {
            kind: BrokerType::Memory,
            backend: Arc::new(memory),
        }
    }

    /// Which broker it is.
    pub fn kind(&self) -> BrokerType {
        self.kind
    }

    /// A publisher of its own: closing it leaves the others open.
    pub fn publisher(&self) -> Arc<dyn Publisher> {
        self.backend.publisher()
    }

    /// Adds a consumer to a subscription, which is created where it does not exist.
    ///
    /// Returns once the subscription exists, waiting for a server that cannot be reached: events
    /// published from then on reach it, whether or not a consumer is there.
    pub async fn subscribe(
        &self,
        topic: &str,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Result<Box<dyn Subscriber>, BrokerError> {
        check_name("topic", topic)?;
        check_name("subscription", subscription)?;
        let options = SubscribeOptions {
            concurrency: options.concurrency.max(1),
            max_deliveries: options.max_deliveries.max(1),
            ..options
        };
        self.backend.subscribe(topic, subscription, options).await
    }

    /// The oldest dead letters of a subscription. They stay where they are.
    pub async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError> {
        self.backend
            .list_dead_letters(topic, subscription, limit)
            .await
    }

    /// Gives dead letters back to their subscription as new messages, or removes them, and says how
    /// many. Of a replay none is lost on the way; one may be replayed twice when the connection
    /// breaks. Letters that die meanwhile are left alone.
    pub async fn clear_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> Result<usize, BrokerError> {
        self.backend
            .clear_dead_letters(topic, subscription, selection, fate, progress)
            .await
    }

    /// Closes all publishers and subscribers and the connections behind them. Close subscribers
    /// first where their deliveries shall be settled.
    pub async fn close(&self) {
        self.backend.close().await;
    }
}

fn check_name(what: &str, name: &str) -> Result<(), BrokerError> {
    if name.is_empty() {
        return Err(BrokerError::Refused {
            action: "subscribe".to_owned(),
            reason: format!("the {what} is empty"),
        });
    }
    Ok(())
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Broker({})", self.kind)
    }
}
