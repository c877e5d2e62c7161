//! One issuer: its keys, and what a token of it must look like.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use axum::http::HeaderName;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Validation, decode, decode_header};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::identity::Naming;
use super::keys::{KeySet, KeySetError};
use super::source::{Source, SourceError};
use crate::config::SigningAlgorithm;

/// How long apart the issuer is asked for keys because a token names one that is not known. A caller who makes names
/// up must not make us ask without end.
const AT_MOST_EVERY: Duration = Duration::from_secs(10);
/// Keys of an issuer that names none in its tokens; each costs a signature to try.
const MAX_TRIES: usize = 8;
const MAX_KEY_ID: usize = 256;

/// Why a token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The reason is for the log: a caller who guesses must not be helped.
    Invalid(&'static str),
    Expired,
    /// There are no keys to verify it with.
    NoKeys,
}

#[derive(Debug)]
pub(super) struct Issuer {
    pub(super) rules: Rules,
    pub(super) source: Source,
    keys: ArcSwapOption<Keys>,
    /// Counts the key sets, so that what was verified with an earlier one is verified again.
    version: AtomicU64,
    /// When keys were last asked for.
    asked: Mutex<Option<Instant>>,
}

#[derive(Debug)]
struct Keys {
    set: KeySet,
    text: Vec<u8>,
}

/// Why the keys in force could not be replaced.
#[derive(Debug, thiserror::Error)]
pub(super) enum RefreshError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the key set is no use: {0}")]
    KeySet(#[from] KeySetError),
}

/// What a verified token says.
#[derive(Debug)]
pub(super) struct Claims {
    pub(super) claims: Map<String, Value>,
    /// When it is no longer good, with the leeway.
    pub(super) expires: i64,
    /// Of the keys it was verified with.
    pub(super) version: u64,
}

/// What a token of it must look like, and how it names its bearer.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) url: String,
    pub(super) header: HeaderName,
    pub(super) naming: Naming,
    pub(super) groups_claim: String,
    pub(super) algorithms: Vec<SigningAlgorithm>,
    pub(super) audience: Option<String>,
    pub(super) leeway: i64,
}

impl Issuer {
    pub(super) fn new(rules: Rules, source: Source) -> Issuer {
        Issuer {
            rules,
            source,
            keys: ArcSwapOption::empty(),
            version: AtomicU64::new(0),
            asked: Mutex::new(None),
        }
    }

    pub(super) fn has_keys(&self) -> bool {
        self.keys.load().is_some()
    }

    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Takes the keys as they are now. On failure those in force stay.
    pub(super) async fn refresh(&self) -> Result<(), RefreshError> {
        let mut asked = self.asked.lock().await;
        *asked = Some(Instant::now());
        self.fetch().await
    }

    /// The same, unless it was done a moment ago. Those who come while it is done wait for it.
    async fn refresh_if_due(&self) {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|at| at.elapsed() < AT_MOST_EVERY) {
            return;
        }
        *asked = Some(Instant::now());
        if let Err(error) = self.fetch().await {
            tracing::warn!(issuer = self.rules.url, %error, "the issuer's keys cannot be read");
        }
    }

    async fn fetch(&self) -> Result<(), RefreshError> {
        let text = self.source.read().await?;
        if self
            .keys
            .load()
            .as_ref()
            .is_some_and(|keys| keys.text == text)
        {
            return Ok(());
        }
        let set = KeySet::read(&text)?;
        self.keys.store(Some(Arc::new(Keys { set, text })));
        self.version.fetch_add(1, Ordering::Release);
        tracing::info!(issuer = self.rules.url, "the issuer's keys are new");
        Ok(())
    }

    /// Checks signature, issuer, audience and times, in this order.
    pub(super) async fn verify(&self, token: &str, now: i64) -> Result<Claims, Refused> {
        let header = decode_header(token).map_err(|_| Refused::Invalid("no header"))?;
        if header.crit.is_some() {
            return Err(Refused::Invalid("critical extensions are not understood"));
        }
        let algorithm = SigningAlgorithm::named(header.alg)
            .filter(|algorithm| self.rules.algorithms.contains(algorithm))
            .ok_or(Refused::Invalid("algorithm not allowed"))?;
        let key_id = header.kid.as_deref();
        if key_id.is_some_and(|id| id.len() > MAX_KEY_ID) {
            return Err(Refused::Invalid("key id too long"));
        }
        let mut refused = self.try_keys(token, key_id, algorithm, now);
        if matches!(refused, Err(Refused::NoKeys)) {
            self.refresh_if_due().await;
            refused = self.try_keys(token, key_id, algorithm, now);
        }
        match refused {
            // There are keys, and none is the one that the token names.
            Err(Refused::NoKeys) if self.has_keys() => Err(Refused::Invalid("key not known")),
            outcome => outcome,
        }
    }

    fn try_keys(
        &self,
        token: &str,
        key_id: Option<&str>,
        algorithm: SigningAlgorithm,
        now: i64,
    ) -> Result<Claims, Refused> {
        // Before the keys: a set that is replaced meanwhile must not make an old result look new.
        let version = self.version();
        let keys = self.keys.load();
        let Some(keys) = keys.as_ref() else {
            return Err(Refused::NoKeys);
        };
        let mut refused = Refused::NoKeys;
        for key in keys.set.of(key_id, algorithm).take(MAX_TRIES) {
            match decode::<Map<String, Value>>(token, key, &self.validation(algorithm)) {
                Ok(data) => return self.check(data.claims, version, now),
                Err(error) => match error.kind() {
                    ErrorKind::InvalidSignature => refused = Refused::Invalid("signature"),
                    ErrorKind::InvalidIssuer => return Err(Refused::Invalid("issuer")),
                    ErrorKind::InvalidAudience => return Err(Refused::Invalid("audience")),
                    ErrorKind::MissingRequiredClaim(_) => {
                        return Err(Refused::Invalid("a required claim is missing"));
                    }
                    _ => return Err(Refused::Invalid("malformed")),
                },
            }
        }
        // Without a name any key may be meant, also one that is not here yet.
        match refused {
            Refused::Invalid(_) if key_id.is_none() => Err(Refused::NoKeys),
            refused => Err(refused),
        }
    }

    fn validation(&self, algorithm: SigningAlgorithm) -> Validation {
        let mut validation = Validation::new(algorithm.of_jwt());
        // Times are checked here, by the clock that is given.
        validation.validate_exp = false;
        validation.set_issuer(&[&self.rules.url]);
        match &self.rules.audience {
            Some(audience) => {
                validation.set_audience(&[audience]);
                validation.set_required_spec_claims(&["exp", "iss", "aud"]);
            }
            None => {
                validation.validate_aud = false;
                validation.set_required_spec_claims(&["exp", "iss"]);
            }
        }
        validation
    }

    fn check(&self, claims: Map<String, Value>, version: u64, now: i64) -> Result<Claims, Refused> {
        // The library also takes a list of issuers.
        if claims.get("iss").and_then(Value::as_str) != Some(self.rules.url.as_str()) {
            return Err(Refused::Invalid("issuer"));
        }
        let time = |name: &str| claims.get(name).map(|value| seconds(value).ok_or(()));
        let expires = match time("exp") {
            Some(Ok(expires)) => expires.saturating_add(self.rules.leeway),
            _ => return Err(Refused::Invalid("exp")),
        };
        if expires <= now {
            return Err(Refused::Expired);
        }
        match time("nbf") {
            None => {}
            Some(Ok(from)) if from.saturating_sub(self.rules.leeway) <= now => {}
            Some(_) => return Err(Refused::Invalid("not yet valid")),
        }
        Ok(Claims {
            claims,
            expires,
            version,
        })
    }
}

/// A NumericDate, which may have a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast from a float saturates, and a time beyond all clocks is as good as any other"
)]
fn seconds(value: &Value) -> Option<i64> {
    let whole = value.as_i64();
    whole.or_else(|| value.as_f64().map(|seconds| seconds.floor() as i64))
}

#[cfg(test)]
mod tests;
