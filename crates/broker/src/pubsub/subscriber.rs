//! Taking messages from a subscription, and those of its retries that are due.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::Utc;
use futures::FutureExt as _;
use google_cloud_pubsub::model::Message;
use google_cloud_pubsub::subscriber::handler::Handler;
use google_cloud_pubsub::subscriber::{MessageStream, ShutdownToken};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::Trouble;
use super::names::Names;
use super::places::Places;
use super::settle::{Desk, Unsettled, ack};
use super::stream;
use crate::backoff::Backoff;
use crate::broker::BrokerError;
use crate::delivery::{Delivery, DeliveryRules, Settle as _};
use crate::event::Event;
use crate::headers::Headers;
use crate::in_flight::InFlight;
use crate::settling::Settling;
use crate::subscribe::{Health, SubscribeOptions, Subscriber};

/// Delayed messages one consumer holds at a time. With more, the later ones wait on the server, so
/// they may come later than asked, never earlier.
const WINDOW: i64 = 500;

/// The client gives a message back after an hour, so a longer delay is held in pieces.
const LONGEST_HOLD: Duration = Duration::from_secs(3_000);

pub(super) struct PubSubSubscriber {
    inbox: mpsc::Receiver<Inbound>,
    in_flight: InFlight,
    rules: DeliveryRules,
    desk: Arc<Desk>,
    health: Health,
    drain_timeout: Duration,
    closed: CancellationToken,
    pump: TaskTracker,
    /// The streams there were last, to be waited for.
    streams: watch::Receiver<Vec<ShutdownToken>>,
}

struct Inbound {
    message: Message,
    handler: Handler,
}

impl PubSubSubscriber {
    /// Returns once the subscription exists.
    pub(super) async fn start(
        places: Arc<Places>,
        names: Names,
        rules: DeliveryRules,
        options: &SubscribeOptions,
        closed: CancellationToken,
    ) -> Result<Self, BrokerError> {
        wait_for(&places, &names, &closed).await?;
        let (state, health) = Health::new(Ok(()));
        let (open, streams) = watch::channel(Vec::new());
        // One at a time, so that what waits here is bounded by what the server sends ahead.
        let (sender, inbox) = mpsc::channel(1);
        let desk = Arc::new(Desk {
            places,
            names,
            metrics: Arc::clone(&rules.metrics),
            settling: Settling::new(),
        });
        let ahead = match desk.places.config().max_outstanding_messages {
            0 => i64::try_from(options.concurrency).unwrap_or(i64::MAX),
            count => i64::from(count),
        };
        let pump = Pump {
            desk: Arc::clone(&desk),
            ahead,
            inbox: sender,
            state,
            open,
            closed: closed.clone(),
        };
        let task = TaskTracker::new();
        task.spawn(pump.run());
        task.close();
        Ok(Self {
            inbox,
            in_flight: InFlight::new(options.concurrency),
            rules,
            desk,
            health,
            drain_timeout: options.drain_timeout,
            closed,
            pump: task,
            streams,
        })
    }

    async fn take(&mut self) -> Option<Delivery> {
        loop {
            let permit = self.in_flight.permit().await;
            let Inbound { message, handler } = self.inbox.recv().await?;
            let headers = Headers::of_message(message.attributes);
            // The server counts the deliveries of this copy, from 1.
            let returned = handler.delivery_attempt().unwrap_or(1).saturating_sub(1);
            let returned = u32::try_from(returned).unwrap_or(0);
            let attempt = headers.attempt().saturating_add(returned);
            let body = message.data.to_vec();
            let event = Event::decode(&body);
            let mut unsettled = Box::new(Unsettled {
                body,
                headers,
                attempt,
                handler,
                desk: Arc::clone(&self.desk),
            });
            let settlement = match event {
                Ok(_) if attempt > self.rules.max_deliveries => {
                    unsettled.attempt = attempt - 1;
                    self.rules.after_loss(unsettled.attempt)
                }
                Ok(event) => {
                    let rules = &self.rules;
                    return Some(Delivery::new(event, attempt, rules, permit, unsettled));
                }
                Err(error) => self.rules.malformed(&error),
            };
            // Goes on by itself; the permit keeps its place until it is done.
            drop(unsettled.settle(settlement, permit));
        }
    }
}

#[async_trait]
impl Subscriber for PubSubSubscriber {
    async fn next(&mut self) -> Option<Delivery> {
        let closed = self.closed.clone();
        tokio::select! {
            biased;
            () = closed.cancelled() => None,
            delivery = self.take() => delivery,
        }
    }

    fn health(&self) -> Health {
        self.health.clone()
    }

    async fn close(&mut self) {
        self.closed.cancel();
        self.pump.wait().await;
        // What was not handed out goes back by being dropped.
        while self.inbox.try_recv().is_ok() {}
        self.in_flight.drain(self.drain_timeout).await;
        self.desk.settling.finish().await;
        let streams = self.streams.borrow().clone();
        for token in streams {
            stream::finish(token).await;
        }
    }
}

impl Drop for PubSubSubscriber {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

async fn wait_for(
    places: &Places,
    names: &Names,
    closed: &CancellationToken,
) -> Result<(), BrokerError> {
    let mut backoff = Backoff::new();
    loop {
        let trouble = tokio::select! {
            biased;
            () = closed.cancelled() => return Err(BrokerError::Closed),
            found = places.find_or_create(names) => match found {
                Ok(()) => return Ok(()),
                Err(trouble) => trouble,
            },
        };
        let Names {
            topic,
            subscription,
            ..
        } = names;
        if !matches!(trouble, Trouble::Unreachable(_)) {
            let action = format!("subscribe `{subscription}` to topic `{topic}`");
            return Err(trouble.for_broker(action));
        }
        let reason = trouble.text();
        tracing::warn!(topic, reason, "cannot subscribe yet");
        tokio::select! {
            () = closed.cancelled() => return Err(BrokerError::Closed),
            () = sleep(backoff.next()) => {}
        }
    }
}

/// Carries messages from the streams of the day to the inbox.
struct Pump {
    desk: Arc<Desk>,
    ahead: i64,
    inbox: mpsc::Sender<Inbound>,
    state: watch::Sender<Result<(), String>>,
    open: watch::Sender<Vec<ShutdownToken>>,
    closed: CancellationToken,
}

impl Pump {
    async fn run(self) {
        let mut backoff = Backoff::new();
        // A stream heals itself; one that ends did so for a reason that lasts.
        while let Some(reason) = self.pump().await {
            let subscription = self.desk.names.main.subscription.as_str();
            tracing::warn!(subscription, reason, "Pub/Sub subscriber is disconnected");
            self.state.send_modify(|state| *state = Err(reason));
            loop {
                tokio::select! {
                    () = self.closed.cancelled() => return,
                    () = sleep(backoff.next()) => {}
                }
                match self.desk.places.find_or_create(&self.desk.names).await {
                    Ok(()) => break,
                    Err(trouble) => {
                        let reason = trouble.text().to_owned();
                        self.state.send_modify(|state| *state = Err(reason));
                    }
                }
            }
            backoff = Backoff::new();
            tracing::info!(subscription, "Pub/Sub subscriber is connected again");
            self.state.send_modify(|state| *state = Ok(()));
        }
    }

    /// Why a stream ended; `None` when the subscriber was closed.
    async fn pump(&self) -> Option<String> {
        let names = &self.desk.names;
        let places = &self.desk.places;
        let messages = stream::open(places, &names.main.subscription, self.ahead).await;
        let retries = stream::open(places, &names.retry.subscription, WINDOW).await;
        let (messages, retries) = match (messages, retries) {
            (Ok(messages), Ok(retries)) => (messages, retries),
            (Err(trouble), _) | (_, Err(trouble)) => return Some(trouble.text().to_owned()),
        };
        let tokens = vec![messages.shutdown_token(), retries.shutdown_token()];
        self.open.send_modify(|open| *open = tokens.clone());
        // Each stream is read by a task of its own and to its end: a wait for the next message that
        // is dropped half-way may take that message along.
        let mut readers = JoinSet::new();
        readers.spawn(read(messages, self.inbox.clone()));
        readers.spawn(read_retries(
            retries,
            self.inbox.clone(),
            Arc::clone(&self.desk),
        ));
        let reason = tokio::select! {
            () = self.closed.cancelled() => None,
            ended = readers.join_next() => {
                let ended = ended.and_then(Result::ok).flatten();
                Some(ended.unwrap_or_else(|| "the stream ended".to_owned()))
            }
        };
        for token in &tokens {
            // Tells the stream to end. Waiting until all it gave out is settled is for `close`.
            let _settled = token.shutdown().now_or_never();
        }
        // What a reader still has in its hands goes back by being dropped.
        readers.shutdown().await;
        reason
    }
}

/// Hands messages on; says why the stream ended, if not by us.
async fn read(mut messages: MessageStream, inbox: mpsc::Sender<Inbound>) -> Option<String> {
    while let Some(next) = messages.next().await {
        match received(next) {
            // Nobody reads the inbox any more when the subscriber was dropped.
            Ok(inbound) => inbox.send(inbound).await.ok()?,
            Err(reason) => return Some(reason),
        }
    }
    None
}

/// The same, but what must still wait is held back.
async fn read_retries(
    mut messages: MessageStream,
    inbox: mpsc::Sender<Inbound>,
    desk: Arc<Desk>,
) -> Option<String> {
    let mut held = JoinSet::new();
    while let Some(next) = messages.next().await {
        let inbound = match received(next) {
            Ok(inbound) => inbound,
            Err(reason) => return Some(reason),
        };
        let headers = Headers::of_message(inbound.message.attributes.clone());
        match headers.is_delayed() {
            true => drop(held.spawn(hold(inbound, headers, Arc::clone(&desk)))),
            false => inbox.send(inbound).await.ok()?,
        }
        while held.try_join_next().is_some() {}
    }
    None
}

fn received(next: google_cloud_pubsub::Result<(Message, Handler)>) -> Result<Inbound, String> {
    match next {
        Ok((message, handler)) => Ok(Inbound { message, handler }),
        Err(error) => Err(error.to_string()),
    }
}

/// Sees one delayed message to the moment it is due; then a copy takes its place that need not
/// wait, and whose deliveries the server counts from 1.
async fn hold(inbound: Inbound, headers: Headers, desk: Arc<Desk>) {
    let remaining = headers.remaining(Utc::now());
    sleep(remaining.min(LONGEST_HOLD)).await;
    if remaining > LONGEST_HOLD {
        // Dropped, it goes back, and is held again.
        return;
    }
    let topic = &desk.names.retry.topic;
    desk.move_to(topic, &inbound.message.data, &headers.due())
        .await;
    ack(inbound.handler, &desk).await;
}
