//! A subscriber's connection: what is declared on it, and what comes out of it.

use std::sync::Arc;
use std::time::Duration;

use lapin::options::{
    BasicCancelOptions, BasicConsumeOptions, BasicQosOptions, ExchangeDeclareOptions,
    QueueBindOptions, QueueDeclareOptions,
};
use lapin::types::{FieldTable, ShortString};
use lapin::{Channel, Connection, Consumer};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection::{OPEN_TIMEOUT, Server, is_refusal};
use super::link::Link;
use super::mover;
use super::names::{Names, short};
use super::publisher::exchange_kind;
use crate::broker::BrokerError;
use crate::config::RabbitMqConfig;

/// For the last words on a connection that may be dead already.
const FAREWELL: Duration = Duration::from_secs(2);

/// What a subscriber needs to connect, every time.
pub(super) struct Plan {
    pub(super) server: Server,
    pub(super) config: Arc<RabbitMqConfig>,
    pub(super) names: Arc<Names>,
    pub(super) link: Link,
    pub(super) concurrency: usize,
}

/// A connection with its consumers running.
pub(super) struct Session {
    connection: Connection,
    channel: Channel,
    retry_channel: Channel,
    pub(super) messages: Consumer,
    pub(super) retries: Consumer,
    /// Cancelled when the connection is gone: what came over it cannot be settled any more.
    pub(super) lost: CancellationToken,
}

impl Plan {
    /// Messages the server sends ahead.
    pub(super) fn prefetch(&self) -> u16 {
        match self.config.prefetch_count {
            0 => u16::try_from(self.concurrency).unwrap_or(u16::MAX),
            count => count,
        }
    }

    fn error(&self, error: lapin::Error) -> BrokerError {
        let Names {
            topic,
            subscription,
            ..
        } = self.names.as_ref();
        let action = format!("subscribe `{subscription}` to topic `{topic}`");
        let reason = error.to_string();
        match is_refusal(&error) {
            true => BrokerError::Refused { action, reason },
            false => BrokerError::Disconnected { action, reason },
        }
    }
}

impl Session {
    pub(super) async fn open(plan: &Plan) -> Result<Self, BrokerError> {
        let name = format!("hyperfleet-subscriber {}", plan.names.queue);
        let connection = plan.server.connect(&name).await;
        let connection = connection.map_err(|reason| BrokerError::Disconnected {
            action: format!("subscribe to topic `{}`", plan.names.topic),
            reason,
        })?;
        let tag = short(plan.config.consumer_tag.as_deref().unwrap_or_default())?;
        let routing_key = short(&plan.config.routing_key)?;
        let opening = async {
            let channel = connection.create_channel().await?;
            declare(&channel, plan, routing_key).await?;
            let messages = consume(&channel, &plan.names.queue, plan.prefetch(), tag).await?;
            let retry_channel = connection.create_channel().await?;
            let none = ShortString::default();
            let retries = consume(&retry_channel, &plan.names.retry, mover::WINDOW, none).await?;
            Ok((channel, retry_channel, messages, retries))
        };
        let opened = timeout(OPEN_TIMEOUT, opening).await;
        let opened = opened.map_err(|_| BrokerError::Disconnected {
            action: format!("subscribe to topic `{}`", plan.names.topic),
            reason: format!("no answer within {OPEN_TIMEOUT:?}"),
        })?;
        let (channel, retry_channel, messages, retries) =
            opened.map_err(|error: lapin::Error| plan.error(error))?;
        Ok(Self {
            connection,
            channel,
            retry_channel,
            messages,
            retries,
            lost: CancellationToken::new(),
        })
    }

    /// Stops the flow of messages; those here already can still be settled.
    pub(super) async fn stop_pulling(&self) -> Result<(), String> {
        let cancelling = async {
            for (channel, consumer) in [
                (&self.channel, &self.messages),
                (&self.retry_channel, &self.retries),
            ] {
                let options = BasicCancelOptions::default();
                channel.basic_cancel(consumer.tag(), options).await?;
            }
            Ok::<_, lapin::Error>(())
        };
        match timeout(FAREWELL, cancelling).await {
            Ok(cancelled) => cancelled.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no answer within {FAREWELL:?}")),
        }
    }

    /// Ends the connection, on which the server takes back everything unsettled.
    pub(super) async fn close(self) {
        self.lost.cancel();
        let closing = self.connection.close(200, "closed".into());
        match timeout(FAREWELL, closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "closing a subscriber's connection"),
            Err(_) => tracing::debug!("no answer to closing a subscriber's connection"),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.lost.cancel();
    }
}

async fn declare(
    channel: &Channel,
    plan: &Plan,
    routing_key: ShortString,
) -> Result<(), lapin::Error> {
    let names = plan.names.as_ref();
    let exchange = ExchangeDeclareOptions {
        durable: true,
        ..ExchangeDeclareOptions::default()
    };
    let kind = exchange_kind(plan.config.exchange_type);
    let none = FieldTable::default;
    channel
        .exchange_declare(names.exchange.clone(), kind, exchange, none())
        .await?;
    for queue in [&names.queue, &names.retry, &names.dead] {
        let options = QueueDeclareOptions::durable();
        channel
            .queue_declare(queue.clone(), options, none())
            .await?;
    }
    // The empty key is the one Go publishers use; a configured one comes on top.
    for key in [ShortString::default(), routing_key] {
        let (queue, exchange) = (names.queue.clone(), names.exchange.clone());
        let options = QueueBindOptions::default();
        channel
            .queue_bind(queue, exchange, key, options, none())
            .await?;
    }
    Ok(())
}

async fn consume(
    channel: &Channel,
    queue: &ShortString,
    prefetch: u16,
    tag: ShortString,
) -> Result<Consumer, lapin::Error> {
    channel
        .basic_qos(prefetch, BasicQosOptions::default())
        .await?;
    let options = BasicConsumeOptions::default();
    channel
        .basic_consume(queue.clone(), tag, options, FieldTable::default())
        .await
}
