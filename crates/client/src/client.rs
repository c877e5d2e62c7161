//! Sending a call, as often as it takes.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use chrono::Utc;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, InvalidHeaderValue, RETRY_AFTER,
};
use reqwest::{Method, Response, StatusCode, Url, redirect};
use tokio::time::Instant;

use crate::address::{BaseUrl, BaseUrlError};
use crate::call::{Answer, Call};
use crate::config::{ClientConfig, Trust};
use crate::error::{CallError, Cause, excerpt, printable, problem};
use crate::origins::{NotAnOrigin, NotLinkLocal, Origins};
use crate::retry::{Retry, is_worth_retrying, retry_after};
use crate::tls;
use crate::token::Tokens;

/// How many redirects within one origin are followed.
const MAX_REDIRECTS: usize = 5;

/// A client of one API. Clones share connections and token.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    http: reqwest::Client,
    base: BaseUrl,
    timeout: Duration,
    retry: Retry,
    default_headers: HeaderMap,
    tokens: Option<Tokens>,
    max_answer_bytes: usize,
    origins: Origins,
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    BaseUrl(#[from] BaseUrlError),
    #[error("the user agent cannot be sent in a header: {0}")]
    UserAgent(#[from] InvalidHeaderValue),
    #[error("the time an API call may take must be more than zero")]
    Timeout,
    #[error("allowed_origins: {0}")]
    Origin(#[from] NotAnOrigin),
    #[error("cannot set up HTTP: {0}")]
    Http(#[from] reqwest::Error),
}

impl Client {
    pub fn new(config: ClientConfig) -> Result<Client, BuildError> {
        tls::install_ring();
        let base = BaseUrl::parse(&config.base_url, &config.version)?;
        if config.timeout.is_zero() {
            return Err(BuildError::Timeout);
        }
        let mut http = reqwest::Client::builder()
            .user_agent(HeaderValue::try_from(config.user_agent)?)
            .redirect(redirect::Policy::custom(follow_within_origin))
            .dns_resolver(Arc::new(NotLinkLocal))
            .connect_timeout(config.timeout)
            .pool_idle_timeout(Duration::from_secs(90))
            .tcp_keepalive(Duration::from_secs(30));
        if config.trust == Trust::Nobody {
            http = http.tls_certs_only([]);
        }
        Ok(Client {
            shared: Arc::new(Shared {
                http: http.build()?,
                base,
                timeout: config.timeout,
                retry: config.retry,
                default_headers: config.default_headers,
                tokens: config.auth.map(Tokens::new),
                max_answer_bytes: config.max_answer_bytes,
                origins: Origins::read(&config.allowed_origins)?,
            }),
        })
    }

    pub fn base_url(&self) -> &BaseUrl {
        &self.shared.base
    }

    /// Sends a call until it is answered with 2xx, with something that will not change, or too often.
    pub async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let resolved = self.shared.base.resolve(&call.url).and_then(|url| {
            match self.shared.origins.refuse(&self.shared.base, &url) {
                None => Ok(url),
                Some(reason) => Err(reason),
            }
        });
        match resolved {
            Ok(url) => self.send(url, call).await,
            Err(reason) => Err(CallError {
                method: call.method,
                url: excerpt(call.url.as_bytes()),
                attempts: 0,
                duration: Duration::ZERO,
                cause: Cause::Request(reason),
            }),
        }
    }

    pub(crate) async fn send(&self, url: Url, call: Call) -> Result<Answer, CallError> {
        let retry = call.retry.unwrap_or(self.shared.retry);
        let started = Instant::now();
        let mut attempts = 0;
        loop {
            let failure = match self.attempt(&url, &call).await {
                Ok(answer) => {
                    return Ok(Answer {
                        attempts: attempts + 1,
                        ..answer
                    });
                }
                Err(failure) => failure,
            };
            // Nothing was sent: that is no attempt.
            attempts += u32::from(!matches!(
                failure.cause,
                Cause::Token(_) | Cause::Request(_)
            ));
            if !failure.again || attempts >= retry.attempts.max(1) {
                return Err(CallError {
                    method: call.method,
                    url: printable(&url),
                    attempts,
                    duration: started.elapsed(),
                    cause: failure.cause,
                });
            }
            let wait = retry.delay_asked(attempts, fastrand::f64(), failure.asked);
            tracing::debug!(
                method = %call.method,
                url = %printable(&url),
                attempt = attempts,
                cause = %failure.cause,
                ?wait,
                "call failed, trying again"
            );
            tokio::time::sleep(wait).await;
        }
    }

    async fn attempt(&self, url: &Url, call: &Call) -> Result<Answer, Failure> {
        let timeout = call.timeout.unwrap_or(self.shared.timeout);
        let request = self.request_to(url, call).await?.timeout(timeout);
        let response = request
            .send()
            .await
            .map_err(|error| Failure::transport(error, timeout))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self
            .body(response)
            .await
            .map_err(|cause| Failure::body(cause, timeout))?;
        if status.is_success() {
            return Ok(Answer {
                status,
                headers,
                body,
                attempts: 1,
            });
        }
        Err(self.refused(status, &headers, &body))
    }

    /// An answer that goes on for as long as it likes; tried once. Its head must come in time.
    pub(crate) async fn open(&self, url: &Url, call: &Call) -> Result<Response, CallError> {
        let limit = call.timeout.unwrap_or(self.shared.timeout);
        let started = Instant::now();
        let opened = async {
            let sent = self.request_to(url, call).await?.send();
            let response = match tokio::time::timeout(limit, sent).await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => return Err(Failure::transport(error, limit)),
                Err(_) => return Err(Failure::lasting(Cause::Timeout(limit))),
            };
            let (status, headers) = (response.status(), response.headers().clone());
            if status.is_success() {
                return Ok(response);
            }
            match tokio::time::timeout(limit, self.body(response)).await {
                Ok(Ok(body)) => Err(self.refused(status, &headers, &body)),
                Ok(Err(cause)) => Err(Failure::body(cause, limit)),
                Err(_) => Err(Failure::lasting(Cause::Timeout(limit))),
            }
        };
        opened.await.map_err(|failure| CallError {
            method: call.method.clone(),
            url: printable(url),
            attempts: 1,
            duration: started.elapsed(),
            cause: failure.cause,
        })
    }

    pub(crate) fn max_answer_bytes(&self) -> usize {
        self.shared.max_answer_bytes
    }

    async fn request_to(&self, url: &Url, call: &Call) -> Result<reqwest::RequestBuilder, Failure> {
        let headers = self.headers(url, call).await?;
        let request = self
            .shared
            .http
            .request(call.method.clone(), url.clone())
            .headers(headers);
        Ok(match &call.body {
            Some(body) => request.body(body.clone()),
            None => request,
        })
    }

    /// What an answer that is not 2xx means.
    fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
        if status == StatusCode::UNAUTHORIZED
            && let Some(tokens) = &self.shared.tokens
        {
            tokens.forget();
        }
        Failure {
            again: is_worth_retrying(status),
            asked: headers
                .get(RETRY_AFTER)
                .and_then(|value| value.to_str().ok())
                .and_then(|value| retry_after(value, Utc::now())),
            cause: Cause::Status {
                status,
                problem: problem(status, body).map(Box::new),
                body: excerpt(body),
            },
        }
    }

    /// Defaults, then the call's own, then the token; defaults and token only where they belong.
    async fn headers(&self, url: &Url, call: &Call) -> Result<HeaderMap, Failure> {
        let ours = self.shared.base.is_origin_of(url);
        let mut headers = if ours {
            self.shared.default_headers.clone()
        } else {
            HeaderMap::new()
        };
        for name in call.headers.keys() {
            headers.remove(name);
        }
        headers.extend(call.headers.clone());
        if let Some(tokens) = self.shared.tokens.as_ref().filter(|_| ours) {
            let bearer = tokens
                .bearer()
                .await
                .map_err(|error| Failure::lasting(Cause::Token(error)))?;
            headers.insert(AUTHORIZATION, bearer);
        }
        if call.body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !headers.contains_key(ACCEPT) {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        }
        Ok(headers)
    }

    async fn body(&self, mut response: Response) -> Result<Bytes, BodyFailure> {
        let limit = self.shared.max_answer_bytes;
        let announced = response.content_length().unwrap_or(0);
        if announced > limit as u64 {
            return Err(BodyFailure::TooLarge(limit));
        }
        let mut body = BytesMut::with_capacity(announced as usize);
        while let Some(chunk) = response.chunk().await.map_err(BodyFailure::Broken)? {
            if body.len() + chunk.len() > limit {
                return Err(BodyFailure::TooLarge(limit));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

/// What one attempt ended with, and whether another one makes sense.
struct Failure {
    cause: Cause,
    again: bool,
    asked: Option<Duration>,
}

enum BodyFailure {
    Broken(reqwest::Error),
    TooLarge(usize),
}

impl Failure {
    fn lasting(cause: Cause) -> Failure {
        Failure {
            cause,
            again: false,
            asked: None,
        }
    }

    fn transport(error: reqwest::Error, timeout: Duration) -> Failure {
        if error.is_builder() {
            return Failure::lasting(Cause::Request(error.without_url().to_string()));
        }
        Failure {
            cause: if error.is_timeout() {
                Cause::Timeout(timeout)
            } else {
                Cause::Transport(error.without_url())
            },
            again: true,
            asked: None,
        }
    }

    fn body(failure: BodyFailure, timeout: Duration) -> Failure {
        match failure {
            BodyFailure::Broken(error) => Failure::transport(error, timeout),
            BodyFailure::TooLarge(limit) => Failure::lasting(Cause::TooLarge(limit)),
        }
    }
}

/// A redirect to another origin would carry the question, and perhaps the token, to a stranger: its 3xx is the answer.
fn follow_within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let asked = attempt.previous();
    let stays = asked
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && asked.len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// A path of the API cannot be made from these segments: one is empty or would be swallowed.
pub(crate) fn refuse_segments(method: Method, segments: &[&str]) -> Option<CallError> {
    segments
        .iter()
        .find(|segment| segment.is_empty() || **segment == "." || **segment == "..")
        .map(|segment| CallError {
            method,
            url: segments.join("/"),
            attempts: 0,
            duration: Duration::ZERO,
            cause: Cause::Request(format!("`{segment}` is not a name or an id")),
        })
}
