//! Saying that a Sentinel is there, and hearing what it may work on.

use std::time::Duration;

use hyperfleet_core::presence::{Announcement, Standing};
use reqwest::Method;

use crate::call::Call;
use crate::client::Client;
use crate::error::{CallError, Cause, printable};
use crate::retry::Retry;

impl Client {
    /// Announces a Sentinel. Tried once within `timeout`: what it answers is only worth something while it is fresh.
    pub async fn announce_sentinel(
        &self,
        id: &str,
        said: &Announcement,
        timeout: Duration,
    ) -> Result<Standing, CallError> {
        let url = self.url_of(&Method::PUT, &["sentinels", id])?;
        let failed = |cause| CallError {
            method: Method::PUT,
            url: printable(&url),
            attempts: 1,
            duration: Duration::ZERO,
            cause,
        };
        let body =
            serde_json::to_vec(said).map_err(|error| failed(Cause::Request(error.to_string())))?;
        let call = Call {
            retry: Some(Retry::NEVER),
            timeout: Some(timeout),
            ..Call::new(Method::PUT, url.as_str()).body(body)
        };
        let answer = self.send(url.clone(), call).await?;
        answer
            .json()
            .map_err(|error| failed(Cause::Answer(error.to_string())))
    }

    /// Says that a Sentinel is gone, so that others need not wait for its time to pass.
    pub async fn withdraw_sentinel(&self, id: &str, timeout: Duration) -> Result<(), CallError> {
        let url = self.url_of(&Method::DELETE, &["sentinels", id])?;
        let call = Call {
            retry: Some(Retry::NEVER),
            timeout: Some(timeout),
            ..Call::new(Method::DELETE, url.as_str())
        };
        self.send(url, call).await.map(drop)
    }
}
