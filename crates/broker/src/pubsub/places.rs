//! Finding topics and subscriptions, and creating them where that is asked for.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use google_cloud_pubsub::client::Publisher;
use google_cloud_pubsub::error::PublishError;
use google_cloud_pubsub::model::{
    DeadLetterPolicy, ExpirationPolicy, Message, RetryPolicy, Subscription,
};
use google_cloud_wkt as wkt;

use super::client::{Google, Trouble, ask};
use super::names::{Names, Pair};
use crate::config::PubSubConfig;
use crate::headers::Headers;

/// How long the client collects events before it sends them.
const COLLECT: Duration = Duration::from_millis(2);

const ACK_DEADLINE_SECONDS: u32 = 60;
const MAX_ATTEMPTS: u32 = 10;

pub(super) struct Places {
    pub(super) google: Google,
    config: PubSubConfig,
    publishers: Mutex<HashMap<String, Publisher>>,
    seen: Mutex<HashSet<String>>,
}

impl Places {
    pub(super) fn new(google: Google, config: PubSubConfig) -> Self {
        Self {
            google,
            config,
            publishers: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    pub(super) fn config(&self) -> &PubSubConfig {
        &self.config
    }

    /// How long the server waits for a sign of life about a message.
    pub(super) fn ack_deadline(&self) -> Duration {
        let seconds = self.config.ack_deadline_seconds;
        Duration::from_secs(u64::from(seconds.unwrap_or(ACK_DEADLINE_SECONDS)))
    }

    /// Sends a message and returns once the server has it.
    pub(super) async fn publish(
        &self,
        topic: &str,
        body: Vec<u8>,
        headers: Headers,
    ) -> Result<(), Trouble> {
        let message = Message::new()
            .set_data(body)
            .set_attributes(headers.into_pairs());
        let sending = self.publisher(topic).publish(message);
        match sending.await {
            Ok(_) => Ok(()),
            Err(PublishError::Rpc(error)) => Err(Trouble::from(error.as_ref())),
            Err(other) => Err(Trouble::Unreachable(other.to_string())),
        }
    }

    fn publisher(&self, topic: &str) -> Publisher {
        let mut publishers = self
            .publishers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let made = publishers.entry(topic.to_owned()).or_insert_with(|| {
            let building = self.google.publishing.publisher(topic);
            building.set_delay_threshold(COLLECT).build()
        });
        made.clone()
    }

    /// Makes sure of a topic, once per process.
    pub(super) async fn topic(&self, topic: &str) -> Result<(), Trouble> {
        let seen = |seen: &Mutex<HashSet<String>>| {
            let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.contains(topic)
        };
        if seen(&self.seen) {
            return Ok(());
        }
        match ask(self.google.topics.get_topic().set_topic(topic).send()).await {
            Ok(_) => {}
            Err(Trouble::Missing(_)) if self.config.create_topic_if_missing => {
                let creating = self.google.topics.create_topic().set_name(topic);
                taken_if_there(ask(creating.send()).await)?;
            }
            Err(Trouble::Missing(_)) => {
                return Err(Trouble::Missing(format!(
                    "there is no topic `{topic}`: create it, or set \
                     `broker.googlepubsub.create_topic_if_missing`"
                )));
            }
            Err(trouble) => return Err(trouble),
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(topic.to_owned());
        Ok(())
    }

    /// What a subscription needs: its own, that for delays, that for dead letters.
    pub(super) async fn find_or_create(&self, names: &Names) -> Result<(), Trouble> {
        self.pair(&names.dead, None).await?;
        self.pair(&names.retry, Some(&names.dead)).await?;
        self.pair(&names.main, Some(&names.dead)).await
    }

    async fn pair(&self, pair: &Pair, dead: Option<&Pair>) -> Result<(), Trouble> {
        let found = self.find(&pair.subscription).await?;
        if let Some(found) = found {
            return match found.topic == pair.topic {
                true => Ok(()),
                false => Err(Trouble::Refused(format!(
                    "subscription `{}` is one of `{}`, not of `{}`",
                    pair.subscription, found.topic, pair.topic
                ))),
            };
        }
        if !self.config.create_subscription_if_missing {
            return Err(Trouble::Missing(format!(
                "there is no subscription `{}` of `{}`: create it, or set \
                 `broker.googlepubsub.create_subscription_if_missing`",
                pair.subscription, pair.topic
            )));
        }
        self.topic(&pair.topic).await?;
        let wanted = self.subscription(pair, dead);
        let creating = self.google.subscriptions.create_subscription();
        taken_if_there(ask(creating.with_request(wanted).send()).await)
    }

    pub(super) async fn find(&self, subscription: &str) -> Result<Option<Subscription>, Trouble> {
        let asking = self.google.subscriptions.get_subscription();
        match ask(asking.set_subscription(subscription).send()).await {
            Ok(found) => Ok(Some(found)),
            Err(Trouble::Missing(_)) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    fn subscription(&self, pair: &Pair, dead: Option<&Pair>) -> Subscription {
        let config = &self.config;
        let deadline = self.ack_deadline().as_secs();
        let mut wanted = Subscription::new()
            .set_name(&pair.subscription)
            .set_topic(&pair.topic)
            .set_ack_deadline_seconds(i32::try_from(deadline).unwrap_or(600));
        if let Some(kept) = config.message_retention_duration {
            wanted = wanted.set_message_retention_duration(duration(kept.get()));
        }
        if let Some(ttl) = config.expiration_ttl {
            let mut policy = ExpirationPolicy::new();
            // A policy without a time means never.
            if !ttl.is_zero() {
                policy = policy.set_ttl(duration(ttl.get()));
            }
            wanted = wanted.set_expiration_policy(policy);
        }
        let Some(dead) = dead else { return wanted };
        let attempts = config.dead_letter_max_attempts.unwrap_or(MAX_ATTEMPTS);
        let policy = DeadLetterPolicy::new()
            .set_dead_letter_topic(&dead.topic)
            .set_max_delivery_attempts(i32::try_from(attempts).unwrap_or(100));
        wanted = wanted.set_dead_letter_policy(policy);
        if config.retry_min_backoff.is_some() || config.retry_max_backoff.is_some() {
            let mut policy = RetryPolicy::new();
            if let Some(least) = config.retry_min_backoff {
                policy = policy.set_minimum_backoff(duration(least.get()));
            }
            if let Some(most) = config.retry_max_backoff {
                policy = policy.set_maximum_backoff(duration(most.get()));
            }
            wanted = wanted.set_retry_policy(policy);
        }
        wanted
    }
}

/// Two that start at once both create; either is fine.
fn taken_if_there<T>(created: Result<T, Trouble>) -> Result<(), Trouble> {
    match created {
        Err(Trouble::Refused(text))
            if text.contains("ALREADY_EXISTS") || text.contains("already exists") =>
        {
            Ok(())
        }
        other => other.map(|_| ()),
    }
}

fn duration(time: Duration) -> wkt::Duration {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    wkt::Duration::clamp(seconds, i32::try_from(time.subsec_nanos()).unwrap_or(0))
}
