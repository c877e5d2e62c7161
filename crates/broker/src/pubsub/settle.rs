//! Settling a delivery: publish the copy first, ack the original after.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures::future::BoxFuture;
use google_cloud_pubsub::subscriber::handler::Handler;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

use super::names::Names;
use super::places::Places;
use crate::delivery::{Settle, Settlement};
use crate::headers::Headers;
use crate::metrics::SubscriptionMetrics;
use crate::settling::Settling;

/// Before trying again to move a message.
const PAUSE: Duration = Duration::from_secs(1);

/// What settlements of one subscriber share.
pub(super) struct Desk {
    pub(super) places: Arc<Places>,
    pub(super) names: Names,
    pub(super) metrics: Arc<SubscriptionMetrics>,
    pub(super) settling: Settling,
}

/// A received message whose original is still the server's; the client extends its deadline.
pub(super) struct Unsettled {
    pub(super) body: Vec<u8>,
    pub(super) headers: Headers,
    pub(super) attempt: u32,
    pub(super) handler: Handler,
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
                Some((&names.retry.topic, self.headers.retried(next)))
            }
            Settlement::Retry { delay } => {
                Some((&names.retry.topic, self.headers.delayed(next, delay, now)))
            }
            Settlement::DeadLetter { reason, cause } => {
                let subscription = names.main.subscription.as_str();
                let cause = cause.as_str();
                tracing::warn!(subscription, reason, cause, "message is a dead letter");
                let headers = self.headers.dead(self.attempt, &reason, now);
                Some((&names.dead.topic, headers))
            }
        };
        if let Some((topic, headers)) = target {
            self.desk.move_to(topic, &self.body, &headers).await;
        }
        ack(self.handler, &self.desk).await;
    }
}

impl Desk {
    /// Until it is done: the original stays with us, so nothing is lost by waiting.
    pub(super) async fn move_to(&self, topic: &str, body: &[u8], headers: &Headers) {
        while let Err(trouble) = self
            .places
            .publish(topic, body.to_vec(), headers.clone())
            .await
        {
            let reason = trouble.text();
            tracing::warn!(topic, reason, "cannot move a message yet");
            sleep(PAUSE).await;
        }
    }
}

/// Only a subscription with exactly-once delivery tells whether an ack arrived.
pub(super) async fn ack(handler: Handler, desk: &Desk) {
    match handler {
        Handler::ExactlyOnce(handler) => {
            if let Err(error) = handler.confirmed_ack().await {
                desk.metrics.unsettled();
                let subscription = desk.names.main.subscription.as_str();
                tracing::debug!(subscription, %error, "message not settled; it may come again");
            }
        }
        other => other.ack(),
    }
}
