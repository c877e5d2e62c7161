//! The two forms of a line.

use std::fmt::Write;

use chrono::{DateTime, Local, SecondsFormat, Utc};
use serde_json::Value as Json;
use tracing::Level;

use super::fields::Fields;

/// Which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Json,
    Text { colour: bool },
}

/// Who speaks.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) component: String,
    pub(super) version: String,
    pub(super) hostname: String,
}

impl Identity {
    pub(super) fn of_this_host(component: &str, version: &str) -> Self {
        let from_kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let from_env = |name: &str| std::env::var(name).ok();
        let hostname = from_kernel()
            .or_else(|| from_env("HOSTNAME"))
            .or_else(|| from_env("POD_NAME"))
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty());
        Self {
            component: component.to_owned(),
            version: version.to_owned(),
            hostname: hostname.unwrap_or_else(|| "unknown".to_owned()),
        }
    }
}

/// One whole line, with its line break.
pub(super) fn write_line(
    shape: Shape,
    identity: &Identity,
    level: Level,
    mut fields: Fields,
) -> String {
    let message = plain(&fields.take("message").unwrap_or_default());
    let component = match fields.take("component") {
        Some(component) => plain(&component),
        None => identity.component.clone(),
    };
    let now = Utc::now();
    match shape {
        Shape::Json => json(now, level, &message, &component, identity, &fields),
        Shape::Text { colour } => text(now.into(), level, &message, &component, &fields, colour),
    }
}

/// Keys and their order are promised to whoever collects logs.
fn json(
    now: DateTime<Utc>,
    level: Level,
    message: &str,
    component: &str,
    identity: &Identity,
    fields: &Fields,
) -> String {
    const OWN: [&str; 6] = [
        "timestamp",
        "level",
        "message",
        "component",
        "version",
        "hostname",
    ];
    let own = [
        now.to_rfc3339_opts(SecondsFormat::Nanos, true),
        level.as_str().to_ascii_lowercase(),
        message.to_owned(),
        component.to_owned(),
        identity.version.clone(),
        identity.hostname.clone(),
    ];
    let mut line = String::with_capacity(256);
    for (name, value) in OWN.into_iter().zip(own) {
        push_json(&mut line, name, &Json::from(value));
    }
    for (name, value) in fields.iter() {
        if OWN.contains(&name) {
            // A key must not occur twice; the promised one stays.
            push_json(&mut line, &format!("{name}_"), value);
        } else {
            push_json(&mut line, name, value);
        }
    }
    line.push_str("}\n");
    line
}

fn push_json(line: &mut String, name: &str, value: &Json) {
    line.push(if line.is_empty() { '{' } else { ',' });
    // Writing to a string cannot fail.
    let _ = write!(line, "{}:{value}", Json::from(name));
}

fn text(
    now: DateTime<Local>,
    level: Level,
    message: &str,
    component: &str,
    fields: &Fields,
    colour: bool,
) -> String {
    let paint = |code: &str, text: &str| {
        if colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    };
    let level_colour = match level {
        Level::ERROR => "31",
        Level::WARN => "33",
        Level::INFO => "32",
        _ => "34",
    };
    let mut line = format!(
        "{} {} {} {}",
        paint("2", &now.format("%H:%M:%S%.3f").to_string()),
        paint(level_colour, &format!("{:<5}", level.as_str())),
        paint("2", &format!("{component:<8}")),
        printable(message),
    );
    for (name, value) in fields.iter() {
        let value = match value {
            Json::String(text) if is_simple(text) => text.clone(),
            other => other.to_string(),
        };
        let _ = write!(line, " {}{value}", paint("2", &format!("{name}=")));
    }
    line.push('\n');
    line
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

fn is_simple(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"')
}

/// What others wrote must not steer the terminal. Further lines are indented, so that they cannot
/// be taken for lines of their own.
fn printable(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    for c in message.chars() {
        match c {
            '\n' => shown.push_str("\n    "),
            '\t' => shown.push('\t'),
            c if c.is_control() => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}
