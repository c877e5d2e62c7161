//! Tokens that are not lying around: a program prints them, or a person logs in.

mod device;
mod kept;

use std::process::Stdio;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio::process::Command;

use super::contexts::Oidc;
use super::exit::Exit;
use super::failure::Failure;
use super::place::Place;

pub(crate) use device::login;
pub(crate) use kept::forget;

/// A program that asks somebody something is given this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What kubectl's credential plugins print.
#[derive(Deserialize)]
struct ExecCredential {
    status: ExecStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    token: Option<String>,
    expiration_timestamp: Option<DateTime<Utc>>,
}

/// The token that a program prints. It may ask on the terminal: its stderr and stdin are ours.
pub(crate) async fn from_program(command: &[String]) -> Result<String, Failure> {
    let denied = |message: String| Failure::new(Exit::Denied, message);
    let Some((program, arguments)) = command.split_first() else {
        return Err(denied(
            "the context names no program for its token".to_owned(),
        ));
    };
    let running = Command::new(program)
        .args(arguments)
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, running)
        .await
        .map_err(|_| denied(format!("`{program}` printed no token within {PATIENCE:?}")))?
        .map_err(|error| {
            denied(format!("cannot run `{program}` for a token: {error}"))
                .hint("it is named in the context, under token.exec")
        })?;
    if !output.status.success() {
        return Err(denied(format!(
            "`{program}`, which should print the token, ended with {}",
            output.status
        )));
    }
    let printed = String::from_utf8(output.stdout)
        .map_err(|_| denied(format!("what `{program}` printed is no text")))?;
    read(&printed, Utc::now()).map_err(|why| denied(format!("`{program}` {why}")))
}

fn read(printed: &str, now: DateTime<Utc>) -> Result<String, String> {
    let printed = printed.trim();
    if !printed.starts_with('{') {
        return match printed.is_empty() {
            true => Err("printed no token".to_owned()),
            false => Ok(printed.to_owned()),
        };
    }
    let credential: ExecCredential = serde_json::from_str(printed)
        .map_err(|error| format!("printed no ExecCredential: {error}"))?;
    let expired = |at: &DateTime<Utc>| *at <= now;
    if credential
        .status
        .expiration_timestamp
        .as_ref()
        .is_some_and(expired)
    {
        return Err("printed a token that has expired".to_owned());
    }
    let token = credential.status.token.filter(|token| !token.is_empty());
    token.ok_or_else(|| "printed an ExecCredential without a token".to_owned())
}

/// The token of a login: the one that is kept, renewed if need be.
pub(crate) async fn from_login(
    context: &str,
    oidc: &Oidc,
    place: &Place,
) -> Result<String, Failure> {
    let denied = |message: &str| {
        Failure::new(Exit::Denied, message.to_owned()).hint(place.how_to_get_a_token())
    };
    let Some(kept) = kept::load(context)? else {
        return Err(denied("you are not logged in"));
    };
    if kept.is_good(Utc::now()) {
        return Ok(kept.token);
    }
    let Some(refresh) = &kept.refresh_token else {
        return Err(denied("your login has expired"));
    };
    match device::renew(oidc, refresh).await {
        Ok(renewed) => {
            kept::save(context, &renewed)?;
            Ok(renewed.token)
        }
        Err(why) => Err(denied("your login has expired").detail(why.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_prints_a_token_or_what_kubectls_plugins_print() {
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(read(" abc\n", now).unwrap(), "abc");
        let plugin = |expires: &str| {
            let status = format!(r#"{{"token": "t", "expirationTimestamp": "{expires}"}}"#);
            format!(r#"{{"kind": "ExecCredential", "status": {status}}}"#)
        };
        assert_eq!(read(&plugin("2026-01-01T00:00:01Z"), now).unwrap(), "t");
        assert!(
            read(&plugin("2025-12-31T00:00:00Z"), now)
                .unwrap_err()
                .contains("expired")
        );
        assert!(read("  ", now).is_err());
        assert!(read("{}", now).is_err());
        assert!(read(r#"{"status": {}}"#, now).is_err());
    }
}
