//! Publishing events to SNS, or to the one queue.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::attributes;
use super::client::Trouble;
use super::places::Places;
use super::settle::send;
use crate::audience::Audience;
use crate::event::Event;
use crate::headers::Headers;
use crate::metrics::Metrics;
use crate::publish::{PublishError, Publisher};
use crate::subscribe::Health;
use crate::unroutable::Unroutable;

/// Requests at a time, each of which takes a connection.
const WINDOW: usize = 64;

pub(super) struct SqsPublisher {
    places: Arc<Places>,
    metrics: Metrics,
    audience: Audience,
    unroutable: Unroutable,
    window: Semaphore,
    closed: CancellationToken,
    under_way: TaskTracker,
    /// How the last request went: there is no connection to look at.
    state: watch::Sender<Result<(), String>>,
    health: Health,
}

impl SqsPublisher {
    pub(super) fn new(places: Arc<Places>, metrics: Metrics, closed: CancellationToken) -> Self {
        let (state, health) = Health::new(Ok(()));
        Self {
            places,
            metrics,
            audience: Audience::default(),
            unroutable: Unroutable::default(),
            window: Semaphore::new(WINDOW),
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
        let wrong = |source| PublishError::Event {
            topic: topic.to_owned(),
            id: event.id.clone(),
            source,
        };
        // What the encoder wrote is UTF-8.
        let body = String::from_utf8_lossy(&event.encode().map_err(wrong)?).into_owned();
        let headers = Headers::of_event(&event.id);
        let _place = self.window.acquire().await;
        let sent = match self.places.config().queue_url.as_deref() {
            Some(url) => send(&self.places, url, body, headers).await,
            None => self.to_topic(topic, body, headers).await,
        };
        let state = match &sent {
            Err(Trouble::Unreachable(reason)) => Err(reason.clone()),
            _ => Ok(()),
        };
        self.state.send_modify(|last| *last = state);
        sent.map_err(|trouble| trouble.for_publisher(topic))
    }

    async fn to_topic(&self, topic: &str, body: String, headers: Headers) -> Result<(), Trouble> {
        let arn = self.places.topic(topic).await?;
        let sending = self.places.aws.sns.publish().topic_arn(&arn).message(body);
        let attributes = attributes::for_topic(headers);
        sending
            .set_message_attributes(Some(attributes))
            .send()
            .await?;
        if !self.is_heard(&arn).await {
            self.unroutable.dropped(topic, &self.metrics);
        }
        Ok(())
    }

    /// SNS takes what nobody subscribed to without a word, so it is asked now and then.
    async fn is_heard(&self, arn: &str) -> bool {
        if let Some(known) = self.audience.known(arn) {
            return known;
        }
        let asking = self.places.aws.sns.list_subscriptions_by_topic();
        match asking.topic_arn(arn).send().await {
            Ok(answer) => {
                let is_there = !answer.subscriptions().is_empty();
                self.audience.learn(arn, is_there);
                is_there
            }
            Err(error) => {
                let reason = Trouble::from(error).text();
                tracing::debug!(arn, reason, "cannot ask who subscribed to the topic");
                // Nothing is known to be wrong. Who may not ask need not try for every event.
                self.audience.learn(arn, true);
                true
            }
        }
    }
}

#[async_trait]
impl Publisher for SqsPublisher {
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
