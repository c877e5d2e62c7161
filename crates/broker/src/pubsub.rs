//! Google Pub/Sub, with the names Go services use.
//!
//! ```text
//!               topic
//!  publish ───────┬──────► subscription {sub} ────────────► Subscriber::next ─► Delivery
//!  (confirmed)    └─► …                           ▲                              │
//!                                                 │ when it is due               │
//!         topic and subscription {sub}-retry ─────┘ ◄──── nack, a counted copy ──┤
//!                                  ▲ replay                                      │
//!         topic and subscription {sub}-dlq ◄──────────── dead letter, a copy ────┘
//! ```
//!
//! A topic belongs to all its subscriptions, so a message meant for one of them alone goes to a
//! topic of that one's own. Moving a message is always: publish the copy, wait for the
//! confirmation, then ack the original. A process killed in between leaves two, never none.
//!
//! Pub/Sub cannot delay one message. Consumers of ours hold messages of the retry subscription
//! until they are due.
//!
//! The server counts deliveries of a subscription that has a dead-letter policy, as those we create
//! do; a copy carries the count on in the attribute `hyperfleet-attempt`.

mod client;
mod dead_letters;
mod names;
mod places;
mod publisher;
mod pull;
mod settle;
mod stream;
mod subscriber;

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::client::Google;
use self::names::Names;
use self::places::Places;
use self::publisher::PubSubPublisher;
use self::subscriber::PubSubSubscriber;
use crate::broker::{Backend, BrokerError};
use crate::config::PubSubConfig;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::delivery::DeliveryRules;
use crate::metrics::Metrics;
use crate::publish::Publisher;
use crate::subscribe::{SubscribeOptions, Subscriber};

pub(crate) struct PubSubBroker {
    places: Arc<Places>,
    metrics: Metrics,
    closed: CancellationToken,
}

impl PubSubBroker {
    pub(crate) async fn connect(
        config: PubSubConfig,
        metrics: Metrics,
    ) -> Result<Self, BrokerError> {
        let google = Google::connect(&config).await?;
        Ok(Self {
            places: Arc::new(Places::new(google, config)),
            metrics,
            closed: CancellationToken::new(),
        })
    }

    fn names(&self, topic: &str, subscription: &str) -> Names {
        Names::new(&self.places.config().project_id, topic, subscription)
    }
}

#[async_trait]
impl Backend for PubSubBroker {
    fn publisher(&self) -> Arc<dyn Publisher> {
        Arc::new(PubSubPublisher::new(
            Arc::clone(&self.places),
            self.metrics.clone(),
            self.closed.child_token(),
        ))
    }

    async fn subscribe(
        &self,
        topic: &str,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Result<Box<dyn Subscriber>, BrokerError> {
        if self.closed.is_cancelled() {
            return Err(BrokerError::Closed);
        }
        let rules = DeliveryRules {
            max_deliveries: options.max_deliveries,
            metrics: Arc::new(self.metrics.for_subscription(topic, subscription)),
        };
        let names = self.names(topic, subscription);
        let closed = self.closed.child_token();
        let places = Arc::clone(&self.places);
        let subscriber = PubSubSubscriber::start(places, names, rules, &options, closed).await?;
        Ok(Box::new(subscriber))
    }

    async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError> {
        dead_letters::list(&self.places, &self.names(topic, subscription), limit).await
    }

    async fn clear_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> Result<usize, BrokerError> {
        let names = self.names(topic, subscription);
        dead_letters::clear(&self.places, &names, selection, fate, progress).await
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}
