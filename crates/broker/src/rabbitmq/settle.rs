//! Settling a delivery: move the copy first, ack the original after.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures::future::BoxFuture;
use lapin::options::BasicAckOptions;
use lapin::types::ShortString;
use lapin::{Acker, BasicProperties};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::link::Link;
use super::message;
use super::names::Names;
use crate::delivery::{Settle, Settlement};
use crate::headers::Headers;
use crate::metrics::SubscriptionMetrics;
use crate::settling::Settling;

/// Before trying again to move a message while its own connection is up.
const PAUSE: Duration = Duration::from_secs(1);

/// What settlements of one subscriber share.
pub(super) struct Desk {
    pub(super) names: Arc<Names>,
    pub(super) link: Link,
    pub(super) metrics: Arc<SubscriptionMetrics>,
    pub(super) settling: Settling,
}

/// A received message whose original is still the server's.
pub(super) struct Unsettled {
    pub(super) body: Vec<u8>,
    pub(super) headers: Headers,
    pub(super) attempt: u32,
    pub(super) acker: Acker,
    /// Cancelled with the connection it came over.
    pub(super) lost: CancellationToken,
    pub(super) desk: Arc<Desk>,
}

impl Settle for Unsettled {
    fn settle(
        self: Box<Self>,
        settlement: Settlement,
        permit: OwnedSemaphorePermit,
    ) -> BoxFuture<'static, ()> {
        let desk = Arc::clone(&self.desk);
        desk.settling
            .carry_out(async move { self.carry_out(settlement).await }, permit)
    }
}

impl Unsettled {
    async fn carry_out(self, settlement: Settlement) {
        let names = &self.desk.names;
        let now = Utc::now();
        let next = self.attempt.saturating_add(1);
        let target = match settlement {
            Settlement::Ack => None,
            Settlement::Retry { delay } if delay.is_zero() => {
                Some((&names.queue, self.headers.retried(next)))
            }
            Settlement::Retry { delay } => {
                Some((&names.retry, self.headers.delayed(next, delay, now)))
            }
            Settlement::DeadLetter { reason, cause } => {
                let queue = names.queue.as_str();
                tracing::warn!(
                    queue,
                    reason,
                    cause = cause.as_str(),
                    "message is a dead letter"
                );
                Some((&names.dead, self.headers.dead(self.attempt, &reason, now)))
            }
        };
        let settling = async {
            if let Some((queue, headers)) = target {
                let properties = message::properties(headers);
                self.move_to(queue, properties).await;
            }
            self.acker.ack(BasicAckOptions::default()).await
        };
        // An ack that is under way when its connection goes may never be answered.
        let settled = tokio::select! {
            biased;
            () = self.lost.cancelled() => return self.comes_again("connection lost"),
            settled = settling => settled,
        };
        if let Err(error) = settled {
            self.comes_again(&error.to_string());
        }
    }

    /// Until it is done: the original stays with us, so nothing is lost by waiting.
    async fn move_to(&self, queue: &ShortString, properties: BasicProperties) {
        loop {
            let moving = self
                .desk
                .link
                .move_to(queue, self.body.clone(), properties.clone());
            match moving.await {
                Ok(()) => return,
                Err(error) => {
                    let queue = queue.as_str();
                    tracing::warn!(queue, %error, "cannot move a message yet");
                    sleep(PAUSE).await;
                }
            }
        }
    }

    fn comes_again(&self, reason: &str) {
        self.desk.metrics.unsettled();
        let queue = self.desk.names.queue.as_str();
        tracing::debug!(
            queue,
            reason,
            "message not settled; it will be delivered again"
        );
    }
}
