//! The `broker.rabbitmq` section.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AmqpUrl, ConfigError};

/// Settings of RabbitMQ, with the names of the Go library's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RabbitMqConfig {
    /// `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS.
    pub url: AmqpUrl,
    /// Exchange to publish to and bind to; the topic's name when unset. With a fixed exchange
    /// every queue bound to it receives the events of every topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<String>,
    /// Type of the exchange; all components of one exchange must agree on it.
    #[serde(default)]
    pub exchange_type: ExchangeType,
    /// First half of the queue's name, `{queue}-{subscription}`; the topic's name when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Whole name of the queue, instead of the one built from `queue` and the subscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_name: Option<String>,
    /// Routing key of published events. Our subscribers bind with it and with the empty key; Go
    /// subscribers bind with the empty key alone and miss events published with another.
    #[serde(default)]
    pub routing_key: String,
    /// Messages the server sends ahead of their settlement; 0 stands for the concurrency of the
    /// subscriber.
    #[serde(default)]
    pub prefetch_count: u16,
    /// Always 0: RabbitMQ has no prefetch by size. Accepted because files written for the Go
    /// library carry it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub prefetch_size: u32,
    /// Name of the consumer as the server shows it; generated when unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_tag: Option<String>,
    /// Wait for the server to take responsibility for an event before it counts as published.
    /// Without it a lost connection loses events unseen. (The Go library has this off.)
    #[serde(default = "on")]
    pub publisher_confirm: bool,
}

/// How an exchange routes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeType {
    /// To every bound queue.
    #[default]
    Fanout,
    /// By pattern of the routing key.
    Topic,
    /// By equal routing key.
    Direct,
    /// By headers; a queue bound without any receives everything.
    Headers,
}

impl RabbitMqConfig {
    /// The defaults, at `url`.
    pub fn new(url: AmqpUrl) -> Self {
        Self {
            url,
            exchange: None,
            exchange_type: ExchangeType::default(),
            queue: None,
            queue_name: None,
            routing_key: String::new(),
            prefetch_count: 0,
            prefetch_size: 0,
            consumer_tag: None,
            publisher_confirm: true,
        }
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.prefetch_size != 0 {
            return Err(ConfigError::invalid(
                "broker.rabbitmq.prefetch_size",
                "RabbitMQ supports only 0; bound the messages by `prefetch_count`",
            ));
        }
        for (key, value) in [
            ("exchange", &self.exchange),
            ("queue", &self.queue),
            ("queue_name", &self.queue_name),
            ("consumer_tag", &self.consumer_tag),
        ] {
            if value.as_ref().is_some_and(String::is_empty) {
                return Err(ConfigError::invalid(
                    format!("broker.rabbitmq.{key}"),
                    "is empty; leave it out for the default",
                ));
            }
        }
        Ok(())
    }

    /// The exchange of a topic.
    pub fn exchange_of<'a>(&'a self, topic: &'a str) -> &'a str {
        self.exchange.as_deref().unwrap_or(topic)
    }

    /// The queue of a subscription.
    pub fn queue_of(&self, topic: &str, subscription: &str) -> String {
        match &self.queue_name {
            Some(name) => name.clone(),
            None => format!("{}-{subscription}", self.queue.as_deref().unwrap_or(topic)),
        }
    }
}

fn on() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
