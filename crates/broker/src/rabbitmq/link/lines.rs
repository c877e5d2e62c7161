//! The channels of one connection.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::Stream;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, ExchangeDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Confirmation, Connection, Event, ExchangeKind};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::LinkError;
use crate::rabbitmq::connection::{Server, is_refusal};

/// The server confirms within milliseconds; a connection that does not is given up.
const CONFIRM_TIMEOUT: Duration = Duration::from_secs(30);

/// For the farewell of a connection that may be dead already.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct Lines {
    connection: Connection,
    /// Events, many on their way at once.
    events: Channel,
    /// Events nobody wants confirmed.
    unconfirmed: Channel,
    /// Moves, one at a time: lapin hands a returned message to whichever confirmation comes next,
    /// and a move must know that its own copy found a queue.
    moves: tokio::sync::Mutex<Channel>,
    declared: Mutex<HashSet<ShortString>>,
    broken: CancellationToken,
}

/// A message ready to go.
pub(in crate::rabbitmq) struct Outgoing {
    pub(in crate::rabbitmq) exchange: ShortString,
    pub(in crate::rabbitmq) routing_key: ShortString,
    pub(in crate::rabbitmq) body: Vec<u8>,
    pub(in crate::rabbitmq) properties: BasicProperties,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rabbitmq) enum Wait {
    /// Until the server is responsible for it.
    Confirmed,
    /// Only until it is written.
    Written,
}

/// What the server did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rabbitmq) enum Outcome {
    Taken,
    /// A message found no queue: this one or, among events, one sent near it.
    Unroutable,
}

impl Lines {
    pub(super) async fn open(server: &Server) -> Result<Self, String> {
        let connection = server.connect("hyperfleet-publisher").await?;
        let channels = async {
            let confirmed = async || {
                let channel = connection.create_channel().await?;
                channel
                    .confirm_select(ConfirmSelectOptions::default())
                    .await?;
                Ok::<_, lapin::Error>(channel)
            };
            Ok::<_, lapin::Error>((
                confirmed().await?,
                connection.create_channel().await?,
                confirmed().await?,
            ))
        };
        let (events, unconfirmed, moves) = channels.await.map_err(|e| e.to_string())?;
        Ok(Self {
            connection,
            events,
            unconfirmed,
            moves: tokio::sync::Mutex::new(moves),
            declared: Mutex::default(),
            broken: CancellationToken::new(),
        })
    }

    pub(super) fn events(&self) -> impl Stream<Item = Event> + Send + 'static {
        self.connection.events_listener()
    }

    /// Whether a message sent now can arrive.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        self.check_alive()?;
        if self.connection.status().blocked() {
            let reason = "the server takes no messages: it is short of memory or disk";
            return Err(LinkError::Disconnected(reason.to_owned()));
        }
        Ok(())
    }

    pub(super) fn check_alive(&self) -> Result<(), LinkError> {
        let moves_alive = match self.moves.try_lock() {
            Ok(channel) => channel.status().connected(),
            // In use, and whoever uses it finds out.
            Err(_) => true,
        };
        let alive = self.connection.status().connected()
            && self.events.status().connected()
            && self.unconfirmed.status().connected()
            && moves_alive;
        match alive {
            true => Ok(()),
            false => Err(LinkError::Disconnected("connection lost".to_owned())),
        }
    }

    pub(super) fn give_up(&self) {
        self.broken.cancel();
    }

    pub(super) async fn given_up(&self) {
        self.broken.cancelled().await;
    }

    pub(super) async fn channel(&self) -> Result<Channel, LinkError> {
        self.connection.create_channel().await.map_err(lost)
    }

    /// Makes sure of an exchange, once per connection.
    pub(super) async fn declare(
        &self,
        exchange: &ShortString,
        kind: ExchangeKind,
    ) -> Result<(), LinkError> {
        if self.declared().contains(exchange) {
            return Ok(());
        }
        // A refusal ends the channel, so the events' own is not risked.
        let channel = self.channel().await?;
        let options = ExchangeDeclareOptions {
            durable: true,
            ..ExchangeDeclareOptions::default()
        };
        let declaring =
            channel.exchange_declare(exchange.clone(), kind, options, FieldTable::default());
        declaring.await.map_err(|error| match is_refusal(&error) {
            true => LinkError::Refused(error.to_string()),
            false => lost(error),
        })?;
        self.declared().insert(exchange.clone());
        channel.close(200, "done".into()).await.map_err(lost)
    }

    fn declared(&self) -> std::sync::MutexGuard<'_, HashSet<ShortString>> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn confirmed_event(&self, message: Outgoing) -> Result<Outcome, LinkError> {
        confirmed(&self.events, message).await
    }

    pub(super) async fn moved(&self, message: Outgoing) -> Result<Outcome, LinkError> {
        let channel = self.moves.lock().await;
        confirmed(&channel, message).await
    }

    pub(super) async fn written_event(&self, message: Outgoing) -> Result<Outcome, LinkError> {
        let options = BasicPublishOptions::default();
        let publishing = self.unconfirmed.basic_publish(
            message.exchange,
            message.routing_key,
            options,
            &message.body,
            message.properties,
        );
        publishing.await.map_err(lost)?;
        Ok(Outcome::Taken)
    }

    pub(super) async fn close(&self) {
        let closing = self.connection.close(200, "closed".into());
        match timeout(CLOSE_TIMEOUT, closing).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "closing the publishing connection"),
            Err(_) => tracing::debug!("no answer to closing the publishing connection"),
        }
    }
}

async fn confirmed(channel: &Channel, message: Outgoing) -> Result<Outcome, LinkError> {
    let options = BasicPublishOptions {
        mandatory: true,
        ..BasicPublishOptions::default()
    };
    let sending = async {
        let publishing = channel.basic_publish(
            message.exchange,
            message.routing_key,
            options,
            &message.body,
            message.properties,
        );
        publishing.await?.await
    };
    match timeout(CONFIRM_TIMEOUT, sending).await {
        Ok(Ok(Confirmation::Ack(None))) => Ok(Outcome::Taken),
        Ok(Ok(Confirmation::Ack(Some(_)))) => Ok(Outcome::Unroutable),
        Ok(Ok(Confirmation::Nack(_))) => Err(LinkError::Unconfirmed(
            "the server could not store it".to_owned(),
        )),
        Ok(Ok(Confirmation::NotRequested)) => Err(LinkError::Disconnected(
            "the channel lost its confirm mode".to_owned(),
        )),
        Ok(Err(error)) => Err(lost(error)),
        Err(_) => Err(LinkError::Unconfirmed(format!(
            "no confirmation within {CONFIRM_TIMEOUT:?}"
        ))),
    }
}

fn lost(error: lapin::Error) -> LinkError {
    LinkError::Disconnected(error.to_string())
}
