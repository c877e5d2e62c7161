//! A message in a consumer's hands, and the rules that hold for it on every broker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::dead_letter::DeadLetterCause;
use crate::event::{Event, EventError};
use crate::metrics::SubscriptionMetrics;

/// A received event, to be settled by exactly one of [`ack`], [`nack`] and [`dead_letter`].
/// Dropping it unsettled (a panic, a cancelled task) is a nack without delay.
///
/// Settling never fails for the caller: when the broker cannot be told, it delivers the message
/// again, which consumers must be ready for anyway.
///
/// [`ack`]: Delivery::ack
/// [`nack`]: Delivery::nack
/// [`dead_letter`]: Delivery::dead_letter
pub struct Delivery {
    /// What was received.
    pub event: Event,
    /// Which delivery of this message it is, from 1.
    pub attempt: u32,
    open: Option<Open>,
}

/// What a delivery needs as long as it is unsettled.
struct Open {
    settle: Box<dyn Settle>,
    since: Instant,
    rules: DeliveryRules,
    /// Held until the settlement is done, so that `close` can wait for it.
    permit: OwnedSemaphorePermit,
}

/// What happens to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settlement {
    /// Done with it.
    Ack,
    /// Deliver it again, not before the delay has passed.
    Retry { delay: Duration },
    /// Park it for a person to look at.
    DeadLetter {
        cause: DeadLetterCause,
        reason: String,
    },
}

/// A broker's side of one delivery.
pub(crate) trait Settle: Send + Sync {
    /// Carries the settlement out, to the end even if the returned future is dropped: half a
    /// settlement would leave the message with nobody. `permit` is given back when it is done.
    fn settle(
        self: Box<Self>,
        settlement: Settlement,
        permit: OwnedSemaphorePermit,
    ) -> BoxFuture<'static, ()>;
}

/// What all deliveries of one subscriber have in common.
#[derive(Clone)]
pub(crate) struct DeliveryRules {
    pub(crate) max_deliveries: u32,
    pub(crate) metrics: Arc<SubscriptionMetrics>,
}

impl Delivery {
    pub(crate) fn new(
        event: Event,
        attempt: u32,
        rules: &DeliveryRules,
        permit: OwnedSemaphorePermit,
        settle: Box<dyn Settle>,
    ) -> Self {
        rules.metrics.delivered(attempt);
        Self {
            event,
            attempt,
            open: Some(Open {
                settle,
                since: Instant::now(),
                rules: rules.clone(),
                permit,
            }),
        }
    }

    /// Done with it.
    pub async fn ack(mut self) {
        if let Some(open) = self.open.take() {
            open.rules.metrics.handled(open.since.elapsed());
            open.settle.settle(Settlement::Ack, open.permit).await;
        }
    }

    /// It failed for now: deliver it again after `delay`, or park it with `reason` when this was
    /// the last delivery it may have.
    pub async fn nack(mut self, delay: Duration, reason: &str) {
        if let Some(open) = self.open.take() {
            let settlement = open.failed(self.attempt, delay, reason);
            open.settle.settle(settlement, open.permit).await;
        }
    }

    /// It can never succeed: park it with the reason.
    pub async fn dead_letter(mut self, reason: &str) {
        if let Some(open) = self.open.take() {
            let metrics = &open.rules.metrics;
            metrics.failed(open.since.elapsed());
            metrics.dead_lettered(DeadLetterCause::Rejected);
            let settlement = Settlement::DeadLetter {
                cause: DeadLetterCause::Rejected,
                reason: reason.to_owned(),
            };
            open.settle.settle(settlement, open.permit).await;
        }
    }
}

impl Open {
    fn failed(&self, attempt: u32, delay: Duration, reason: &str) -> Settlement {
        self.rules.metrics.failed(self.since.elapsed());
        self.rules.after_failure(attempt, delay, reason)
    }
}

impl DeliveryRules {
    /// The one place that knows when enough is enough.
    fn after_failure(&self, attempt: u32, delay: Duration, reason: &str) -> Settlement {
        let limit = self.max_deliveries;
        if attempt < limit {
            return Settlement::Retry { delay };
        }
        self.metrics.dead_lettered(DeadLetterCause::MaxDeliveries);
        Settlement::DeadLetter {
            cause: DeadLetterCause::MaxDeliveries,
            reason: format!("{reason} (delivery {attempt} of {limit})"),
        }
    }

    /// What becomes of a message whose delivery `attempt` ended without a word: its consumer was
    /// killed or cut off.
    #[cfg_attr(
        not(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs")),
        expect(dead_code, reason = "a consumer in memory ends with the broker")
    )]
    pub(crate) fn after_loss(&self, attempt: u32) -> Settlement {
        let reason = "its consumer ended, or lost its connection, before settling it";
        self.after_failure(attempt, Duration::ZERO, reason)
    }

    /// What becomes of a message that is no event: trying again would not make it one.
    #[cfg_attr(
        not(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs")),
        expect(dead_code, reason = "what is kept in memory is an event")
    )]
    pub(crate) fn malformed(&self, error: &EventError) -> Settlement {
        self.metrics.malformed();
        Settlement::DeadLetter {
            cause: DeadLetterCause::Malformed,
            reason: error.to_string(),
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            let settlement = open.failed(
                self.attempt,
                Duration::ZERO,
                "the consumer dropped the message without settling it",
            );
            drop(open.settle.settle(settlement, open.permit));
        }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("event", &self.event)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
