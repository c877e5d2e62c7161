//! Taking messages from a queue, over as many connections as it needs.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use lapin::Consumer;
use lapin::message::Delivery as Message;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::message;
use super::mover;
use super::session::{Plan, Session};
use super::settle::{Desk, Unsettled};
use crate::backoff::Backoff;
use crate::broker::BrokerError;
use crate::delivery::{Delivery, DeliveryRules, Settle as _};
use crate::event::Event;
use crate::in_flight::InFlight;
use crate::settling::Settling;
use crate::subscribe::{Health, SubscribeOptions, Subscriber};

pub(super) struct RabbitMqSubscriber {
    inbox: mpsc::Receiver<Inbound>,
    in_flight: InFlight,
    rules: DeliveryRules,
    desk: Arc<Desk>,
    health: Health,
    drain_timeout: Duration,
    /// No more messages.
    closed: CancellationToken,
    /// No more connection.
    stop: CancellationToken,
    pump: TaskTracker,
}

/// A message and the connection it can be settled on.
struct Inbound {
    message: Message,
    lost: CancellationToken,
}

impl RabbitMqSubscriber {
    /// Returns once the queue exists and is consumed.
    pub(super) async fn start(
        plan: Plan,
        rules: DeliveryRules,
        options: &SubscribeOptions,
        closed: CancellationToken,
    ) -> Result<Self, BrokerError> {
        let session = first_session(&plan, &closed).await?;
        let (health_sender, health) = Health::new(Ok(()));
        let (sender, inbox) = mpsc::channel(usize::from(plan.prefetch()).max(1));
        let desk = Arc::new(Desk {
            names: Arc::clone(&plan.names),
            link: plan.link.clone(),
            metrics: Arc::clone(&rules.metrics),
            settling: Settling::new(),
        });
        let pump = Pump {
            plan,
            inbox: sender,
            health: health_sender,
            closed: closed.clone(),
            stop: CancellationToken::new(),
        };
        let stop = pump.stop.clone();
        let task = TaskTracker::new();
        task.spawn(pump.run(session));
        task.close();
        Ok(Self {
            inbox,
            in_flight: InFlight::new(options.concurrency),
            rules,
            desk,
            health,
            drain_timeout: options.drain_timeout,
            closed,
            stop,
            pump: task,
        })
    }

    async fn take(&mut self) -> Option<Delivery> {
        loop {
            let permit = self.in_flight.permit().await;
            let inbound = self.inbox.recv().await?;
            if inbound.lost.is_cancelled() {
                // The server has it again and sends it over the new connection.
                continue;
            }
            let headers = message::headers(&inbound.message.properties);
            let attempt = headers.attempt();
            let redelivered = inbound.message.redelivered;
            let event = Event::decode(&inbound.message.data);
            let unsettled = Box::new(Unsettled {
                headers,
                attempt,
                body: inbound.message.data,
                acker: inbound.message.acker,
                lost: inbound.lost,
                desk: Arc::clone(&self.desk),
            });
            match event {
                // The server only tells that somebody had it before, never how often. A copy can
                // carry the count, so it is not handed out again without one: a message that kills
                // its consumers is found out in the end.
                Ok(_) if redelivered => {
                    let settlement = self.rules.after_loss(attempt);
                    drop(unsettled.settle(settlement, permit));
                }
                Ok(event) => {
                    return Some(Delivery::new(
                        event,
                        attempt,
                        &self.rules,
                        permit,
                        unsettled,
                    ));
                }
                Err(error) => {
                    let settlement = self.rules.malformed(&error);
                    // Goes on by itself; the permit keeps its place until it is done.
                    drop(unsettled.settle(settlement, permit));
                }
            }
        }
    }
}

#[async_trait]
impl Subscriber for RabbitMqSubscriber {
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
        self.in_flight.drain(self.drain_timeout).await;
        self.stop.cancel();
        self.pump.wait().await;
        self.desk.settling.finish().await;
    }
}

impl Drop for RabbitMqSubscriber {
    fn drop(&mut self) {
        self.closed.cancel();
        self.stop.cancel();
    }
}

async fn first_session(plan: &Plan, closed: &CancellationToken) -> Result<Session, BrokerError> {
    let mut backoff = Backoff::new();
    loop {
        let opened = tokio::select! {
            biased;
            () = closed.cancelled() => return Err(BrokerError::Closed),
            opened = Session::open(plan) => opened,
        };
        match opened {
            Err(BrokerError::Disconnected { reason, .. }) => {
                let topic = plan.names.topic.as_str();
                tracing::warn!(topic, reason, "cannot subscribe yet");
                tokio::select! {
                    () = closed.cancelled() => return Err(BrokerError::Closed),
                    () = sleep(backoff.next()) => {}
                }
            }
            other => return other,
        }
    }
}

/// Carries messages from the connection of the day to the inbox.
struct Pump {
    plan: Plan,
    inbox: mpsc::Sender<Inbound>,
    health: watch::Sender<Result<(), String>>,
    closed: CancellationToken,
    stop: CancellationToken,
}

impl Pump {
    async fn run(self, first: Session) {
        let mut next = Some(first);
        let mut backoff = Backoff::new();
        while !self.stop.is_cancelled() {
            let opened = match next.take() {
                Some(session) => Ok(session),
                None => tokio::select! {
                    () = self.stop.cancelled() => return,
                    opened = Session::open(&self.plan) => opened,
                },
            };
            let reason = match opened {
                Ok(session) => {
                    self.connected();
                    backoff = Backoff::new();
                    match self.pump(session).await {
                        Some(reason) => reason,
                        None => return,
                    }
                }
                Err(error) => error.to_string(),
            };
            let queue = self.plan.names.queue.as_str();
            tracing::warn!(queue, reason, "RabbitMQ subscriber is disconnected");
            self.health.send_modify(|state| *state = Err(reason));
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = sleep(backoff.next()) => {}
            }
        }
    }

    fn connected(&self) {
        let before = self.health.send_replace(Ok(()));
        if before.is_err() {
            let queue = self.plan.names.queue.as_str();
            tracing::info!(queue, "RabbitMQ subscriber is connected again");
        }
    }

    /// Why the connection was lost; `None` when it was ended.
    async fn pump(&self, mut session: Session) -> Option<String> {
        let mut held = FuturesUnordered::new();
        let mut pulling = true;
        let reason = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break None,
                () = self.closed.cancelled(), if pulling => {
                    pulling = false;
                    if let Err(reason) = session.stop_pulling().await {
                        break Some(reason);
                    }
                }
                Some(()) = held.next() => {}
                retry = session.retries.next(), if pulling => match retry {
                    Some(Ok(message)) => held.push(self.hold(message)),
                    Some(Err(error)) => break Some(error.to_string()),
                    None => break Some("the server ended the retry consumer".to_owned()),
                },
                next = self.next(&mut session.messages), if pulling => match next {
                    Some((place, Some(Ok(message)))) => {
                        let lost = session.lost.clone();
                        place.send(Inbound { message, lost });
                    }
                    Some((_, Some(Err(error)))) => break Some(error.to_string()),
                    Some((_, None)) => break Some("the server ended the consumer".to_owned()),
                    None => break None,
                },
            }
        };
        drop(held);
        session.close().await;
        reason
    }

    /// A place in the inbox and the message for it; `None` when nobody reads the inbox any more.
    async fn next(
        &self,
        messages: &mut Consumer,
    ) -> Option<(mpsc::Permit<'_, Inbound>, Option<lapin::Result<Message>>)> {
        let place = self.inbox.reserve().await.ok()?;
        Some((place, messages.next().await))
    }

    async fn hold(&self, message: Message) {
        mover::hold(self.plan.link.clone(), &self.plan.names, message).await;
    }
}
