//! Publishing events to a topic.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{Trouble, ask};
use super::names::topic_name;
use super::places::Places;
use crate::audience::Audience;
use crate::event::Event;
use crate::headers::Headers;
use crate::metrics::Metrics;
use crate::publish::{PublishError, Publisher};
use crate::subscribe::Health;
use crate::unroutable::Unroutable;

pub(super) struct PubSubPublisher {
    places: Arc<Places>,
    metrics: Metrics,
    audience: Audience,
    unroutable: Unroutable,
    closed: CancellationToken,
    under_way: TaskTracker,
    /// How the last request went: the client does not tell about its connections.
    state: watch::Sender<Result<(), String>>,
    health: Health,
}

impl PubSubPublisher {
    pub(super) fn new(places: Arc<Places>, metrics: Metrics, closed: CancellationToken) -> Self {
        let (state, health) = Health::new(Ok(()));
        Self {
            places,
            metrics,
            audience: Audience::default(),
            unroutable: Unroutable::default(),
            closed,
            under_way: TaskTracker::new(),
            state,
            health,
        }
    }

    async fn send(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        if self.closed.is_cancelled() {
            return Err(PublishError::Closed);
        }
        let body = event.encode().map_err(|source| PublishError::Event {
            topic: topic.to_owned(),
            id: event.id.clone(),
            source,
        })?;
        if topic.is_empty() {
            return Err(Trouble::Refused("the topic is empty".to_owned()).for_publisher(topic));
        }
        let name = topic_name(&self.places.config().project_id, topic);
        let sent = self
            .to_topic(&name, body, Headers::of_event(&event.id))
            .await;
        let state = match &sent {
            Err(Trouble::Unreachable(reason)) => Err(reason.clone()),
            _ => Ok(()),
        };
        self.state.send_modify(|last| *last = state);
        sent.map_err(|trouble| trouble.for_publisher(topic))?;
        if !self.is_heard(&name).await {
            self.unroutable.dropped(topic, &self.metrics);
        }
        Ok(())
    }

    async fn to_topic(&self, name: &str, body: Vec<u8>, headers: Headers) -> Result<(), Trouble> {
        // Publishing needs no right to look at topics, so that is only asked for where it may
        // have to be created.
        if self.places.config().create_topic_if_missing {
            self.places.topic(name).await?;
        }
        self.places.publish(name, body, headers).await
    }

    /// Pub/Sub takes what nobody subscribed to without a word, so it is asked now and then.
    async fn is_heard(&self, name: &str) -> bool {
        if let Some(known) = self.audience.known(name) {
            return known;
        }
        let asking = self.places.google.topics.list_topic_subscriptions();
        match ask(asking.set_topic(name).send()).await {
            Ok(answer) => {
                let is_there = !answer.subscriptions.is_empty();
                self.audience.learn(name, is_there);
                is_there
            }
            Err(trouble) => {
                let reason = trouble.text();
                tracing::debug!(name, reason, "cannot ask who subscribed to the topic");
                // Nothing is known to be wrong. Who may not ask need not try for every event.
                self.audience.learn(name, true);
                true
            }
        }
    }
}

#[async_trait]
impl Publisher for PubSubPublisher {
    async fn publish(&self, topic: &str, event: &Event) -> Result<(), PublishError> {
        let _under_way = self.under_way.token();
        let result = self.send(topic, event).await;
        match &result {
            Ok(()) => self.metrics.published(topic),
            Err(_) => self.metrics.publish_failed(topic),
        }
        result
    }

    async fn health(&self) -> Result<(), String> {
        match self.closed.is_cancelled() {
            true => Err("closed".to_owned()),
            false => self.health.check(),
        }
    }

    async fn close(&self) {
        self.closed.cancel();
        self.under_way.close();
        self.under_way.wait().await;
    }
}
