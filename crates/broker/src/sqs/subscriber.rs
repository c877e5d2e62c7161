//! Taking messages from a queue, no more than may be handed out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName as SystemAttribute};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::attributes;
use super::client::Trouble;
use super::lease::{Lease, hide};
use super::names::Names;
use super::places::Places;
use super::settle::{Desk, Unsettled};
use crate::backoff::Backoff;
use crate::broker::BrokerError;
use crate::delivery::{Delivery, DeliveryRules, Settle as _};
use crate::event::Event;
use crate::in_flight::InFlight;
use crate::settling::Settling;
use crate::subscribe::{Health, SubscribeOptions, Subscriber};

/// Messages one request may bring.
const BATCH: usize = 10;

pub(super) struct SqsSubscriber {
    inbox: mpsc::Receiver<Inbound>,
    in_flight: Arc<InFlight>,
    rules: DeliveryRules,
    desk: Arc<Desk>,
    health: Health,
    drain_timeout: Duration,
    closed: CancellationToken,
    pump: TaskTracker,
}

/// A received message, the right to hand it out, and the time we have for it.
struct Inbound {
    message: Message,
    permit: OwnedSemaphorePermit,
    lease: Lease,
}

impl SqsSubscriber {
    /// Returns once the queue is there.
    pub(super) async fn start(
        places: Arc<Places>,
        names: &Names,
        rules: DeliveryRules,
        options: &SubscribeOptions,
        closed: CancellationToken,
    ) -> Result<Self, BrokerError> {
        let queues = wait_for(&places, names, &closed).await?;
        let (state, health) = Health::new(Ok(()));
        let in_flight = Arc::new(InFlight::new(options.concurrency));
        let (sender, inbox) = mpsc::channel(options.concurrency.clamp(1, 1024));
        let desk = Arc::new(Desk {
            places,
            queues,
            metrics: Arc::clone(&rules.metrics),
            settling: Settling::new(),
        });
        let pump = Pump {
            desk: Arc::clone(&desk),
            in_flight: Arc::clone(&in_flight),
            inbox: sender,
            state,
            closed: closed.clone(),
        };
        let task = TaskTracker::new();
        task.spawn(pump.run());
        task.close();
        Ok(Self {
            inbox,
            in_flight,
            rules,
            desk,
            health,
            drain_timeout: options.drain_timeout,
            closed,
            pump: task,
        })
    }

    async fn take(&mut self) -> Option<Delivery> {
        loop {
            let Inbound {
                message,
                permit,
                lease,
            } = self.inbox.recv().await?;
            let body = message.body.unwrap_or_default();
            let event = Event::decode(body.as_bytes());
            let attempt = receives(message.attributes.as_ref());
            let mut unsettled = Box::new(Unsettled {
                headers: attributes::headers(message.message_attributes.as_ref()),
                receipt: message.receipt_handle.unwrap_or_default(),
                body,
                attempt,
                lease,
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

/// How often it was received, this time included.
fn receives(attributes: Option<&std::collections::HashMap<SystemAttribute, String>>) -> u32 {
    let count = attributes.and_then(|all| all.get(&SystemAttribute::ApproximateReceiveCount));
    count.and_then(|count| count.parse().ok()).unwrap_or(1)
}

#[async_trait]
impl Subscriber for SqsSubscriber {
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

    /// Waits for the request that is under way: SQS would give messages to it that nobody reads.
    async fn close(&mut self) {
        self.closed.cancel();
        self.pump.wait().await;
        while let Ok(left) = self.inbox.try_recv() {
            left.lease.end().await;
            let receipt = left.message.receipt_handle.unwrap_or_default();
            let queue = &self.desk.queues.main;
            if let Err(trouble) = hide(&self.desk.places, queue, &receipt, 0).await {
                let reason = trouble.text();
                tracing::debug!(queue, reason, "cannot give a message back; it comes later");
            }
        }
        self.in_flight.drain(self.drain_timeout).await;
        self.desk.settling.finish().await;
    }
}

impl Drop for SqsSubscriber {
    fn drop(&mut self) {
        self.closed.cancel();
    }
}

async fn wait_for(
    places: &Places,
    names: &Names,
    closed: &CancellationToken,
) -> Result<super::places::Queues, BrokerError> {
    let mut backoff = Backoff::new();
    loop {
        let trouble = tokio::select! {
            biased;
            () = closed.cancelled() => return Err(BrokerError::Closed),
            found = places.find_or_create(names) => match found {
                Ok(queues) => return Ok(queues),
                Err(trouble) => trouble,
            },
        };
        let Names {
            topic,
            subscription,
            ..
        } = names;
        if let Trouble::Refused { .. } = trouble {
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

/// Asks for as many messages as there is room for, again and again.
struct Pump {
    desk: Arc<Desk>,
    in_flight: Arc<InFlight>,
    inbox: mpsc::Sender<Inbound>,
    state: watch::Sender<Result<(), String>>,
    closed: CancellationToken,
}

impl Pump {
    async fn run(self) {
        let mut backoff = Backoff::new();
        while let Some(permits) = self.room().await {
            match self.receive(permits.len()).await {
                Ok(messages) => {
                    if self.state.send_replace(Ok(())).is_err() {
                        let queue = self.desk.queues.main.as_str();
                        tracing::info!(queue, "messages are received again");
                    }
                    backoff = Backoff::new();
                    for (message, permit) in messages.into_iter().zip(permits) {
                        self.hand_on(message, permit).await;
                    }
                }
                Err(trouble) => {
                    let (queue, reason) = (self.desk.queues.main.as_str(), trouble.text());
                    tracing::warn!(queue, reason, "cannot receive messages");
                    self.state.send_modify(|last| *last = Err(reason));
                    tokio::select! {
                        () = self.closed.cancelled() => return,
                        () = sleep(backoff.next()) => {}
                    }
                }
            }
        }
    }

    /// The right to hand out at least one message; `None` when no more are wanted.
    async fn room(&self) -> Option<Vec<OwnedSemaphorePermit>> {
        let first = tokio::select! {
            biased;
            () = self.closed.cancelled() => return None,
            permit = self.in_flight.permit() => permit,
        };
        let more = std::iter::from_fn(|| self.in_flight.try_permit());
        Some(std::iter::once(first).chain(more.take(BATCH - 1)).collect())
    }

    async fn receive(&self, count: usize) -> Result<Vec<Message>, Trouble> {
        let config = self.desk.places.config();
        let seconds = |seconds| i32::try_from(seconds).unwrap_or(i32::MAX);
        let receiving = self.desk.places.aws.sqs.receive_message();
        let received = receiving
            .queue_url(&self.desk.queues.main)
            .max_number_of_messages(i32::try_from(count).unwrap_or(1))
            .wait_time_seconds(seconds(config.wait_time_seconds))
            .visibility_timeout(seconds(config.visibility_timeout_seconds))
            .message_system_attribute_names(SystemAttribute::ApproximateReceiveCount)
            .message_attribute_names("All")
            .send()
            .await?;
        Ok(received.messages.unwrap_or_default())
    }

    async fn hand_on(&self, message: Message, permit: OwnedSemaphorePermit) {
        let receipt = message.receipt_handle.clone().unwrap_or_default();
        let queue = self.desk.queues.main.clone();
        let lease = Lease::start(Arc::clone(&self.desk.places), queue, receipt);
        let inbound = Inbound {
            message,
            permit,
            lease,
        };
        // A subscriber that was dropped takes none; the message comes back when its time is over.
        let _unread = self.inbox.send(inbound).await;
    }
}
