//! The `broker.sqs` section.

use hyperfleet_runtime::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Settings of AWS: an SNS topic that fans out to SQS queues, or one plain SQS queue.
///
/// Whatever is left out comes from where every AWS tool looks for it: `AWS_REGION`,
/// `AWS_PROFILE`, a web identity, the instance's role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SqsConfig {
    /// Region of topic and queues, e.g. `us-east-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Another place than AWS, e.g. `http://localhost:4566`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint_url: Option<String>,
    /// A fixed access key; with `secret_access_key`. A role is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_key_id: Option<String>,
    /// The secret of `access_key_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_access_key: Option<Secret>,
    /// The SNS topic, whatever the topic's name says; found by name when unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic_arn: Option<String>,
    /// One queue for publishing and receiving, without SNS and without fan-out: every subscription
    /// reads the same queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_url: Option<String>,
    /// Create the topic, the queues `{topic}-{subscription}` and `{topic}-{subscription}-dead`, and
    /// the subscription of the queue to the topic where they do not exist.
    pub create_if_missing: bool,
    /// How long a message stays hidden from other consumers; extended as long as one works on it.
    /// 3 to 43200.
    pub visibility_timeout_seconds: u32,
    /// How long a request waits for messages, 1 to 20. Closing a subscriber takes as long.
    pub wait_time_seconds: u32,
    /// Receives after which SQS itself moves a message to the dead letters; for queues we create. A
    /// safety net behind our own count, so it must be above 5.
    pub max_receive_count: u32,
}

impl Default for SqsConfig {
    fn default() -> Self {
        Self {
            region: None,
            endpoint_url: None,
            access_key_id: None,
            secret_access_key: None,
            topic_arn: None,
            queue_url: None,
            create_if_missing: false,
            visibility_timeout_seconds: 30,
            wait_time_seconds: 5,
            max_receive_count: 10,
        }
    }
}

impl SqsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let invalid = |key: &str, problem: &str| {
            Err(ConfigError::invalid(format!("broker.sqs.{key}"), problem))
        };
        if self.access_key_id.is_some() != self.secret_access_key.is_some() {
            return invalid("access_key_id", "goes with `secret_access_key`");
        }
        if self.topic_arn.is_some() && self.queue_url.is_some() {
            return invalid(
                "queue_url",
                "excludes `topic_arn`: a plain queue has no topic",
            );
        }
        if let Some(arn) = &self.topic_arn
            && arn.split(':').count() != 6
        {
            return invalid("topic_arn", "is not arn:aws:sns:REGION:ACCOUNT:NAME");
        }
        if let Some(url) = &self.queue_url
            && !url.starts_with("https://")
            && !url.starts_with("http://")
        {
            return invalid("queue_url", "is not the URL of a queue");
        }
        if !(3..=43_200).contains(&self.visibility_timeout_seconds) {
            return invalid("visibility_timeout_seconds", "must be from 3 to 43200");
        }
        if !(1..=20).contains(&self.wait_time_seconds) {
            return invalid("wait_time_seconds", "must be from 1 to 20");
        }
        if !(6..=1000).contains(&self.max_receive_count) {
            return invalid("max_receive_count", "must be from 6 to 1000");
        }
        Ok(())
    }
}
