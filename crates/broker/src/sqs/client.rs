//! Reaching AWS, and what its answers mean.

use std::error::Error;
use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::config::http::HttpResponse;
use aws_sdk_sqs::config::{Credentials, Region};
use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_smithy_http_client::{Builder, tls};

use crate::broker::BrokerError;
use crate::config::{ConfigError, SqsConfig};
use crate::publish::PublishError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// One try. Above the longest wait for messages.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Aws {
    pub(super) sns: aws_sdk_sns::Client,
    pub(super) sqs: aws_sdk_sqs::Client,
}

impl Aws {
    pub(super) async fn connect(config: &SqsConfig) -> Result<Self, ConfigError> {
        let crypto = tls::rustls_provider::CryptoMode::Ring;
        let http = Builder::new()
            .tls_provider(tls::Provider::Rustls(crypto))
            .build_https();
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .operation_attempt_timeout(ATTEMPT_TIMEOUT)
            .build();
        let mut loader = aws_config::defaults(BehaviorVersion::latest())
            .http_client(http)
            .timeout_config(timeouts);
        if let Some(region) = &config.region {
            loader = loader.region(Region::new(region.clone()));
        }
        if let Some(url) = &config.endpoint_url {
            loader = loader.endpoint_url(url);
        }
        if let (Some(id), Some(secret)) = (&config.access_key_id, &config.secret_access_key) {
            let keys = Credentials::new(id, secret.expose(), None, None, "broker.sqs");
            loader = loader.credentials_provider(keys);
        }
        let loaded = loader.load().await;
        if loaded.region().is_none() {
            return Err(ConfigError::Missing {
                key: "broker.sqs.region",
                kind: "sqs",
                env: "BROKER_REGION or AWS_REGION",
            });
        }
        Ok(Self {
            sns: aws_sdk_sns::Client::new(&loaded),
            sqs: aws_sdk_sqs::Client::new(&loaded),
        })
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// AWS says no, and would again.
    Refused { code: String, message: String },
    /// No answer, or one that says to come back later.
    Unreachable(String),
}

impl Trouble {
    /// We say no in AWS's stead.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self::Refused {
            code: String::new(),
            message: message.into(),
        }
    }

    /// The topic or queue is not there.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self, Self::Refused { code, .. }
            if code.contains("NonExistentQueue") || code.contains("QueueDoesNotExist") || code == "NotFound")
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Refused { code, message } if code.is_empty() => message.clone(),
            Self::Refused { code, message } => format!("{code}: {message}"),
            Self::Unreachable(reason) => reason.clone(),
        }
    }

    pub(super) fn for_broker(self, action: impl Into<String>) -> BrokerError {
        let (action, reason) = (action.into(), self.text());
        match self {
            Self::Refused { .. } => BrokerError::Refused { action, reason },
            Self::Unreachable(_) => BrokerError::Disconnected { action, reason },
        }
    }

    pub(super) fn for_publisher(self, topic: &str) -> PublishError {
        let (topic, reason) = (topic.to_owned(), self.text());
        match self {
            Self::Refused { .. } => PublishError::Refused { topic, reason },
            Self::Unreachable(_) => PublishError::Disconnected { topic, reason },
        }
    }
}

/// Codes that say "later" with the status of a refusal.
const LATER: [&str; 5] = [
    "Throttling",
    "ThrottlingException",
    "Throttled",
    "RequestThrottled",
    "KMSThrottling",
];

impl<E> From<SdkError<E, HttpResponse>> for Trouble
where
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let SdkError::ServiceError(said) = &error else {
            return Self::Unreachable(DisplayErrorContext(&error).to_string());
        };
        let code = said.err().code().unwrap_or_default().to_owned();
        let message = said.err().message().unwrap_or("no reason given").to_owned();
        if said.raw().status().is_server_error() || LATER.contains(&code.as_str()) {
            return Self::Unreachable(format!("{code}: {message}"));
        }
        Self::Refused { code, message }
    }
}
