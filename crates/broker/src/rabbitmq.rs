//! RabbitMQ, in a way Go consumers and producers on the same exchange and queues can live with.
//!
//! ```text
//!              exchange {topic}                        all queues durable, none with arguments
//!  publish ──────────┬───────────► {topic}-{sub} ────────► Subscriber::next ─► Delivery
//!  (confirmed,       └─► …              ▲   ▲                                   │
//!   mandatory)                          │   └── nack without delay ─────────────┤
//!                     due: put back ────┤                                       │
//!                                       │                                       │
//!            mover ◄── {topic}-{sub}.retry ◄── nack with delay ─────────────────┤
//!                                       ▲                                       │
//!                                       └── replay ── {topic}-{sub}.dead ◄──────┘ dead letter
//! ```
//!
//! Moving a message is always: publish the copy, wait for the confirmation, then ack the original.
//! A process killed in between leaves two copies, never none.
//!
//! The delay is kept by our own consumers, not by the server: they hold messages of the retry queue
//! unacknowledged until they are due. A TTL with a dead-letter exchange would do it without a
//! consumer, but stamps `x-death`, a header that is no string, on every message it moves, and Go
//! consumers refuse such messages for ever.
//!
//! A classic queue does not count deliveries, so the count travels in the header
//! `hyperfleet-attempt` of each copy, and each copy is handed out once. A message returned by a
//! killed consumer is only marked as redelivered: it is replaced by a copy that counts one more
//! before anybody sees it.

mod connection;
mod dead_letters;
mod link;
mod message;
mod mover;
mod names;
mod publisher;
mod session;
mod settle;
mod subscriber;

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::connection::Server;
use self::link::Link;
use self::names::Names;
use self::publisher::RabbitMqPublisher;
use self::subscriber::RabbitMqSubscriber;
use crate::broker::{Backend, BrokerError};
use crate::config::RabbitMqConfig;
use crate::dead_letter::{DeadLetter, Fate, Progress, Selection};
use crate::delivery::DeliveryRules;
use crate::metrics::Metrics;
use crate::publish::Publisher;
use crate::subscribe::{SubscribeOptions, Subscriber};

/// One publishing connection for all, and one more for each subscriber: a server short of memory
/// stops reading from connections that publish, and acks must still get through.
pub(crate) struct RabbitMqBroker {
    config: Arc<RabbitMqConfig>,
    server: Server,
    link: Link,
    metrics: Metrics,
    closed: CancellationToken,
}

impl RabbitMqBroker {
    pub(crate) async fn connect(
        config: RabbitMqConfig,
        metrics: Metrics,
    ) -> Result<Self, BrokerError> {
        let server = Server::new(&config.url)?;
        let link = Link::start(server.clone()).await;
        Ok(Self {
            config: Arc::new(config),
            server,
            link,
            metrics,
            closed: CancellationToken::new(),
        })
    }

    fn names(&self, topic: &str, subscription: &str) -> Result<Names, BrokerError> {
        Names::new(&self.config, topic, subscription)
    }
}

#[async_trait]
impl Backend for RabbitMqBroker {
    fn publisher(&self) -> Arc<dyn Publisher> {
        Arc::new(RabbitMqPublisher::new(
            Arc::clone(&self.config),
            self.link.clone(),
            self.metrics.clone(),
        ))
    }

    async fn subscribe(
        &self,
        topic: &str,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Result<Box<dyn Subscriber>, BrokerError> {
        let rules = DeliveryRules {
            max_deliveries: options.max_deliveries,
            metrics: Arc::new(self.metrics.for_subscription(topic, subscription)),
        };
        let plan = session::Plan {
            server: self.server.clone(),
            config: Arc::clone(&self.config),
            names: Arc::new(self.names(topic, subscription)?),
            link: self.link.clone(),
            concurrency: options.concurrency,
        };
        let closed = self.closed.child_token();
        let subscriber = RabbitMqSubscriber::start(plan, rules, &options, closed).await?;
        Ok(Box::new(subscriber))
    }

    async fn list_dead_letters(
        &self,
        topic: &str,
        subscription: &str,
        limit: usize,
    ) -> Result<Vec<DeadLetter>, BrokerError> {
        let names = self.names(topic, subscription)?;
        dead_letters::list(&self.link, &names, limit).await
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
        dead_letters::clear(&self.link, &names, selection, fate, progress).await
    }

    async fn close(&self) {
        self.closed.cancel();
        self.link.close().await;
    }
}
