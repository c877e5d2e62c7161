//! Where the tokens of logins are kept between commands: one file each, for its owner's eyes only.

use std::path::PathBuf;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::operator::contexts::{write_private, xdg};
use crate::operator::exit::Exit;
use crate::operator::failure::Failure;

/// A token is not used in its last moments: it would end on the way.
const MARGIN: TimeDelta = TimeDelta::seconds(30);

/// What an issuer gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) token: String,
    #[serde(default)]
    pub(crate) refresh_token: Option<String>,
    /// `None` if the issuer did not say.
    #[serde(default)]
    pub(crate) expires: Option<DateTime<Utc>>,
}

impl Kept {
    pub(crate) fn is_good(&self, now: DateTime<Utc>) -> bool {
        self.expires.is_none_or(|expires| now + MARGIN < expires)
    }
}

fn path(context: &str) -> Result<PathBuf, Failure> {
    // A name is any text; a file name is not.
    let name: String = context
        .chars()
        .map(|c| match c.is_ascii_alphanumeric() || c == '-' {
            true => c.to_string(),
            false => format!("_{:x}", u32::from(c)),
        })
        .collect();
    Ok(xdg("XDG_STATE_HOME", ".local/state")?.join(format!("token-{name}.json")))
}

pub(crate) fn load(context: &str) -> Result<Option<Kept>, Failure> {
    let path = path(context)?;
    match std::fs::read_to_string(&path) {
        // What cannot be read is as good as none: a login writes it anew.
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(problem("read", &path, &error)),
    }
}

pub(crate) fn save(context: &str, kept: &Kept) -> Result<(), Failure> {
    let path = path(context)?;
    let text = serde_json::to_string(kept).map_err(anyhow::Error::from)?;
    write_private(&path, &text).map_err(|error| problem("write", &path, &error))
}

/// Whether there was one.
pub(crate) fn forget(context: &str) -> Result<bool, Failure> {
    let path = path(context)?;
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(problem("remove", &path, &error)),
    }
}

fn problem(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Failed,
        format!("cannot {doing} the login in {}: {error}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_until_shortly_before_it_ends() {
        let now: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
        let kept = |seconds: Option<i64>| Kept {
            token: "t".to_owned(),
            refresh_token: None,
            expires: seconds.map(|seconds| now + TimeDelta::seconds(seconds)),
        };
        assert!(kept(None).is_good(now));
        assert!(kept(Some(60)).is_good(now));
        assert!(!kept(Some(20)).is_good(now));
    }
}
