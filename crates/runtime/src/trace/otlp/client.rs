//! How the exporter's own thread sends its requests: through the process' tokio runtime.
//!
//! The SDK exports from a plain thread without a reactor. The alternative, a blocking HTTP
//! client, would bring a second runtime.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::crypto;
use crate::trace::TraceError;

#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    runtime: Handle,
}

impl Client {
    pub(super) fn new(timeout: Duration) -> Result<Self, TraceError> {
        crypto::install_ring();
        let failed = |error: &dyn std::fmt::Display| TraceError::Exporter(error.to_string());
        Ok(Self {
            http: reqwest::Client::builder()
                .timeout(timeout)
                .build()
                .map_err(|error| failed(&error))?,
            runtime: Handle::try_current().map_err(|error| failed(&error))?,
        })
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let http = self.http.clone();
        let answer = self.runtime.spawn(async move {
            let mut answer = http.execute(request).await?;
            let status = answer.status();
            let headers = std::mem::take(answer.headers_mut());
            Ok::<_, reqwest::Error>((status, headers, answer.bytes().await?))
        });
        let (status, headers, body) = answer.await??;
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}
