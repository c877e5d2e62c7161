//! The names of a subscription's exchange and queues.

use lapin::types::ShortString;

use crate::broker::BrokerError;
use crate::config::RabbitMqConfig;

pub(super) struct Names {
    pub(super) topic: String,
    pub(super) subscription: String,
    pub(super) exchange: ShortString,
    /// The queue shared with Go consumers.
    pub(super) queue: ShortString,
    /// Ours alone: messages waiting for their delay to pass.
    pub(super) retry: ShortString,
    /// Ours alone: messages given up on.
    pub(super) dead: ShortString,
}

impl Names {
    pub(super) fn new(
        config: &RabbitMqConfig,
        topic: &str,
        subscription: &str,
    ) -> Result<Self, BrokerError> {
        let queue = config.queue_of(topic, subscription);
        Ok(Self {
            topic: topic.to_owned(),
            subscription: subscription.to_owned(),
            exchange: short(config.exchange_of(topic))?,
            retry: short(&format!("{queue}.retry"))?,
            dead: short(&format!("{queue}.dead"))?,
            queue: short(&queue)?,
        })
    }
}

/// AMQP names have at most 255 bytes.
pub(super) fn short(name: &str) -> Result<ShortString, BrokerError> {
    ShortString::try_new(name).map_err(|_| BrokerError::Refused {
        action: "use a name of RabbitMQ".to_owned(),
        reason: format!("`{name}` is longer than 255 bytes"),
    })
}
