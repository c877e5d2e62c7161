//! Publishing events.

use std::sync::Arc;

use async_trait::async_trait;
use lapin::ExchangeKind;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::link::{Link, LinkError, Outcome, Outgoing, Wait};
use super::message;
use super::names::short;
use crate::config::{ExchangeType, RabbitMqConfig};
use crate::event::Event;
use crate::headers::Headers;
use crate::metrics::Metrics;
use crate::publish::{PublishError, Publisher};
use crate::unroutable::Unroutable;

pub(super) struct RabbitMqPublisher {
    config: Arc<RabbitMqConfig>,
    link: Link,
    metrics: Metrics,
    unroutable: Unroutable,
    closed: CancellationToken,
    under_way: TaskTracker,
}

impl RabbitMqPublisher {
    pub(super) fn new(config: Arc<RabbitMqConfig>, link: Link, metrics: Metrics) -> Self {
        Self {
            config,
            link,
            metrics,
            unroutable: Unroutable::default(),
            closed: CancellationToken::new(),
            under_way: TaskTracker::new(),
        }
    }

    async fn send(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        if self.closed.is_cancelled() {
            return Err(PublishError::Closed);
        }
        let body = event.encode().map_err(|source| PublishError::Event {
            topic: topic.to_owned(),
            id: event.id.clone(),
            source,
        })?;
        let message = self.outgoing(topic, event, body)?;
        let wait = match self.config.publisher_confirm {
            true => Wait::Confirmed,
            false => Wait::Written,
        };
        let kind = exchange_kind(self.config.exchange_type);
        match self.link.publish(kind, message, wait).await {
            Ok(Outcome::Taken) => Ok(()),
            Ok(Outcome::Unroutable { exchange }) => {
                // With a fixed exchange nobody knows which topic the returned event was for.
                let topic = match &self.config.exchange {
                    Some(_) => topic,
                    None => &exchange,
                };
                self.unroutable.dropped(topic, &self.metrics);
                Ok(())
            }
            Err(error) => Err(publish_error(topic, error)),
        }
    }

    fn outgoing(
        &self,
        topic: &str,
        event: &Event,
        body: Vec<u8>,
    ) -> Result<Outgoing, PublishError> {
        let name = |name: &str| match name.is_empty() {
            // The default exchange would take it and route it nowhere.
            true => Err(refused(topic, "the topic is empty".to_owned())),
            false => short(name).map_err(|e| refused(topic, e.to_string())),
        };
        let routing_key = short(&self.config.routing_key);
        Ok(Outgoing {
            exchange: name(self.config.exchange_of(topic))?,
            routing_key: routing_key.map_err(|e| refused(topic, e.to_string()))?,
            body,
            properties: message::properties(Headers::of_event(&event.id)),
        })
    }
}

#[async_trait]
impl Publisher for RabbitMqPublisher {
    async fn publish(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        let _under_way = self.under_way.token();
        let result = self.send(topic, event).await;
        match &result {
            Ok(()) => self.metrics.published(topic),
            Err(_) => self.metrics.publish_failed(topic),
        }
        result
    }

    async fn health(&self) -> Result<(), String> {
        match self.closed.is_cancelled() {
            true => Err("closed".to_owned()),
            false => self.link.health(),
        }
    }

    async fn close(&self) {
        self.closed.cancel();
        self.under_way.close();
        self.under_way.wait().await;
    }
}

pub(super) fn exchange_kind(kind: ExchangeType) -> ExchangeKind {
    match kind {
        ExchangeType::Fanout => ExchangeKind::Fanout,
        ExchangeType::Topic => ExchangeKind::Topic,
        ExchangeType::Direct => ExchangeKind::Direct,
        ExchangeType::Headers => ExchangeKind::Headers,
    }
}

fn refused(topic: &str, reason: String) -> PublishError {
    PublishError::Refused {
        topic: topic.to_owned(),
        reason,
    }
}

fn publish_error(topic: &str, error: LinkError) -> PublishError {
    let topic = topic.to_owned();
    match error {
        LinkError::Disconnected(reason) => PublishError::Disconnected { topic, reason },
        LinkError::Unconfirmed(reason) | LinkError::Rejected(reason) => {
            PublishError::Unconfirmed { topic, reason }
        }
        LinkError::Refused(reason) => PublishError::Refused { topic, reason },
        LinkError::Closed => PublishError::Closed,
    }
}
