//! The brokers there are, and which of them this binary was built with.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// The broker to use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum BrokerType {
    /// In this process; nothing survives it.
    #[default]
    Memory,
    /// RabbitMQ over AMQP 0.9.1.
    RabbitMq,
    /// Google Pub/Sub.
    PubSub,
    /// AWS SNS and SQS.
    Sqs,
}

impl BrokerType {
    const ALL: [Self; 4] = [Self::Memory, Self::RabbitMq, Self::PubSub, Self::Sqs];

    /// The name used in configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::RabbitMq => "rabbitmq",
            Self::PubSub => "pubsub",
            Self::Sqs => "sqs",
        }
    }

    /// What the documents and the Go library call it.
    fn other_names(self) -> &'static [&'static str] {
        match self {
            Self::Memory | Self::RabbitMq => &[],
            Self::PubSub => &["googlepubsub"],
            Self::Sqs => &["awsSqs", "awsSns"],
        }
    }

    fn is_called(self, name: &str) -> bool {
        let mut names = std::iter::once(self.name()).chain(self.other_names().iter().copied());
        names.any(|known| known.eq_ignore_ascii_case(name))
    }

    /// The cargo feature that is needed and missing, if any.
    fn missing_feature(self) -> Option<&'static str> {
        match self {
            Self::Memory => None,
            Self::RabbitMq => (!cfg!(feature = "rabbitmq")).then_some("rabbitmq"),
            Self::PubSub => (!cfg!(feature = "pubsub")).then_some("pubsub"),
            Self::Sqs => (!cfg!(feature = "sqs")).then_some("sqs"),
        }
    }

    /// What to say when it was chosen without being parsed.
    #[cfg(not(all(feature = "rabbitmq", feature = "pubsub", feature = "sqs")))]
    pub(crate) fn missing(self) -> ConfigError {
        ConfigError::MissingFeature {
            kind: self.name(),
            feature: self.missing_feature().unwrap_or(self.name()),
        }
    }

    /// All names, each with the cargo feature it lacks.
    pub(super) fn known() -> String {
        let names = Self::ALL.map(|kind| match kind.missing_feature() {
            None => kind.name().to_owned(),
            Some(feature) => format!("{} (needs cargo feature `{feature}`)", kind.name()),
        });
        names.join(", ")
    }
}

impl FromStr for BrokerType {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let kind = Self::ALL
            .into_iter()
            .find(|kind| kind.is_called(text))
            .ok_or_else(|| ConfigError::UnknownType {
                given: text.to_owned(),
            })?;
        match kind.missing_feature() {
            None => Ok(kind),
            Some(feature) => Err(ConfigError::MissingFeature {
                kind: kind.name(),
                feature,
            }),
        }
    }
}

impl TryFrom<String> for BrokerType {
    type Error = ConfigError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<BrokerType> for &'static str {
    fn from(kind: BrokerType) -> Self {
        kind.name()
    }
}

impl fmt::Display for BrokerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl JsonSchema for BrokerType {
    fn schema_name() -> Cow<'static, str> {
        "BrokerType".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names = Self::ALL.into_iter().flat_map(|kind| {
            std::iter::once(kind.name()).chain(kind.other_names().iter().copied())
        });
        schemars::json_schema!({"type": "string", "enum": names.collect::<Vec<_>>()})
    }
}
