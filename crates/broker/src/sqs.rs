//! AWS: an SNS topic that fans out to SQS queues, or one plain queue.
//!
//! ```text
//!                 SNS topic              raw message delivery
//!  publish ───────────┬───────────► {topic}-{sub} ◄───────────────► Subscriber::next ─► Delivery
//!                     └─► …              │      received: hidden, extended while in work   │
//!                                        │                                                 │
//!                                        │   ack: deleted   nack: hidden for the delay ────┤
//!                                        ▼ redrive policy, the safety net                  │
//!                              {topic}-{sub}-dead ◄───── dead letter: sent, then deleted ──┘
//! ```
//!
//! SQS counts the deliveries itself and hides a message for up to twelve hours, so neither copies
//! nor a queue for delays are needed. Delays are whole seconds, rounded up.
//!
//! Names of AWS have no dots: whatever is neither letter, digit, `-` nor `_` becomes `-`.

mod attributes;
mod client;
mod dead_letters;
mod lease;
mod names;
mod places;
mod publisher;
mod settle;
mod subscriber;

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::client::Aws;
use self::names::Names;
use self::places::Places;
use self::publisher::SqsPublisher;
use self::subscriber::SqsSubscriber;
use crate::broker::{Backend, BrokerError};
use crate::config::SqsConfig;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::delivery::DeliveryRules;
use crate::metrics::Metrics;
use crate::publish::Publisher;
use crate::subscribe::{SubscribeOptions, Subscriber};

pub(crate) struct SqsBroker {
    places: Arc<Places>,
    metrics: Metrics,
    closed: CancellationToken,
}

impl SqsBroker {
    pub(crate) async fn connect(config: SqsConfig, metrics: Metrics) -> Result<Self, BrokerError> {
        let aws = Aws::connect(&config).await?;
        Ok(Self {
            places: Arc::new(Places::new(aws, config)),
            metrics,
            closed: CancellationToken::new(),
        })
    }

    fn names(&self, topic: &str, subscription: &str) -> Result<Names, BrokerError> {
        Names::new(self.places.config(), topic, subscription)
    }
}

#[async_trait]
impl Backend for SqsBroker {
    fn publisher(&self) -> Arc<dyn Publisher> {
        Arc::new(SqsPublisher::new(
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
        let names = self.names(topic, subscription)?;
        let closed = self.closed.child_token();
        let places = Arc::clone(&self.places);
        let subscriber = SqsSubscriber::start(places, &names, rules, &options, closed).await?;
        Ok(Box::new(subscriber))
    }

    async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError> {
        let names = self.names(topic, subscription)?;
        dead_letters::list(&self.places, &names, limit).await
    }

    async fn clear_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        selection: &Selection,
        fate: Fate,
        progress: Progress<'_>,
    ) -> Result<usize, BrokerError> {
        let names = self.names(topic, subscription)?;
        dead_letters::clear(&self.places, &names, selection, fate, progress).await
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}
