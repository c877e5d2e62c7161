//! One request to the API server, bounded in rate, number, time and size.

use std::time::Duration;

use http::{Request, header::RETRY_AFTER};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use kube::core::Status;
use serde_json::Value;

use super::{Doing, KubernetesTransport, classify::classify, connect};
use crate::{Failure, TransportError};

/// More than a page of the largest objects etcd keeps; a bigger answer is a broken server.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

impl KubernetesTransport {
    pub(super) async fn call(
        &self,
        request: Request<Vec<u8>>,
        doing: &Doing,
    ) -> Result<Value, TransportError> {
        let _under_way = self.limiter.acquire().await;
        let timeout = self.config.timeout;
        let answer = tokio::time::timeout(timeout, self.exchange(request));
        match answer.await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(failure)) => Err(doing.failed(failure)),
            Err(_) => Err(doing.failed(Failure::Unavailable {
                message: format!("no answer in {} s", timeout.as_secs()),
            })),
        }
    }

    async fn exchange(&self, request: Request<Vec<u8>>) -> Result<Value, Failure> {
        let answer = self
            .client
            .send(request.map(Body::from))
            .await
            .map_err(|error| Failure::Unavailable {
                message: connect::reason(&error),
            })?;
        let status = answer.status();
        let retry_after = answer
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let body = Limited::new(answer.into_body(), MAX_ANSWER)
            .collect()
            .await
            .map_err(|error| Failure::Unavailable {
                message: format!("the answer broke off: {}", connect::reason(&*error)),
            })?
            .to_bytes();
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| Failure::Other {
                status: Some(status.as_u16()),
                message: format!("the answer is not JSON: {error}"),
            });
        }
        // A proxy in between answers in its own words.
        let said = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| {
            let text = String::from_utf8_lossy(&body[..body.len().min(512)]);
            Status::failure(text.trim(), "")
        });
        Err(classify(status.as_u16(), &said, retry_after))
    }
}
