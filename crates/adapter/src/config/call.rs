//! Calls, log lines and yes-or-no questions: the shapes that several stages share.

use std::time::Duration;

use hyperfleet_client::{Backoff, Method};
use hyperfleet_runtime::GoDuration;
use hyperfleet_source::{Node, suggest};

use super::scope::Scope;
use crate::task::{ApiCall, Level, Log, Test};
use hyperfleet_source::fields::{Fields, Found};

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const BACKOFFS: [&str; 3] = ["exponential", "linear", "constant"];
const LEVELS: [&str; 5] = ["debug", "info", "warn", "warning", "error"];

pub(super) fn api_call(node: &Node, scope: &Scope, found: &mut Found) -> Option<ApiCall> {
    let mut fields = Fields::of(node, "an API call", found)?;
    let method = fields.get("method").map_or(Some(Method::GET), |node| {
        let written = choice(node, &METHODS, found)?;
        Method::from_bytes(written.as_bytes()).ok()
    });
    let url = fields.required_text("url", found);
    let url = url.and_then(|node| scope.template(node, found));
    let body = fields
        .text("body", found)
        .and_then(|node| scope.template(node, found));
    let timeout = fields
        .text("timeout", found)
        .and_then(|node| duration(node, found));
    let attempts = fields.get("retry_attempts").and_then(|node| {
        let value = node.as_i64().and_then(|count| u32::try_from(count).ok());
        if value.is_none() {
            found.push(node.error("`retry_attempts` is a number of attempts, from 1"));
        }
        value
    });
    let backoff = fields.text("retry_backoff", found).and_then(|node| {
        Some(match choice(node, &BACKOFFS, found)? {
            "linear" => Backoff::Linear,
            "constant" => Backoff::Constant,
            _ => Backoff::Exponential,
        })
    });
    let mut headers = Vec::new();
    for item in fields.list("headers", found) {
        headers.extend(header(item, scope, found));
    }
    fields.finish(found);
    Some(ApiCall {
        method: method?,
        url: url?,
        headers,
        body,
        timeout,
        attempts,
        backoff,
    })
}

fn header(
    node: &Node,
    scope: &Scope,
    found: &mut Found,
) -> Option<(String, hyperfleet_expr::template::Template)> {
    let mut fields = Fields::of(node, "a header", found)?;
    let name = fields.required_text("name", found);
    let value = fields.required("value", found);
    fields.finish(found);
    let name = name?;
    let text = name.as_str()?;
    if hyperfleet_client::header::HeaderName::from_bytes(text.as_bytes()).is_err() {
        found.push(name.error(format!("`{text}` cannot be the name of a header")));
        return None;
    }
    Some((text.to_owned(), scope.template(value?, found)?))
}

pub(super) fn log(node: &Node, scope: &Scope, found: &mut Found) -> Option<Log> {
    let mut fields = Fields::of(node, "a log line", found)?;
    let message = fields.required_text("message", found);
    let message = message.and_then(|node| scope.template(node, found));
    let level = fields.text("level", found).and_then(|node| {
        Some(match choice(node, &LEVELS, found)? {
            "debug" => Level::Debug,
            "warn" | "warning" => Level::Warn,
            "error" => Level::Error,
            _ => Level::Info,
        })
    });
    fields.finish(found);
    Some(Log {
        message: message?,
        level: level.unwrap_or_default(),
    })
}

/// `when: {expression: …}` or `when: {conditions: […]}`.
pub(super) fn when(node: &Node, scope: &Scope, found: &mut Found) -> Option<Test> {
    let mut fields = Fields::of(node, "`when`", found)?;
    let test = test(&mut fields, scope, found);
    // Said for people only.
    fields.text("description", found);
    if test.is_none() && fields.get("expression").is_none() && fields.get("conditions").is_none() {
        found.push(node.error("`when` needs the key `expression` or `conditions`"));
    }
    fields.finish(found);
    test
}

/// The keys `expression` and `conditions`, of which one may be there.
pub(super) fn test(fields: &mut Fields<'_>, scope: &Scope, found: &mut Found) -> Option<Test> {
    let expression = fields.get("expression");
    let conditions = fields.get("conditions");
    match (conditions, expression) {
        (Some(node), both) => {
            if let Some(expression) = both {
                found.push(expression.warning(
                    "`conditions` is given too, and only that is judged: remove one of the two",
                ));
            }
            super::conditions::conditions(node, scope, found).map(Test::Conditions)
        }
        (None, Some(node)) => scope.predicate(node, found).map(Test::Expression),
        (None, None) => None,
    }
}

/// One of a few words.
pub(super) fn choice(
    node: &Node,
    words: &[&'static str],
    found: &mut Found,
) -> Option<&'static str> {
    let written = node.as_str().unwrap_or_default();
    let known = words.iter().find(|word| **word == written).copied();
    if known.is_none() {
        let mut wrong = node.error(format!("expected one of {}", words.join(", ")));
        wrong.help = suggest::help(written, words.iter().copied());
        found.push(wrong);
    }
    known
}

pub(super) fn duration(node: &Node, found: &mut Found) -> Option<Duration> {
    match node.as_str()?.parse::<GoDuration>() {
        Ok(duration) => Some(duration.get()),
        Err(error) => {
            found.push(node.error(error.to_string()));
            None
        }
    }
}
