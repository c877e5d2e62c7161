//! Why a call gave no answer.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use chrono::Utc;
use hyperfleet_core::problem::{Code, FieldError, Problem};
use reqwest::{Method, StatusCode, Url};
use serde_json::Value;

use crate::token::TokenError;

/// A call that failed for good, after all its attempts.
#[derive(Debug)]
pub struct CallError {
    pub method: Method,
    /// Without user name and password.
    pub url: String,
    /// How many requests were sent.
    pub attempts: u32,
    /// From the first attempt to giving up, waits included.
    pub duration: Duration,
    pub cause: Cause,
}

/// What the last attempt ended with.
#[derive(Debug)]
pub enum Cause {
    /// An answer that is not 2xx.
    Status {
        status: StatusCode,
        /// The body, if it was a problem document.
        problem: Option<Box<Problem>>,
        /// The body as text, cut short.
        body: String,
    },
    /// No connection, or one that broke.
    Transport(reqwest::Error),
    /// No complete answer within this time.
    Timeout(Duration),
    /// The answer is larger than this many bytes.
    TooLarge(usize),
    /// The token could not be read, so nothing was sent.
    Token(TokenError),
    /// The request cannot be made as it is written.
    Request(String),
    /// The answer is not what it should be.
    Answer(String),
}

impl CallError {
    /// The status of the last answer, if there was one.
    pub fn status(&self) -> Option<StatusCode> {
        match &self.cause {
            Cause::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// What the API says about it, if the answer came from the API.
    pub fn problem(&self) -> Option<&Problem> {
        match &self.cause {
            Cause::Status { problem, .. } => problem.as_deref(),
            _ => None,
        }
    }

    /// The body of the last answer, cut short.
    pub fn body(&self) -> Option<&str> {
        match &self.cause {
            Cause::Status { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Whether the object does not exist, as opposed to the path. Any 404 counts but the router's own,
    /// also one without a problem document: other servers answer those.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(StatusCode::NOT_FOUND)
            && self
                .problem()
                .is_none_or(|problem| problem.code != Code::EndpointNotFound.as_str())
    }

    /// Whether a HyperFleet API itself says that the object does not exist. Only this is evidence:
    /// a bare 404 may come from anything on the way.
    pub fn is_not_found_by_the_api(&self) -> bool {
        self.status() == Some(StatusCode::NOT_FOUND)
            && self
                .problem()
                .is_some_and(|problem| problem.code == Code::NotFound.as_str())
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        match &self.cause {
            Cause::Status { status, .. } => crate::retry::is_worth_retrying(*status),
            Cause::Transport(_) | Cause::Timeout(_) => true,
            Cause::TooLarge(_) | Cause::Token(_) | Cause::Request(_) | Cause::Answer(_) => false,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.method, self.url, self.cause)?;
        match self.attempts {
            0 => Ok(()),
            1 => write!(f, " (1 attempt, {:.1?})", self.duration),
            many => write!(f, " ({many} attempts, {:.1?})", self.duration),
        }
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Transport(error) => error.source(),
            Cause::Token(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Status {
                status,
                problem: Some(problem),
                ..
            } => {
                write!(f, "answered {status}: {}", problem.detail)?;
                for error in &problem.errors {
                    write!(f, "; {}: {}", error.field, error.message)?;
                }
                match problem.code.as_str() {
                    "" => Ok(()),
                    code => write!(f, " [{code}]"),
                }
            }
            Cause::Status { status, body, .. } if body.is_empty() => write!(f, "answered {status}"),
            Cause::Status { status, body, .. } => write!(f, "answered {status}: {body}"),
            Cause::Transport(error) => {
                f.write_str("failed: ")?;
                innermost(error, f)
            }
            Cause::Timeout(limit) => write!(f, "did not answer within {limit:?}"),
            Cause::TooLarge(limit) => {
                write!(f, "answered with more than the {limit} bytes that are read")
            }
            Cause::Token(error) => write!(f, "was not sent: {error}"),
            Cause::Request(reason) => write!(f, "was not sent: {reason}"),
            Cause::Answer(reason) => write!(f, "answered something unexpected: {reason}"),
        }
    }
}

/// The chain of a transport error says the same thing three times; its end says what happened.
fn innermost(error: &reqwest::Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut source: Option<&(dyn std::error::Error + 'static)> = error.source();
    let mut text = error.to_string();
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    f.write_str(&text)
}

/// A URL fit for a log.
pub(crate) fn printable(url: &Url) -> String {
    if url.username().is_empty() && url.password().is_none() {
        return url.to_string();
    }
    let mut bare = url.clone();
    // Both fail only for URLs without a host, which have no credentials.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare.to_string()
}

/// The start of a body, in one line.
pub(crate) fn excerpt(body: &[u8]) -> String {
    const MOST: usize = 300;
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * MOST)]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// The problem document in a body, read leniently: other versions leave members out.
pub(crate) fn problem(status: StatusCode, body: &[u8]) -> Option<Problem> {
    let json: Value = serde_json::from_slice(body).ok()?;
    let object = json.as_object()?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let code = text("code");
    let detail = text("detail")
        .or_else(|| text("reason"))
        .or_else(|| text("title"));
    let errors = object.get("errors").and_then(Value::as_array);
    Some(Problem {
        title: text("title").unwrap_or_default(),
        // Some member of the three must be there, or it is just any JSON.
        detail: match (&code, detail) {
            (_, Some(detail)) => detail,
            (Some(code), None) => code.clone(),
            (None, None) => return None,
        },
        kind: text("type").unwrap_or_else(|| "about:blank".to_owned()),
        status: status.as_u16(),
        instance: text("instance").unwrap_or_default(),
        code: code.unwrap_or_default(),
        timestamp: text("timestamp")
            .and_then(|time| time.parse().ok())
            .unwrap_or_else(Utc::now),
        trace_id: text("trace_id").unwrap_or_default(),
        errors: errors
            .into_iter()
            .flatten()
            .filter_map(|error| serde_json::from_value::<FieldError>(error.clone()).ok())
            .collect(),
        deletion: object
            .get("deletion")
            .and_then(|record| serde_json::from_value(record.clone()).ok()),
    })
}
