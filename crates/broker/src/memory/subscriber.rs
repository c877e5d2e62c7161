//! Taking messages from a queue in memory.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::queue::{Message, Queue};
use crate::delivery::{Delivery, DeliveryRules, Settle, Settlement};
use crate::event::Event;
use crate::in_flight::InFlight;
use crate::subscribe::{Health, SubscribeOptions, Subscriber};

pub(super) struct MemorySubscriber {
    queue: Arc<Queue>,
    rules: DeliveryRules,
    in_flight: InFlight,
    drain_timeout: Duration,
    closed: CancellationToken,
    health: Health,
    /// Kept so that `health` sees the end of this subscriber.
    state: Option<watch::Sender<Result<(), String>>>,
}

impl MemorySubscriber {
    pub(super) fn new(
        queue: Arc<Queue>,
        rules: DeliveryRules,
        options: &SubscribeOptions,
        closed: CancellationToken,
    ) -> Self {
        let (state, health) = Health::new(Ok(()));
        Self {
            queue,
            rules,
            in_flight: InFlight::new(options.concurrency),
            drain_timeout: options.drain_timeout,
            closed,
            health,
            state: Some(state),
        }
    }

    async fn take(&self) -> Delivery {
        loop {
            let permit = self.in_flight.permit().await;
            let mut message = self.queue.take().await;
            message.attempts += 1;
            match Event::decode(&message.body) {
                Ok(event) => {
                    let attempt = message.attempts;
                    let settle = Box::new(Unsettled {
                        message,
                        queue: Arc::clone(&self.queue),
                    });
                    return Delivery::new(event, attempt, &self.rules, permit, settle);
                }
                Err(error) => {
                    self.rules.metrics.malformed();
                    self.queue.park(&message, error.to_string());
                }
            }
        }
    }
}

#[async_trait]
impl Subscriber for MemorySubscriber {
    async fn next(&mut self) -> Option<Delivery> {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => None,
            delivery = self.take() => Some(delivery),
        }
    }

    fn health(&self) -> Health {
        self.health.clone()
    }

    async fn close(&mut self) {
        self.closed.cancel();
        self.in_flight.drain(self.drain_timeout).await;
        self.state = None;
    }
}

struct Unsettled {
    message: Message,
    queue: Arc<Queue>,
}

impl Settle for Unsettled {
    fn settle(
        self: Box<Self>,
        settlement: Settlement,
        permit: OwnedSemaphorePermit,
    ) -> BoxFuture<'static, ()> {
        let Self { message, queue } = *self;
        match settlement {
            Settlement::Ack => drop(message),
            Settlement::Retry { delay } => queue.retry(message, delay),
            Settlement::DeadLetter { reason, .. } => queue.park(&message, reason),
        }
        drop(permit);
        ready(()).boxed()
    }
}
