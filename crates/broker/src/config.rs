//! One configuration form for every broker: the file of the Go library, the `BROKER_*` variables
//! and a URL all end in a [`BrokerConfig`].

mod amqp_url;
mod env;
mod kind;
mod pubsub;
mod rabbitmq;
mod sqs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::subscribe::SubscribeOptions;

pub use self::amqp_url::AmqpUrl;
pub use self::kind::BrokerType;
pub use self::pubsub::PubSubConfig;
pub use self::rabbitmq::{ExchangeType, RabbitMqConfig};

pub use self::sqs::SqsConfig;

/// The broker library's file: `broker` with `subscriber` beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerFile {
    /// Log the effective configuration at start, without its secrets.
    pub log_config: bool,
    /// Which broker, and how to reach it.
    pub broker: BrokerConfig,
    /// How a consumer takes its messages; wins over `broker.subscriber`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscriber: Option<SubscriberConfig>,
}

impl From<BrokerFile> for BrokerConfig {
    fn from(file: BrokerFile) -> Self {
        let mut config = file.broker;
        config.log_config |= file.log_config;
        config.subscriber = file.subscriber.unwrap_or(config.subscriber);
        config
    }
}

/// Which broker, and how to reach it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerConfig {
    /// `memory`, `rabbitmq`, `pubsub` (also `googlepubsub`) or `sqs` (also `awsSqs`, `awsSns`).
    #[serde(rename = "type")]
    pub kind: BrokerType,
    /// Settings of the in-process broker.
    pub memory: MemoryConfig,
    /// Settings of RabbitMQ; required when `type` is `rabbitmq`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rabbitmq: Option<RabbitMqConfig>,
    /// Settings of Google Pub/Sub; required when `type` is `pubsub`.
    #[serde(
        rename = "googlepubsub",
        alias = "pubsub",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(extend("x-aliases" = ["pubsub"]))]
    pub pubsub: Option<PubSubConfig>,
    /// Settings of AWS SNS and SQS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sqs: Option<SqsConfig>,
    /// How a consumer takes its messages.
    pub subscriber: SubscriberConfig,
    /// Log the effective configuration at start, without its secrets.
    pub log_config: bool,
    /// Has no effect: the topic is a setting of the Sentinel and the adapter. Files written for the
    /// Go library carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Has no effect, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription: Option<String>,
}

/// How a consumer takes its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SubscriberConfig {
    /// Deliveries one subscriber may hold unsettled at a time; 0 counts as 1.
    pub parallelism: usize,
}

impl Default for SubscriberConfig {
    fn default() -> Self {
        Self { parallelism: 1 }
    }
}

/// Settings of the in-process broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Messages one subscription keeps, waiting, delayed or in work; a publisher waits when it is
    /// reached.
    pub capacity: usize,
    /// Dead letters one subscription keeps; the oldest makes room, which is logged as an error.
    pub dead_letter_capacity: usize,
    /// How long a publisher waits for room before it is told to retry, in milliseconds.
    pub publish_timeout_ms: u64,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self {
            capacity: 10_000,
            dead_letter_capacity: 1_000,
            publish_timeout_ms: 30_000,
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A broker this binary does not know.
    #[error("broker type `{given}` is unknown; known: {}", BrokerType::known())]
    UnknownType {
        /// What the configuration says.
        given: String,
    },
    /// A broker this binary was built without.
    #[error("broker type `{kind}` is not in this binary: build it with cargo feature `{feature}`")]
    MissingFeature {
        /// The broker.
        kind: &'static str,
        /// The cargo feature that brings it.
        feature: &'static str,
    },
    /// The broker is chosen but its settings are missing.
    #[error("`{key}` is required for broker type `{kind}`; set it in the file or by {env}")]
    Missing {
        /// The key.
        key: &'static str,
        /// The broker that needs it.
        kind: &'static str,
        /// The variables that set it.
        env: &'static str,
    },
    /// A value that cannot be used. The value itself is not repeated: it may be a secret.
    #[error("`{key}`: {problem}")]
    Invalid {
        /// The key or variable.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl ConfigError {
    fn invalid(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            key: key.into(),
            problem: problem.into(),
        }
    }
}

impl BrokerConfig {
    /// `memory://` or `amqp://…`; the other settings keep their defaults.
    pub fn from_url(url: &str) -> Result<Self, ConfigError> {
        let scheme = url.split_once("://").map_or(url, |(scheme, _)| scheme);
        match scheme {
            "memory" => Ok(Self::default()),
            "amqp" | "amqps" => {
                let kind: BrokerType = "rabbitmq".parse()?;
                Ok(Self {
                    kind,
                    rabbitmq: Some(RabbitMqConfig::new(AmqpUrl::parse(url)?)),
                    ..Self::default()
                })
            }
            other => Err(ConfigError::invalid(
                "broker URL",
                format!("scheme `{other}` is unknown; use memory://, amqp:// or amqps://"),
            )),
        }
    }

    /// The options of a subscriber as configured.
    pub fn subscribe_options(&self) -> SubscribeOptions {
        SubscribeOptions {
            concurrency: self.subscriber.parallelism.max(1),
            ..SubscribeOptions::default()
        }
    }

    /// Checks what the types cannot.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self.kind {
            BrokerType::Memory => self.memory.validate(),
            BrokerType::RabbitMq => self.require_rabbitmq().map(|_| ()),
            BrokerType::PubSub => self.require_pubsub().map(|_| ()),
            BrokerType::Sqs => self.sqs().validate(),
        }
    }

    /// The keys that are there and change nothing.
    pub(crate) fn without_effect(&self) -> Vec<&'static str> {
        let given = [
            (self.topic.is_some(), "topic"),
            (self.subscription.is_some(), "subscription"),
        ];
        let own = given
            .into_iter()
            .filter_map(|(given, key)| given.then_some(key));
        let pubsub = self.pubsub.iter().flat_map(PubSubConfig::without_effect);
        own.chain(pubsub).collect()
    }

    /// The settings of AWS, all of which have a default.
    pub(crate) fn sqs(&self) -> SqsConfig {
        self.sqs.clone().unwrap_or_default()
    }

    pub(crate) fn require_pubsub(&self) -> Result<&PubSubConfig, ConfigError> {
        let settings = self.pubsub.as_ref();
        let settings = settings.filter(|settings| !settings.project_id.is_empty());
        let settings = settings.ok_or(ConfigError::Missing {
            key: "broker.googlepubsub.project_id",
            kind: "pubsub",
            env: "BROKER_PROJECT_ID or BROKER_GOOGLEPUBSUB_PROJECT_ID",
        })?;
        settings.validate()?;
        Ok(settings)
    }

    pub(crate) fn require_rabbitmq(&self) -> Result<&RabbitMqConfig, ConfigError> {
        let settings = self.rabbitmq.as_ref().ok_or(ConfigError::Missing {
            key: "broker.rabbitmq.url",
            kind: "rabbitmq",
            env: "BROKER_RABBITMQ_URL or BROKER_HOST",
        })?;
        settings.validate()?;
        Ok(settings)
    }
}

impl MemoryConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if self.capacity == 0 || self.dead_letter_capacity == 0 {
            return Err(ConfigError::invalid(
                "broker.memory",
                "`capacity` and `dead_letter_capacity` must be at least 1",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
