//! A publisher that fails or waits when told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use hyperfleet_broker::{Event, PublishError, Publisher};
use tokio::sync::watch;

pub(crate) struct Moody {
    inner: Arc<dyn Publisher>,
    pub(crate) away: AtomicBool,
    pub(crate) refusing: AtomicBool,
    pub(crate) panicking: AtomicBool,
    pub(crate) attempts: AtomicUsize,
    pub(crate) most_at_once: AtomicUsize,
    at_once: AtomicUsize,
    held: watch::Sender<bool>,
}

impl Moody {
    pub(crate) fn new(inner: Arc<dyn Publisher>) -> Arc<Moody> {
        Arc::new(Moody {
            inner,
            away: AtomicBool::new(false),
            refusing: AtomicBool::new(false),
            panicking: AtomicBool::new(false),
            attempts: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            at_once: AtomicUsize::new(0),
            held: watch::Sender::new(false),
        })
    }

    /// While held, publishes do not end.
    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    pub(crate) fn attempts(&self) -> usize {
        self.attempts.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Publisher for Moody {
    async fn publish(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        self.attempts.fetch_add(1, Ordering::SeqCst);
        let at_once = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        let _ = self.held.subscribe().wait_for(|held| !held).await;
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        assert!(!self.panicking.load(Ordering::SeqCst), "told to panic");
        let topic = topic.to_owned();
        if self.away.load(Ordering::SeqCst) {
            return Err(PublishError::Disconnected {
                topic,
                reason: "away".to_owned(),
            });
        }
        if self.refusing.load(Ordering::SeqCst) {
            return Err(PublishError::Refused {
                topic,
                reason: "no".to_owned(),
            });
        }
        self.inner.publish(&topic, event).await
    }

    async fn health(&self) -> Result<(), String> {
        match self.away.load(Ordering::SeqCst) {
            true => Err("away".to_owned()),
            false => Ok(()),
        }
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
