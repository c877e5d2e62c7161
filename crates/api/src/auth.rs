//! Who asks.
//!
//! ```text
//!   Authorization: Bearer … ──► hash ──► verified before? ── yes ──────────────► Verified ──► name, groups
//!                                            │ no                                   ▲
//!                                            ▼                                      │
//!             iss ──► issuer ──► key by kid ──► signature ──► iss, aud ──► exp, nbf ┘
//!                                  │ not known: ask the issuer, at most every 10 s
//! ```
//!
//! A token is verified once and then known by its hash, until it expires or its issuer's keys change. No token is ever
//! in a log or in an answer.

mod cache;
mod identity;
mod issuer;
mod keys;
pub(crate) mod proxies;
mod setup;
mod signature;
mod source;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::HeaderMap;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyperfleet_core::problem::Code;
use hyperfleet_runtime::shutdown::Shutdown;
use serde_json::Value;

use crate::authz::Grants;
use crate::failure::Failure;
use cache::VerifiedTokens;
use issuer::{Issuer, Refused};
use proxies::TrustedProxies;
pub use setup::AuthSetupError;
use source::Source;

/// The longest token, in bytes.
const MAX_TOKEN: usize = 16 * 1024;
/// How often an issuer is asked for its keys although nobody misses one, so that a key that was withdrawn is forgotten.
const REFRESH: Duration = Duration::from_secs(3600);
/// The same for keys in a file, which costs next to nothing.
const REFRESH_FILE: Duration = Duration::from_secs(30);

/// Verifies who asks.
#[derive(Debug)]
pub(crate) struct Authenticator {
    issuers: Vec<Arc<Issuer>>,
    proxies: TrustedProxies,
    verified: VerifiedTokens,
}

/// What a token proved.
#[derive(Debug)]
pub(crate) struct Verified {
    issuer: usize,
    pub(crate) issuer_url: Arc<str>,
    version: u64,
    /// When it is no longer good, in seconds of Unix time.
    expires: i64,
    /// The name in the token, or why there is none.
    name: Result<Arc<str>, String>,
    pub(crate) groups: Vec<String>,
    /// What whoever has this name and these groups may do; looked up once.
    pub(crate) grants: OnceLock<Arc<Grants>>,
}

/// Who asks, as far as is known.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    pub(crate) verified: Arc<Verified>,
    /// The caller's name, or why there is none.
    pub(crate) name: Result<Arc<str>, String>,
    /// Whether the name is the token's own, and not one that a proxy gave.
    pub(crate) own_name: bool,
}

impl Authenticator {
    /// Who sent these headers, from this address.
    pub(crate) async fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        now: i64,
    ) -> Result<Principal, Failure> {
        let mut best = Failure::new(Code::Unauthenticated, "missing authorization header");
        let mut looked_at: Vec<&str> = Vec::new();
        for issuer in &self.issuers {
            let header = issuer.rules.header.as_str();
            if looked_at.contains(&header) || !headers.contains_key(header) {
                continue;
            }
            looked_at.push(header);
            let failure = match bearer(headers, header) {
                Ok(token) => match self.verify(header, token, now).await {
                    Ok(verified) => return self.named(verified, headers, peer),
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            if telling(&failure) >= telling(&best) {
                best = failure;
            }
        }
        Err(best)
    }

    async fn verify(&self, header: &str, token: &str, now: i64) -> Result<Arc<Verified>, Failure> {
        let fingerprint = VerifiedTokens::fingerprint(header, token);
        if let Some(verified) = self.verified.get(&fingerprint) {
            if verified.expires <= now {
                self.verified.forget(&fingerprint);
                return Err(refusal(Refused::Expired));
            }
            if self.issuers[verified.issuer].version() == verified.version {
                return Ok(verified);
            }
        }
        let mut refused = Refused::Invalid("issuer not known");
        if let Some(claimed) = claimed_issuer(token) {
            for (index, issuer) in self.issuers.iter().enumerate() {
                if issuer.rules.url != claimed || issuer.rules.header != header {
                    continue;
                }
                match issuer.verify(token, now).await {
                    Ok(claims) => {
                        let verified = Arc::new(Verified::new(index, issuer, &claims));
                        self.verified.put(fingerprint, verified.clone(), now);
                        return Ok(verified);
                    }
                    Err(why) if why == Refused::Expired || refused != Refused::Expired => {
                        refused = why;
                    }
                    Err(_) => {}
                }
            }
        }
        if let Refused::Invalid(why) = refused {
            tracing::debug!(why, "a token was refused");
        }
        Err(refusal(refused))
    }

    /// The name of the caller: the proxy's word if it is one of ours, else the token's.
    fn named(
        &self,
        verified: Arc<Verified>,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
    ) -> Result<Principal, Failure> {
        let naming = &self.issuers[verified.issuer].rules.naming;
        let Some(given) = naming.in_headers(headers) else {
            let name = verified.name.clone();
            return Ok(Principal {
                verified,
                name,
                own_name: true,
            });
        };
        if !self.proxies.hold(peer) {
            return Err(Failure::new(
                Code::Unauthenticated,
                "the header that names the caller is taken from trusted proxies only",
            ));
        }
        Ok(Principal {
            verified,
            name: given.map(Arc::from),
            own_name: false,
        })
    }

    /// The issuers whose tokens cannot be verified for want of keys.
    pub(crate) fn without_keys(&self) -> Vec<&str> {
        let without = self.issuers.iter().filter(|issuer| !issuer.has_keys());
        without.map(|issuer| issuer.rules.url.as_str()).collect()
    }

    /// Takes the keys of every issuer, and keeps them current until told to stop. While there are none, they are asked
    /// for when a token comes.
    pub(crate) fn keep_keys(&self, shutdown: &Shutdown) {
        for issuer in &self.issuers {
            let (issuer, stop) = (issuer.clone(), shutdown.clone());
            let every = match issuer.source {
                Source::File(_) => REFRESH_FILE,
                _ => REFRESH,
            };
            shutdown.spawn(async move {
                loop {
                    if let Err(error) = issuer.refresh().await {
                        let has_keys = issuer.has_keys();
                        tracing::warn!(issuer = issuer.rules.url, has_keys, %error, "the issuer's keys cannot be read");
                    }
                    tokio::select! {
                        () = stop.requested() => return,
                        () = tokio::time::sleep(every) => {}
                    }
                }
            });
        }
    }
}

impl Verified {
    fn new(index: usize, issuer: &Issuer, claims: &issuer::Claims) -> Verified {
        let groups = match claims.claims.get(&issuer.rules.groups_claim) {
            Some(Value::Array(groups)) => groups
                .iter()
                .filter_map(|group| group.as_str().map(str::to_owned))
                .collect(),
            Some(Value::String(group)) => vec![group.clone()],
            _ => Vec::new(),
        };
        Verified {
            issuer: index,
            issuer_url: issuer.rules.url.as_str().into(),
            version: claims.version,
            expires: claims.expires,
            name: issuer.rules.naming.in_claims(&claims.claims).map(Arc::from),
            groups,
            grants: OnceLock::new(),
        }
    }

    #[cfg(test)]
    fn for_test(expires: i64) -> Verified {
        Verified {
            issuer: 0,
            issuer_url: "".into(),
            version: 0,
            expires,
            name: Err(String::new()),
            groups: Vec::new(),
            grants: OnceLock::new(),
        }
    }
}

/// The token in a header that must be there once.
fn bearer<'a>(headers: &'a HeaderMap, header: &str) -> Result<&'a str, Failure> {
    let invalid = |detail: &str| Failure::new(Code::InvalidCredentials, detail);
    let mut given = headers.get_all(header).iter();
    let value = given
        .next()
        .map_or("", |value| value.to_str().unwrap_or(""));
    if given.next().is_some() {
        return Err(invalid("the token's header is there more than once"));
    }
    let (scheme, token) = value.trim().split_once(' ').unwrap_or_default();
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(invalid("the token's header must be 'Bearer <token>'"));
    }
    if token.len() > MAX_TOKEN {
        return Err(invalid("the token is too long"));
    }
    Ok(token)
}

/// Whose token it says it is. Nothing is believed for it: it only chooses whose keys are tried.
fn claimed_issuer(token: &str) -> Option<String> {
    let payload = token.split('.').nth(1)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let mut claims: Value = serde_json::from_slice(&payload).ok()?;
    match claims.get_mut("iss").map(Value::take) {
        Some(Value::String(issuer)) => Some(issuer),
        _ => None,
    }
}

fn refusal(refused: Refused) -> Failure {
    match refused {
        Refused::Expired => Failure::new(Code::TokenExpired, "JWT token has expired"),
        Refused::Invalid(_) => Failure::new(Code::InvalidCredentials, "invalid JWT token"),
        Refused::NoKeys => Failure::new(
            Code::Unavailable,
            "The keys of the token's issuer are not available; try again",
        ),
    }
}

/// Of several failures the caller is told the one that says most.
fn telling(failure: &Failure) -> u8 {
    match failure.code {
        Code::TokenExpired => 3,
        Code::Unavailable => 2,
        Code::InvalidCredentials => 1,
        _ => 0,
    }
}
