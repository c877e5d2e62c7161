//! Recorded answers in place of the API.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use hyperfleet_client::header::{HeaderMap, HeaderName, HeaderValue};
use hyperfleet_client::{Answer, BaseUrl, BaseUrlError, Call, CallError, Cause, Retry, StatusCode};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::calls::Api;
use crate::config::ApiClient;

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exchange {
    /// The verb.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// What was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Json>,
    /// The status of the answer.
    pub status: u16,
    /// Whether the answer was recorded, or the `200 {}` that stands for any other.
    pub recorded: bool,
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is not the JSON we expect.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A pattern is no regular expression.
    #[error("urlPattern `{pattern}`: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        source: Box<regex::Error>,
    },
    /// An endpoint has nothing to answer.
    #[error("urlPattern `{0}` has no responses")]
    NoResponses(String),
    /// The configured address is none.
    #[error("clients.hyperfleet_api: {0}")]
    BaseUrl(#[from] BaseUrlError),
}

#[derive(Deserialize)]
struct File {
    responses: Vec<Endpoint>,
}

#[derive(Deserialize)]
struct Endpoint {
    r#match: Match,
    responses: Vec<Response>,
}

#[derive(Deserialize)]
struct Match {
    #[serde(default)]
    method: String,
    #[serde(rename = "urlPattern")]
    url_pattern: String,
}

#[derive(Clone, Deserialize)]
struct Response {
    #[serde(default, rename = "statusCode")]
    status_code: u16,
    #[serde(default)]
    headers: std::collections::BTreeMap<String, String>,
    #[serde(default)]
    body: Json,
}

/// Answers in the order they were recorded; the last one again and again.
#[derive(Debug)]
pub struct RecordedApi {
    base: BaseUrl,
    endpoints: Vec<Recorded>,
    exchanges: Mutex<Vec<Exchange>>,
}

struct Recorded {
    method: String,
    pattern: Regex,
    responses: Vec<Response>,
    next: Mutex<usize>,
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.pattern)
    }
}

impl RecordedApi {
    /// With the recording in `text`, as the API that `client` configures.
    pub fn new(text: Option<&[u8]>, client: &ApiClient) -> Result<Self, RecordingError> {
        let file = match text {
            Some(text) => serde_json::from_slice(text)?,
            None => File {
                responses: Vec::new(),
            },
        };
        let mut endpoints = Vec::new();
        for endpoint in file.responses {
            let pattern = endpoint.r#match.url_pattern;
            if endpoint.responses.is_empty() {
                return Err(RecordingError::NoResponses(pattern));
            }
            endpoints.push(Recorded {
                method: endpoint.r#match.method,
                pattern: Regex::new(&pattern).map_err(|source| RecordingError::Pattern {
                    pattern,
                    source: Box::new(source),
                })?,
                responses: endpoint.responses,
                next: Mutex::new(0),
            });
        }
        // Nothing is sent, so any address will do.
        let base = match client.base_url.as_str() {
            "" => "http://api.invalid",
            base => base,
        };
        Ok(Self {
            base: BaseUrl::parse(base, &client.version)?,
            endpoints,
            exchanges: Mutex::default(),
        })
    }

    /// All calls so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        let exchanges = self.exchanges.lock();
        exchanges.unwrap_or_else(|held| held.into_inner()).clone()
    }

    fn find(&self, method: &str, url: &str) -> Option<Response> {
        let endpoint = self.endpoints.iter().find(|endpoint| {
            let any = matches!(endpoint.method.as_str(), "" | "*");
            (any || endpoint.method.eq_ignore_ascii_case(method)) && endpoint.pattern.is_match(url)
        })?;
        let mut next = endpoint
            .next
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        let response = endpoint.responses.get(*next).or(endpoint.responses.last());
        *next += 1;
        response.cloned()
    }
}

#[async_trait]
impl Api for RecordedApi {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        let failed = |url: String, attempts, cause| CallError {
            method: call.method.clone(),
            url,
            attempts,
            duration: Duration::ZERO,
            cause,
        };
        let url = match self.base.resolve(&call.url) {
            Ok(url) => url.to_string(),
            Err(reason) => return Err(failed(call.url.clone(), 0, Cause::Request(reason))),
        };
        let found = self.find(call.method.as_str(), &url);
        let recorded = found.is_some();
        let response = found.unwrap_or(Response {
            status_code: 200,
            headers: Default::default(),
            body: json!({}),
        });
        let code = match response.status_code {
            0 => 200,
            code => code,
        };
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::OK);
        let body = call.body.as_ref();
        let body = body.and_then(|body| serde_json::from_slice(body).ok());
        let mut exchanges = self
            .exchanges
            .lock()
            .unwrap_or_else(|held| held.into_inner());
        exchanges.push(Exchange {
            method: call.method.to_string(),
            url: url.clone(),
            body,
            status: status.as_u16(),
            recorded,
        });
        let text = match response.body {
            Json::String(text) => text,
            other => other.to_string(),
        };
        if !status.is_success() {
            let problem = serde_json::from_str(&text).ok();
            return Err(failed(
                url,
                1,
                Cause::Status {
                    status,
                    problem,
                    body: text,
                },
            ));
        }
        let headers = response.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        Ok(Answer {
            status,
            headers: headers.collect::<HeaderMap>(),
            body: text.into(),
            attempts: 1,
        })
    }

    fn retry(&self) -> Retry {
        Retry::NEVER
    }
}
