//! One request and its answer.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::retry::Retry;

/// A request as a person writes it down.
#[derive(Debug, Clone)]
pub struct Call {
    pub method: Method,
    /// Absolute or relative, see [`BaseUrl::resolve`](crate::BaseUrl::resolve).
    pub url: String,
    /// Win over the client's default headers, but not over its token.
    pub headers: HeaderMap,
    /// `Content-Type: application/json` unless a header says otherwise.
    pub body: Option<Bytes>,
    /// Instead of the client's.
    pub timeout: Option<Duration>,
    /// Instead of the client's.
    pub retry: Option<Retry>,
}

impl Call {
    pub fn new(method: Method, url: impl Into<String>) -> Call {
        Call {
            method,
            url: url.into(),
            headers: HeaderMap::new(),
            body: None,
            timeout: None,
            retry: None,
        }
    }

    pub fn get(url: impl Into<String>) -> Call {
        Call::new(Method::GET, url)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Call {
        self.headers.insert(name, value);
        self
    }

    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Call {
        self.body = Some(body.into());
        self
    }

    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Call {
        self.timeout = Some(timeout);
        self
    }

    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Call {
        self.retry = Some(retry);
        self
    }
}

/// An answer with a 2xx status, read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// How many requests it took.
    pub attempts: u32,
}

impl Answer {
    /// The body as JSON; the error says what about it is not.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }
}
