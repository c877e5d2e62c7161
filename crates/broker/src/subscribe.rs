//! Receiving events.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::delivery::Delivery;

/// One consumer of a subscription. Consumers of the same subscription share its messages.
#[async_trait]
pub trait Subscriber: Send {
    /// The next message, once fewer than `concurrency` are unsettled; `None` after [`close`].
    ///
    /// Survives lost connections. Safe to cancel: a message is never lost in a dropped call.
    ///
    /// [`close`]: Subscriber::close
    async fn next(&mut self) -> Option<Delivery>;

    /// A handle that tells, from any task, whether messages can arrive now.
    fn health(&self) -> Health;

    /// Takes no more messages, waits (up to `drain_timeout`) until those handed out are settled,
    /// and returns the rest to the queue. Whoever calls it must not itself hold a [`Delivery`].
    async fn close(&mut self);
}

/// How a subscriber takes its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// Deliveries that may be unsettled at a time; 0 counts as 1.
    pub concurrency: usize,
    /// Deliveries of one message before it becomes a dead letter; 0 counts as 1.
    pub max_deliveries: u32,
    /// How long [`Subscriber::close`] waits for deliveries handed out.
    pub drain_timeout: Duration,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self {
            concurrency: 1,
            max_deliveries: 5,
            drain_timeout: Duration::from_secs(30),
        }
    }
}

/// The state of a connection as last seen, readable from anywhere.
#[derive(Debug, Clone)]
pub struct Health(watch::Receiver<Result<(), String>>);

impl Health {
    /// Starts as `state`; the sender changes it.
    pub(crate) fn new(state: Result<(), String>) -> (watch::Sender<Result<(), String>>, Self) {
        let (sender, receiver) = watch::channel(state);
        (sender, Self(receiver))
    }

    /// Whether all is well; the text says why not.
    pub fn check(&self) -> Result<(), String> {
        match &*self.0.borrow() {
            Ok(()) if self.0.has_changed().is_err() => Err("closed".to_owned()),
            state => state.clone(),
        }
    }

    /// Returns when all is well, or with the last reason when it can never be again.
    pub async fn wait(&mut self) -> Result<(), String> {
        match self.0.wait_for(Result::is_ok).await {
            Ok(_) => Ok(()),
            Err(_) => Err("closed".to_owned()),
        }
    }
}
