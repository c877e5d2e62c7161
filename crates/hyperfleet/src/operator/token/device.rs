//! Logging in from a terminal: the OAuth 2.0 device authorization grant (RFC 8628).
//!
//! ```text
//!   issuer/.well-known/openid-configuration ──► device_authorization_endpoint ──► "open URL, enter CODE"
//!                                           └─► token_endpoint ◄── asked until the person has done it
//! ```

use std::time::Duration;

use chrono::{TimeDelta, Utc};
use hyperfleet_client::header::{CONTENT_TYPE, HeaderValue};
use hyperfleet_client::{Call, CallError, Client, ClientConfig, Method, Retry};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::kept::{self, Kept};
use crate::operator::connect::trust;
use crate::operator::contexts::Oidc;
use crate::operator::exit::Exit;
use crate::operator::failure::Failure;
use crate::output::printable;
use crate::wire::encoded;

const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

#[derive(Deserialize)]
struct Issuer {
    device_authorization_endpoint: Option<String>,
    token_endpoint: String,
}

#[derive(Deserialize)]
struct Device {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: u64,
    #[serde(default = "five")]
    interval: u64,
}

/// What the RFC says where an issuer is silent.
fn five() -> u64 {
    5
}

#[derive(Deserialize)]
struct Tokens {
    access_token: String,
    id_token: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<i64>,
}

impl Tokens {
    fn kept(self, refresh_before: Option<&str>) -> Kept {
        let expires = self
            .expires_in
            .and_then(TimeDelta::try_seconds)
            .and_then(|seconds| Utc::now().checked_add_signed(seconds));
        Kept {
            // An API checks who asks by the id token; issuers without OpenID have only the other.
            token: self.id_token.unwrap_or(self.access_token),
            refresh_token: self
                .refresh_token
                .or_else(|| refresh_before.map(str::to_owned)),
            expires,
        }
    }
}

/// Logs a person in and keeps what the issuer gives.
pub(crate) async fn login(context: &str, oidc: &Oidc) -> Result<(), Failure> {
    let issuer = discover(oidc).await?;
    let Some(endpoint) = &issuer.device_authorization_endpoint else {
        return Err(denied(format!(
            "{} does not let one log in from a terminal: it has no device_authorization_endpoint",
            oidc.issuer
        )));
    };
    let scopes = oidc.scopes.join(" ");
    let form = [("client_id", oidc.client_id.as_str()), ("scope", &scopes)];
    let device: Device = post(&client(endpoint)?, endpoint, &form)
        .await
        .map_err(|error| refused(&error, oidc))
        .and_then(decode)?;
    eprintln!(
        "Open {} and enter the code {}",
        printable(&device.verification_uri),
        printable(&device.user_code)
    );
    if let Some(complete) = &device.verification_uri_complete {
        eprintln!("or open {}", printable(complete));
    }
    let form = [
        ("grant_type", DEVICE_GRANT),
        ("device_code", &device.device_code),
        ("client_id", &oidc.client_id),
    ];
    let tokens = client(&issuer.token_endpoint)?;
    let deadline = Instant::now() + Duration::from_secs(device.expires_in.min(3600));
    let mut pause = Duration::from_secs(device.interval.clamp(1, 60));
    loop {
        tokio::time::sleep(pause).await;
        let error = match post(&tokens, &issuer.token_endpoint, &form).await {
            Ok(body) => {
                let tokens: Tokens = decode(body)?;
                return kept::save(context, &tokens.kept(None));
            }
            Err(error) => error,
        };
        match reason(&error).as_deref() {
            Some("authorization_pending") => {}
            Some("slow_down") => pause += Duration::from_secs(5),
            _ if error.is_transient() => {}
            _ => return Err(refused(&error, oidc)),
        }
        if Instant::now() >= deadline {
            return Err(Failure::new(
                Exit::TimedOut,
                "nobody entered the code in time",
            ));
        }
    }
}

/// A new token for one that ended, without asking anybody.
pub(crate) async fn renew(oidc: &Oidc, refresh_token: &str) -> Result<Kept, Failure> {
    let issuer = discover(oidc).await?;
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token),
        ("client_id", &oidc.client_id),
    ];
    let body = post(
        &client(&issuer.token_endpoint)?,
        &issuer.token_endpoint,
        &form,
    )
    .await
    .map_err(|error| refused(&error, oidc))?;
    let tokens: Tokens = decode(body)?;
    Ok(tokens.kept(Some(refresh_token)))
}

/// For one address: an issuer's endpoints need not all have its origin, and a client asks no other than its own.
fn client(url: &str) -> Result<Client, Failure> {
    let config = ClientConfig {
        trust: trust(url),
        ..ClientConfig::new(url)
    };
    Client::new(config)
        .map_err(|error| Failure::usage(format!("the issuer of the context: {error}")))
}

async fn discover(oidc: &Oidc) -> Result<Issuer, Failure> {
    let client = client(&oidc.issuer)?;
    let issuer = oidc.issuer.trim_end_matches('/');
    let url = format!("{issuer}/.well-known/openid-configuration");
    let answer = client.call(Call::get(url)).await;
    answer
        .map_err(|error| refused(&error, oidc))
        .and_then(|answer| decode(answer.body.to_vec()))
}

async fn post(client: &Client, url: &str, form: &[(&str, &str)]) -> Result<Vec<u8>, CallError> {
    let content = HeaderValue::from_static("application/x-www-form-urlencoded");
    let call = Call::new(Method::POST, url)
        .header(CONTENT_TYPE, content)
        .body(encoded(form))
        .retry(Retry::NEVER);
    Ok(client.call(call).await?.body.to_vec())
}

fn decode<T: DeserializeOwned>(body: Vec<u8>) -> Result<T, Failure> {
    serde_json::from_slice(&body)
        .map_err(|error| denied(format!("the issuer answered something unexpected: {error}")))
}

/// The `error` of an OAuth answer.
fn reason(error: &CallError) -> Option<String> {
    let body: Value = serde_json::from_str(error.body()?).ok()?;
    Some(body["error"].as_str()?.to_owned())
}

fn denied(message: String) -> Failure {
    Failure::new(Exit::Denied, message)
}

fn refused(error: &CallError, oidc: &Oidc) -> Failure {
    match reason(error).as_deref() {
        Some("access_denied") => denied("the login was refused".to_owned()),
        Some("expired_token") => Failure::new(Exit::TimedOut, "nobody entered the code in time"),
        Some(other) => denied(format!("{} says {}", oidc.issuer, printable(other))),
        None => denied(format!("cannot log in at {}: {error}", oidc.issuer)),
    }
}
