//! The channels of one connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::Stream;
use lapin::options::{BasicPublishOptions, ConfirmSelectOptions, ExchangeDeclareOptions};
use lapin::types::{FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Confirmation, Connection, Event, ExchangeKind};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::LinkError;
use crate::rabbitmq::connection::{OPEN_TIMEOUT, Server, is_refusal};

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
    moves: Channel,
    moving: Semaphore,
    declared: Mutex<HashMap<ShortString, Arc<OnceCell<()>>>>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rabbitmq) enum Outcome {
    Taken,
    /// A message to this exchange found no queue: this one or, among events, one sent near it.
    Unroutable {
        exchange: String,
    },
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
            moves,
            moving: Semaphore::new(1),
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
        let channels = [&self.events, &self.unconfirmed, &self.moves];
        let alive = self.connection.status().connected()
            && channels.iter().all(|channel| channel.status().connected());
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
        let opening = async { self.connection.create_channel().await.map_err(lost) };
        self.answered(opening).await
    }

    /// Gives the connection up if the server does not answer on it: one that is only starting may never do so, and
    /// everybody who publishes would wait for it.
    async fn answered<T>(
        &self,
        asking: impl Future<Output = Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        timeout(OPEN_TIMEOUT, asking).await.unwrap_or_else(|_| {
            self.give_up();
            let reason = format!("no answer within {OPEN_TIMEOUT:?}");
            Err(LinkError::Disconnected(reason))
        })
    }

    /// Makes sure of an exchange, once per connection.
    pub(super) async fn declare(
        &self,
        exchange: &ShortString,
        kind: ExchangeKind,
    ) -> Result<(), LinkError> {
        let once = {
            let mut declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(declared.entry(exchange.clone()).or_default())
        };
        let declaring = once.get_or_try_init(|| self.answered(self.declare_now(exchange, kind)));
        declaring.await.copied()
    }

    async fn declare_now(
        &self,
        exchange: &ShortString,
        kind: ExchangeKind,
    ) -> Result<(), LinkError> {
        // A refusal ends the channel, so the events' own is not risked.
        let channel = self.connection.create_channel().await.map_err(lost)?;
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
        channel.close(200, "done".into()).await.map_err(lost)
    }

    pub(super) async fn confirmed_event(&self, message: Outgoing) -> Result<Outcome, LinkError> {
        confirmed(&self.events, message).await
    }

    pub(super) async fn moved(&self, message: Outgoing) -> Result<Outcome, LinkError> {
        let _turn = self.moving.acquire().await;
        confirmed(&self.moves, message).await
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
        Ok(Ok(Confirmation::Ack(Some(returned)))) => Ok(Outcome::Unroutable {
            exchange: returned.delivery.exchange.to_string(),
        }),
        Ok(Ok(Confirmation::Nack(_))) => Err(LinkError::Rejected(
            "a queue could not or would not store it".to_owned(),
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
