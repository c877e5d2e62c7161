//! Single pulls over Pub/Sub's JSON interface, for looking at dead letters.
//!
//! A stream never says that nothing is left, and what it is given back it may be sent again. The
//! client has streams only.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use google_cloud_auth::credentials::{Builder, CacheableResource, Credentials};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Trouble;
use crate::config::PubSubConfig;

const GOOGLE: &str = "https://pubsub.googleapis.com";
const SCOPE: &str = "https://www.googleapis.com/auth/pubsub";

const TIMEOUT: Duration = Duration::from_secs(30);

/// Ack ids in one request.
const BATCH: usize = 500;

/// Pulls one subscription.
pub(super) struct Puller {
    http: reqwest::Client,
    /// Of the subscription.
    url: String,
    /// An emulator asks for none.
    keys: Option<Credentials>,
}

/// A pulled message, hidden from others until its deadline.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pulled {
    pub(super) ack_id: String,
    pub(super) message: PulledMessage,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PulledMessage {
    data: String,
    pub(super) attributes: std::collections::BTreeMap<String, String>,
    pub(super) message_id: String,
    pub(super) publish_time: Option<DateTime<Utc>>,
}

impl PulledMessage {
    /// What it carries. What is no base64 is shown as it is.
    pub(super) fn body(&self) -> Vec<u8> {
        let decoded = STANDARD.decode(&self.data);
        decoded.unwrap_or_else(|_| self.data.clone().into_bytes())
    }
}

impl Puller {
    pub(super) fn new(config: &PubSubConfig, subscription: &str) -> Result<Self, Trouble> {
        let emulator = config.emulator_host.as_deref();
        let base = emulator.map_or(GOOGLE.to_owned(), |host| {
            format!("http://{}", host.trim_start_matches("http://"))
        });
        let keys = match emulator {
            Some(_) => None,
            None => {
                let keys = Builder::default().with_scopes([SCOPE]).build();
                Some(keys.map_err(|error| Trouble::Refused(error.to_string()))?)
            }
        };
        let http = reqwest::Client::builder().timeout(TIMEOUT).build();
        Ok(Self {
            http: http.map_err(|error| Trouble::Unreachable(error.to_string()))?,
            url: format!("{base}/v1/{subscription}"),
            keys,
        })
    }

    /// Some of what is there; none is no proof that there is nothing.
    pub(super) async fn pull(&self, most: usize) -> Result<Vec<Pulled>, Trouble> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Answer {
            received_messages: Vec<Pulled>,
        }
        let answer = self
            .call(
                "pull",
                &json!({"maxMessages": most, "returnImmediately": true}),
            )
            .await?;
        let answer: Answer = serde_json::from_value(answer)
            .map_err(|error| Trouble::Unreachable(format!("unexpected answer: {error}")))?;
        Ok(answer.received_messages)
    }

    pub(super) async fn ack(&self, id: &str) -> Result<(), Trouble> {
        let body = json!({"ackIds": [id]});
        self.call("acknowledge", &body).await.map(|_| ())
    }

    /// Hides messages for so long from now; no time at all gives them back.
    pub(super) async fn hide(&self, ids: &[String], time: Duration) -> Result<(), Trouble> {
        for batch in ids.chunks(BATCH) {
            let body = json!({"ackIds": batch, "ackDeadlineSeconds": time.as_secs()});
            self.call("modifyAckDeadline", &body).await?;
        }
        Ok(())
    }

    async fn call(&self, verb: &str, body: &Value) -> Result<Value, Trouble> {
        let unreachable = |error: &dyn std::error::Error| Trouble::Unreachable(error.to_string());
        let mut request = self.http.post(format!("{}:{verb}", self.url)).json(body);
        if let Some(keys) = &self.keys {
            let headers = keys.headers(Default::default()).await;
            if let CacheableResource::New { data, .. } = headers.map_err(|e| unreachable(&e))? {
                request = request.headers(data);
            }
        }
        let answer = request.send().await.map_err(|e| unreachable(&e))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|e| unreachable(&e))?;
        if status.is_success() {
            return serde_json::from_str(&text).map_err(|e| unreachable(&e));
        }
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        let said = said["error"]["message"]
            .as_str()
            .unwrap_or("no reason given");
        let reason = format!("{status}: {said}");
        match status.as_u16() {
            404 => Err(Trouble::Missing(reason)),
            408 | 429 | 500.. => Err(Trouble::Unreachable(reason)),
            _ => Err(Trouble::Refused(reason)),
        }
    }
}
