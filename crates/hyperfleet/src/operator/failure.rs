//! A command that could not do its work, told to a person: what, why, and what to do.

use std::fmt;
use std::io;

use hyperfleet_client::{CallError, Cause, StatusCode};
use hyperfleet_core::problem::{Code, Problem};

use super::exit::Exit;
use super::place::Place;
use crate::output::printable;

/// One message, lines that say more, and lines that say what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    message: String,
    details: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure {
            exit,
            message: message.into(),
            details: Vec::new(),
            hints: Vec::new(),
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    pub(crate) fn detail(mut self, line: impl Into<String>) -> Failure {
        self.details.push(line.into());
        self
    }

    pub(crate) fn hint(mut self, line: impl Into<String>) -> Failure {
        self.hints.push(line.into());
        self
    }

    /// What was being done, in front of what went wrong.
    pub(crate) fn while_doing(mut self, what: impl fmt::Display) -> Failure {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// What went wrong, without what else there is to say.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Says it on stderr. A reader that went away, as `head` does, is not told anything.
    pub(crate) fn print(&self) {
        if self.exit != Exit::Done {
            eprintln!("hyperfleet: {self}");
        }
    }

    /// Why a call to the API gave nothing.
    pub(crate) fn of_call(error: &CallError, place: &Place) -> Failure {
        match &error.cause {
            Cause::Status {
                problem: Some(problem),
                status,
                ..
            } => of_problem(*status, problem, place),
            Cause::Status { status, body, .. } => {
                let said = match body.is_empty() {
                    true => String::new(),
                    false => format!(": {}", printable(body)),
                };
                let failure = Failure::new(
                    exit_of(*status),
                    format!("{place} answered {status}, and not as a HyperFleet API does{said}"),
                );
                hint_by_status(failure, *status, place)
            }
            Cause::Timeout(limit) => Failure::new(
                Exit::TimedOut,
                format!("{place} did not answer within {limit:?}"),
            )
            .hint("give it more time with --request-timeout"),
            Cause::Transport(_) => {
                let cause = error.cause.to_string();
                let cause = cause.trim_start_matches("failed: ");
                Failure::new(Exit::Unreachable, format!("cannot reach {place}: {cause}"))
                    .hint(place.how_to_reach())
            }
            Cause::Token(token) => Failure::new(Exit::Denied, format!("no token: {token}"))
                .hint(place.how_to_get_a_token()),
            other => Failure::new(Exit::Failed, format!("{} {other}", error.method)),
        }
    }
}

fn of_problem(status: StatusCode, problem: &Problem, place: &Place) -> Failure {
    let mut failure = Failure::new(exit_of(status), printable(&problem.detail));
    for error in &problem.errors {
        let (field, message) = (printable(&error.field), printable(&error.message));
        failure = match &error.value {
            Some(value) => failure.detail(format!("{field}: {message}: {value}")),
            None => failure.detail(format!("{field}: {message}")),
        };
    }
    if let Some(gone) = &problem.deletion {
        let why = match &gone.reason {
            Some(reason) => format!(", because: {}", printable(reason)),
            None => String::new(),
        };
        failure = failure.detail(format!(
            "it was removed {} by {} ({}){why}",
            gone.removed_time.format("%Y-%m-%d %H:%M:%S UTC"),
            printable(&gone.removed_by),
            gone.how.as_str(),
        ));
    }
    if !problem.code.is_empty() {
        let title = printable(&problem.title);
        failure = failure.detail(format!(
            "{} {title} ({}), request {}",
            problem.code,
            status.as_u16(),
            printable(&problem.trace_id)
        ));
    }
    if problem.code == Code::VersionConflict.as_str() {
        failure = failure.hint("somebody changed it in the meantime: look at it and try again");
    }
    if problem.code == Code::EndpointNotFound.as_str() {
        failure = failure.hint(format!(
            "{place} does not have this; it may be an older version"
        ));
    }
    hint_by_status(failure, status, place)
}

fn hint_by_status(failure: Failure, status: StatusCode, place: &Place) -> Failure {
    match status {
        StatusCode::UNAUTHORIZED => failure.hint(place.how_to_get_a_token()),
        StatusCode::FORBIDDEN => {
            failure.hint("you are known there, and not allowed to do this; ask whoever runs it")
        }
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::INTERNAL_SERVER_ERROR => {
            failure.hint("try again; if it stays so, the server's log has the request id")
        }
        _ => failure,
    }
}

fn exit_of(status: StatusCode) -> Exit {
    match status.as_u16() {
        404 | 410 => Exit::NotFound,
        409 | 412 => Exit::Conflict,
        401 | 403 => Exit::Denied,
        408 | 504 => Exit::TimedOut,
        400..500 => Exit::Invalid,
        500.. => Exit::Unreachable,
        _ => Exit::Failed,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for line in &self.details {
            write!(f, "\n  {line}")?;
        }
        for line in &self.hints {
            write!(f, "\n  hint: {line}")?;
        }
        Ok(())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::new(Exit::Done, "nobody reads on"),
            _ => Failure::new(Exit::Failed, format!("cannot write: {error}")),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::new(Exit::Failed, format!("{error:#}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_is_its_own() {
        let codes: std::collections::BTreeSet<u8> =
            Exit::ALL.iter().map(|exit| exit.code()).collect();
        assert_eq!(codes.len(), Exit::ALL.len());
    }

    #[test]
    fn statuses_become_the_documented_codes() {
        let of = |code: u16| exit_of(StatusCode::from_u16(code).unwrap());
        assert_eq!(of(404), Exit::NotFound);
        assert_eq!(of(412), Exit::Conflict);
        assert_eq!(of(403), Exit::Denied);
        assert_eq!(of(422), Exit::Invalid);
        assert_eq!(of(503), Exit::Unreachable);
        assert_eq!(of(302), Exit::Failed);
    }

    #[test]
    fn a_failure_says_what_then_more_then_what_to_do() {
        let failure = Failure::usage("no")
            .detail("because")
            .hint("try")
            .while_doing("cannot");
        assert_eq!(failure.to_string(), "cannot: no\n  because\n  hint: try");
    }
}
