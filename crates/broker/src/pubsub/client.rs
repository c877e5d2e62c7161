//! Reaching Google or the emulator, and what the answers mean.

use std::future::Future;
use std::time::Duration;

use google_cloud_auth::credentials::anonymous;
use google_cloud_gax::error::rpc::Code;
use google_cloud_gax::retry_policy::RetryPolicyExt as _;
use google_cloud_pubsub::client::{BasePublisher, Subscriber, SubscriptionAdmin, TopicAdmin};
use google_cloud_pubsub::retry_policy::RetryableErrors;
use hyperfleet_runtime::crypto;
use tokio::time::timeout;

use crate::broker::BrokerError;
use crate::config::{ConfigError, PubSubConfig};
use crate::publish::PublishError;

/// For one question about a topic or a subscription.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// For an event to be taken, all tries together. The client's own limit is ten minutes.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) struct Google {
    pub(super) topics: TopicAdmin,
    pub(super) subscriptions: SubscriptionAdmin,
    pub(super) publishing: BasePublisher,
    config: PubSubConfig,
}

/// The same for four builders that share no trait.
macro_rules! build {
    ($builder:expr, $config:expr) => {{
        let mut builder = $builder;
        if let Some(host) = &$config.emulator_host {
            let host = host.trim_start_matches("http://");
            builder = builder
                .with_endpoint(format!("http://{host}"))
                .with_credentials(anonymous::Builder::new().build());
        }
        builder
            .build()
            .await
            .map_err(|error| ConfigError::Invalid {
                key: "broker.googlepubsub".to_owned(),
                problem: format!("cannot make a client of Pub/Sub: {error}"),
            })?
    }};
}

impl Google {
    pub(super) async fn connect(config: &PubSubConfig) -> Result<Self, ConfigError> {
        // The client's own choice would build aws-lc.
        crypto::install_ring();
        let retry = RetryableErrors.with_time_limit(PUBLISH_TIMEOUT);
        Ok(Self {
            topics: build!(TopicAdmin::builder(), config),
            subscriptions: build!(SubscriptionAdmin::builder(), config),
            publishing: build!(BasePublisher::builder().with_retry_policy(retry), config),
            config: config.clone(),
        })
    }

    /// A connection of its own for a stream, which ends with it for certain.
    pub(super) async fn streams(&self) -> Result<Subscriber, ConfigError> {
        Ok(build!(Subscriber::builder(), self.config))
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is no such topic or subscription.
    Missing(String),
    /// The server says no, and would again.
    Refused(String),
    /// No answer, or one that says to come back later.
    Unreachable(String),
}

impl Trouble {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Missing(text) | Self::Refused(text) | Self::Unreachable(text) => text,
        }
    }

    pub(super) fn for_broker(self, action: impl Into<String>) -> BrokerError {
        let action = action.into();
        match self {
            Self::Missing(reason) | Self::Refused(reason) => {
                BrokerError::Refused { action, reason }
            }
            Self::Unreachable(reason) => BrokerError::Disconnected { action, reason },
        }
    }

    pub(super) fn for_publisher(self, topic: &str) -> PublishError {
        let topic = topic.to_owned();
        match self {
            Self::Missing(reason) | Self::Refused(reason) => {
                PublishError::Refused { topic, reason }
            }
            Self::Unreachable(reason) => PublishError::Disconnected { topic, reason },
        }
    }
}

impl From<&google_cloud_pubsub::Error> for Trouble {
    fn from(error: &google_cloud_pubsub::Error) -> Self {
        let text = error.to_string();
        let code = error.status().map(|status| status.code);
        match code {
            Some(Code::NotFound) => Self::Missing(text),
            Some(
                Code::InvalidArgument
                | Code::AlreadyExists
                | Code::PermissionDenied
                | Code::FailedPrecondition
                | Code::OutOfRange
                | Code::Unimplemented
                | Code::Unauthenticated,
            ) => Self::Refused(text),
            _ => Self::Unreachable(text),
        }
    }
}

/// Asks the server, and does not wait for ever.
pub(super) async fn ask<T>(
    asking: impl Future<Output = Result<T, google_cloud_pubsub::Error>>,
) -> Result<T, Trouble> {
    match timeout(REQUEST_TIMEOUT, asking).await {
        Ok(answer) => answer.map_err(|error| Trouble::from(&error)),
        Err(_) => Err(Trouble::Unreachable(format!(
            "no answer within {REQUEST_TIMEOUT:?}"
        ))),
    }
}
