//! Settling a delivery.

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

use super::attributes;
use super::client::Trouble;
use super::lease::{Lease, hide};
use super::places::{Places, Queues};
use crate::delivery::{Settle, Settlement};
use crate::headers::Headers;
use crate::metrics::SubscriptionMetrics;
use crate::settling::Settling;

/// Before trying again to park a message.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest SQS hides a message: twelve hours.
const LONGEST_DELAY: u32 = 43_200;

/// What settlements of one subscriber share.
pub(super) struct Desk {
    pub(super) places: Arc<Places>,
    pub(super) queues: Queues,
    pub(super) metrics: Arc<SubscriptionMetrics>,
    pub(super) settling: Settling,
}

/// A received message, hidden from others.
pub(super) struct Unsettled {
    pub(super) body: String,
    pub(super) headers: Headers,
    pub(super) receipt: String,
    pub(super) attempt: u32,
    pub(super) lease: Lease,
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
        if let Settlement::DeadLetter { reason, cause } = &settlement {
            let queue = self.desk.queues.main.as_str();
            let cause = cause.as_str();
            tracing::warn!(queue, reason, cause, "message is a dead letter");
            self.park(reason).await;
        }
        self.lease.end().await;
        let (desk, receipt) = (self.desk, self.receipt);
        let done = match settlement {
            Settlement::Retry { delay } => {
                hide(
                    &desk.places,
                    &desk.queues.main,
                    &receipt,
                    whole_seconds(delay),
                )
                .await
            }
            Settlement::Ack | Settlement::DeadLetter { .. } => {
                delete(&desk.places, &desk.queues.main, &receipt).await
            }
        };
        if let Err(trouble) = done {
            desk.metrics.unsettled();
            let (queue, reason) = (desk.queues.main.as_str(), trouble.text());
            tracing::debug!(
                queue,
                reason,
                "message not settled; it will be delivered again"
            );
        }
    }

    /// Until it is done: the message stays hidden with us, so nothing is lost by waiting.
    async fn park(&self, reason: &str) {
        let (desk, dead) = (&self.desk, &self.desk.queues.dead);
        loop {
            let headers = self.headers.dead(self.attempt, reason, Utc::now());
            match send(&desk.places, dead, self.body.clone(), headers).await {
                Ok(()) => return,
                Err(trouble) => {
                    let (queue, reason) = (dead.as_str(), trouble.text());
                    tracing::warn!(queue, reason, "cannot park a message yet");
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// Puts a message into a queue.
pub(super) async fn send(
    places: &Places,
    queue: &str,
    body: String,
    headers: Headers,
) -> Result<(), Trouble> {
    let sending = places.aws.sqs.send_message().queue_url(queue);
    let attributes = attributes::for_queue(headers);
    let sending = sending
        .message_body(body)
        .set_message_attributes(Some(attributes));
    sending.send().await?;
    Ok(())
}

pub(super) async fn delete(places: &Places, queue: &str, receipt: &str) -> Result<(), Trouble> {
    let deleting = places.aws.sqs.delete_message().queue_url(queue);
    deleting.receipt_handle(receipt).send().await?;
    Ok(())
}

/// Never early.
fn whole_seconds(delay: Duration) -> u32 {
    let seconds = delay.as_nanos().div_ceil(1_000_000_000);
    u32::try_from(seconds).map_or(LONGEST_DELAY, |seconds| seconds.min(LONGEST_DELAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_rounded_up_and_bounded() {
        let seconds = |millis| whole_seconds(Duration::from_millis(millis));
        assert_eq!(
            [seconds(0), seconds(1), seconds(1_000), seconds(1_500)],
            [0, 1, 1, 2]
        );
        assert_eq!(whole_seconds(Duration::MAX), LONGEST_DELAY);
    }
}
