//! Publishing in memory: room in every subscription first, then all at once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Hub;
use super::queue::{Body, Queue};
use crate::event::Event;
use crate::publish::{PublishError, Publisher};

pub(super) struct MemoryPublisher {
    hub: Arc<Hub>,
    closed: CancellationToken,
}

impl MemoryPublisher {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        let closed = hub.closed.child_token();
        Self { hub, closed }
    }
}

#[async_trait]
impl Publisher for MemoryPublisher {
    async fn publish(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        let body = event.encode().map_err(|source| PublishError::Event {
            topic: topic.to_owned(),
            id: event.id.clone(),
            source,
        });
        let result = match body {
            Ok(body) => self.hub.deliver(topic, body.into(), &self.closed).await,
            Err(error) => Err(error),
        };
        match &result {
            Ok(()) => self.hub.metrics.published(topic),
            Err(_) => self.hub.metrics.publish_failed(topic),
        }
        result
    }

    async fn health(&self) -> Result<(), String> {
        match self.closed.is_cancelled() {
            true => Err("closed".to_owned()),
            false => Ok(()),
        }
    }

    async fn close(&self) {
        self.closed.cancel();
    }
}

impl Hub {
    pub(super) async fn deliver(
        &self,
        topic: &str,
        body: Body,
        closed: &CancellationToken,
    ) -> Result<(), PublishError> {
        if closed.is_cancelled() {
            return Err(PublishError::Closed);
        }
        let queues: Vec<Arc<Queue>> = self
            .topics()
            .get(topic)
            .map(|subscriptions| subscriptions.values().cloned().collect())
            .unwrap_or_default();
        if queues.is_empty() {
            self.unroutable.dropped(topic, &self.metrics);
            return Ok(());
        }
        let limit = Duration::from_millis(self.config.publish_timeout_ms);
        let mut places = Vec::with_capacity(queues.len());
        // Always in the order of names, so two publishers never wait for each other.
        for queue in &queues {
            let place = tokio::select! {
                biased;
                () = closed.cancelled() => return Err(PublishError::Closed),
                place = timeout(limit, queue.place()) => place,
            };
            places.push(place.map_err(|_| PublishError::Unconfirmed {
                topic: topic.to_owned(),
                reason: format!(
                    "subscription `{}` has been full ({} messages) for {limit:?}",
                    queue.name(),
                    self.config.capacity
                ),
            })?);
        }
        for (queue, place) in queues.iter().zip(places) {
            queue.push(Arc::clone(&body), place);
        }
        Ok(())
    }
}
