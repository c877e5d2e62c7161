//! What a client is made of.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::HeaderMap;

use crate::retry::Retry;

/// How to reach the API.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// Scheme, host and optionally a path in front of `/api/hyperfleet`.
    pub base_url: String,
    /// The version in `/api/hyperfleet/<version>`.
    pub version: String,
    /// Bounds one attempt, from connecting to the last byte of the answer.
    pub timeout: Duration,
    pub retry: Retry,
    /// Sent with every call to the API itself, never to another origin.
    pub default_headers: HeaderMap,
    pub auth: Option<Auth>,
    pub user_agent: String,
    /// The largest answer that is read, in bytes.
    pub max_answer_bytes: usize,
    pub trust: Trust,
    /// What may be asked beside the API: `https://vault.example.com:8200`.
    pub allowed_origins: Vec<String>,
}

impl ClientConfig {
    pub fn new(base_url: impl Into<String>) -> ClientConfig {
        ClientConfig {
            base_url: base_url.into(),
            version: "v1".to_owned(),
            timeout: Duration::from_secs(10),
            retry: Retry::default(),
            default_headers: HeaderMap::new(),
            auth: None,
            user_agent: concat!("hyperfleet/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_answer_bytes: 16 * 1024 * 1024,
            trust: Trust::System,
            allowed_origins: Vec::new(),
        }
    }
}

/// Whose certificates are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// Those the machine believes. They are read when the client is made, which takes longer than a call.
    #[default]
    System,
    /// Nobody's, so that there is nothing to read: for a program that makes a few calls by plain HTTP.
    Nobody,
}

/// Who the client is.
#[derive(Debug, Clone)]
pub struct Auth {
    pub token: TokenFrom,
    /// How long a token is used before it is read again; zero reads it for every attempt, which
    /// is what a token file that Kubernetes rotates needs at least.
    pub cache_ttl: Duration,
}

/// Where the bearer token comes from. Surrounding white space is not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenFrom {
    File(PathBuf),
    /// The name of an environment variable.
    Env(String),
}
