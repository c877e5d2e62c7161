//! The `broker.googlepubsub` section.

use std::time::Duration;

use hyperfleet_runtime::GoDuration;
use schemars::JsonSchema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Settings of Google Pub/Sub, with the names of the Go library's file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PubSubConfig {
    /// The Google Cloud project of topics and subscriptions.
    pub project_id: String,
    /// `host:port` of an emulator to use instead of Google; also `PUBSUB_EMULATOR_HOST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulator_host: Option<String>,
    /// Create a topic that does not exist.
    pub create_topic_if_missing: bool,
    /// Create a subscription that does not exist.
    pub create_subscription_if_missing: bool,
    /// How long the server waits for a settlement before a message is delivered again, 10 to 600;
    /// extended as long as a consumer works on it. For subscriptions we create; 60 when unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_deadline_seconds: Option<u32>,
    /// How long unsettled messages are kept, 10m to 31d. For subscriptions we create.
    #[serde(deserialize_with = "long", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub message_retention_duration: Option<GoDuration>,
    /// How long a subscription nobody uses is kept: at least 1d and `message_retention_duration`, 0
    /// for ever. For subscriptions we create.
    #[serde(deserialize_with = "long", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub expiration_ttl: Option<GoDuration>,
    /// The least time between two deliveries of a message nobody settled, up to 600s. For
    /// subscriptions we create. Delays that a consumer asks for are kept by ourselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_min_backoff: Option<GoDuration>,
    /// The most time between them, up to 600s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_max_backoff: Option<GoDuration>,
    /// Deliveries after which the server itself moves a message to the dead letters, 5 to 100; 10
    /// when unset. A safety net behind our own count. For subscriptions we create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_letter_max_attempts: Option<u32>,
    /// Messages the server sends ahead of their settlement; 0 stands for the concurrency of the
    /// subscriber.
    pub max_outstanding_messages: u32,
    /// The same by size in bytes; 0 stands for 100 MiB.
    pub max_outstanding_bytes: u32,
    /// Has no effect: dead letters always go to `{subscription}-dlq`, as with the Go library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead_letter_topic: Option<String>,
    /// Has no effect, as with the Go library.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_retention_duration: Option<String>,
    /// Has no effect: events have no ordering keys.
    pub enable_message_ordering: bool,
    /// Has no effect: one stream carries what a subscriber can take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_goroutines: Option<u32>,
}

impl PubSubConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        const DAY: Duration = Duration::from_secs(86_400);
        let check = |fine: bool, key: &str, problem: &str| match fine {
            true => Ok(()),
            false => Err(ConfigError::invalid(
                format!("broker.googlepubsub.{key}"),
                problem,
            )),
        };
        let within = |value: Option<u32>, low: u32, high: u32| {
            value.is_none_or(|value| (low..=high).contains(&value))
        };
        check(
            within(self.ack_deadline_seconds, 10, 600),
            "ack_deadline_seconds",
            "must be from 10 to 600",
        )?;
        check(
            within(self.dead_letter_max_attempts, 5, 100),
            "dead_letter_max_attempts",
            "must be from 5 to 100",
        )?;
        let retention = self.message_retention_duration.map(GoDuration::get);
        check(
            retention.is_none_or(|kept| (Duration::from_secs(600)..=31 * DAY).contains(&kept)),
            "message_retention_duration",
            "must be from 10m to 31d",
        )?;
        let ttl = self.expiration_ttl.map(GoDuration::get);
        check(
            ttl.is_none_or(|ttl| ttl.is_zero() || ttl >= retention.unwrap_or(DAY).max(DAY)),
            "expiration_ttl",
            "must be 0, or at least 1d and message_retention_duration",
        )?;
        let (low, high) = (self.retry_min_backoff, self.retry_max_backoff);
        let longest = GoDuration::from_secs(600);
        check(
            low.is_none_or(|low| low <= high.unwrap_or(longest).min(longest)),
            "retry_min_backoff",
            "must be at most 600s and retry_max_backoff",
        )?;
        check(
            high.is_none_or(|high| high <= longest),
            "retry_max_backoff",
            "must be at most 600s",
        )
    }

    /// The keys that are there and change nothing.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        [
            (self.dead_letter_topic.is_some(), "dead_letter_topic"),
            (
                self.topic_retention_duration.is_some(),
                "topic_retention_duration",
            ),
            (self.enable_message_ordering, "enable_message_ordering"),
            (self.num_goroutines.is_some(), "num_goroutines"),
        ]
        .into_iter()
        .filter_map(|(given, key)| given.then_some(key))
    }
}

/// Go durations, and days as in `7d`.
pub(super) fn long_duration(text: &str) -> Result<GoDuration, String> {
    let days: Option<u32> = text
        .trim()
        .strip_suffix('d')
        .and_then(|days| days.parse().ok());
    match days {
        Some(days) => Ok(GoDuration::from_mins(24 * 60 * u64::from(days))),
        None => text
            .parse()
            .map_err(|error: hyperfleet_runtime::ParseDurationError| error.to_string()),
    }
}

fn long<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<GoDuration>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let read = text.map(|text| long_duration(&text)).transpose();
    read.map_err(D::Error::custom)
}
