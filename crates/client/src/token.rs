//! The bearer token: read when needed, kept for as long as allowed, never printed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderValue;
use tokio::time::Instant;

use crate::config::{Auth, TokenFrom};

/// Why there is no token. No request is sent then.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("cannot read the token file {path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the token file {0} is empty")]
    EmptyFile(PathBuf),
    #[error("the environment variable {0} that should hold the token is not set or empty")]
    NoVariable(String),
    #[error("the token from {0} has characters that cannot be sent in a header")]
    NotAHeader(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    auth: Arc<Auth>,
    kept: Arc<Mutex<Option<(Instant, HeaderValue)>>>,
}

impl Tokens {
    pub(crate) fn new(auth: Auth) -> Tokens {
        Tokens {
            auth: Arc::new(auth),
            kept: Arc::default(),
        }
    }

    /// The value of the `Authorization` header.
    pub(crate) async fn bearer(&self) -> Result<HeaderValue, TokenError> {
        if let Some(kept) = self.kept() {
            return Ok(kept);
        }
        let (token, origin) = self.read().await?;
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim()))
            .map_err(|_| TokenError::NotAHeader(origin))?;
        value.set_sensitive(true);
        if self.auth.cache_ttl > Duration::ZERO {
            *self.lock() = Some((Instant::now(), value.clone()));
        }
        Ok(value)
    }

    /// The server no longer takes the token: the next attempt reads it again.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    fn kept(&self) -> Option<HeaderValue> {
        self.lock()
            .as_ref()
            .filter(|(since, _)| since.elapsed() < self.auth.cache_ttl)
            .map(|(_, value)| value.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, HeaderValue)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self) -> Result<(String, String), TokenError> {
        match &self.auth.token {
            TokenFrom::File(path) => {
                let token =
                    tokio::fs::read_to_string(path)
                        .await
                        .map_err(|source| TokenError::File {
                            path: path.clone(),
                            source,
                        })?;
                if token.trim().is_empty() {
                    return Err(TokenError::EmptyFile(path.clone()));
                }
                Ok((token, path.display().to_string()))
            }
            TokenFrom::Env(name) => std::env::var(name)
                .ok()
                .filter(|token| !token.trim().is_empty())
                .map(|token| (token, name.clone()))
                .ok_or_else(|| TokenError::NoVariable(name.clone())),
        }
    }
}
