//! The broker inside this process: no server, the same semantics.
//!
//! Messages are kept encoded and shared between subscriptions, so what a consumer reads went
//! through the same writing and reading as on a real broker.

mod publisher;
mod queue;
mod subscriber;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::publisher::MemoryPublisher;
use self::queue::Queue;
use self::subscriber::MemorySubscriber;
use crate::broker::{Backend, BrokerError};
use crate::config::MemoryConfig;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::delivery::DeliveryRules;
use crate::metrics::Metrics;
use crate::publish::{PublishError, Publisher};
use crate::subscribe::{SubscribeOptions, Subscriber};
use crate::unroutable::Unroutable;

/// An in-process broker. Clones are the same broker; it ends with the last of them.
#[derive(Clone)]
pub struct MemoryBroker {
    hub: Arc<Hub>,
}

/// Topic → subscription → queue. A queue, once made, stays: a consumer that restarts finds
/// everything that came meanwhile.
struct Hub {
    config: MemoryConfig,
    metrics: Metrics,
    unroutable: Unroutable,
    topics: Mutex<BTreeMap<String, BTreeMap<String, Arc<Queue>>>>,
    closed: CancellationToken,
}

impl MemoryBroker {
    /// An empty broker.
    pub fn new(config: MemoryConfig, metrics: Metrics) -> Self {
        Self {
            hub: Arc::new(Hub {
                config,
                metrics,
                unroutable: Unroutable::default(),
                topics: Mutex::default(),
                closed: CancellationToken::new(),
            }),
        }
    }

    /// Puts a message into every subscription of the topic as a foreign producer would have:
    /// unchecked, so that it need not be an event.
    pub async fn publish_raw(&self, topic: &str, body: &[u8]) -> Result<(), PublishError> {
        self.hub.deliver(topic, body.into(), &self.hub.closed).await
    }

    fn queue(&self, topic: &str, subscription: &str) -> Result<Arc<Queue>, BrokerError> {
        self.hub
            .topics()
            .get(topic)
            .and_then(|subscriptions| subscriptions.get(subscription))
            .cloned()
            .ok_or_else(|| BrokerError::NoSubscription {
                topic: topic.to_owned(),
                subscription: subscription.to_owned(),
            })
    }
}

impl Hub {
    fn topics(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, Arc<Queue>>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Backend for MemoryBroker {
    fn publisher(&self) -> Arc<dyn Publisher> {
        Arc::new(MemoryPublisher::new(Arc::clone(&self.hub)))
    }

    async fn subscribe(
        &self,
        topic: &str,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Result<Box<dyn Subscriber>, BrokerError> {
        if self.hub.closed.is_cancelled() {
            return Err(BrokerError::Closed);
        }
        let queue = Arc::clone(
            self.hub
                .topics()
                .entry(topic.to_owned())
                .or_default()
                .entry(subscription.to_owned())
                .or_insert_with(|| Arc::new(Queue::new(topic, subscription, &self.hub.config))),
        );
        let rules = DeliveryRules {
            max_deliveries: options.max_deliveries,
            metrics: Arc::new(self.hub.metrics.for_subscription(topic, subscription)),
        };
        let closed = self.hub.closed.child_token();
        Ok(Box::new(MemorySubscriber::new(
            queue, rules, &options, closed,
        )))
    }

    async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError> {
        Ok(self.queue(topic, subscription)?.dead_letters(limit))
    }

    async fn clear_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> Result<usize, BrokerError> {
        let queue = self.queue(topic, subscription)?;
        Ok(queue.clear_dead_letters(selection, fate, progress))
    }

    async fn close(&self) {
        self.hub.closed.cancel();
    }
}
