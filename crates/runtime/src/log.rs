//! Logs: one line per event, as JSON for machines or as text for people.
//!
//! Fields of the spans around an event are part of its line; an inner one wins over an outer one,
//! and the event's own win over all. A field named `component` replaces the default, so that
//! several components of one process can be told apart.

use std::fmt;
use std::io::IsTerminal;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};
use tracing::{Level, Subscriber};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Filter, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use crate::trace::Traces;

mod fields;
mod layer;
mod line;

use layer::LogLayer;
use line::{Identity, Shape};

/// How much is logged, in which form, and where to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogConfig {
    /// The least severe level that is logged: `debug`, `info`, `warn` or `error`.
    pub level: LogLevel,
    /// `json` for machines, `text` for people.
    pub format: LogFormat,
    /// `stdout` or `stderr`.
    pub output: LogOutput,
}

/// The least severe level that is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Everything, for whoever looks for a mistake.
    Debug,
    /// What happened.
    #[default]
    Info,
    /// What should not have happened, but was dealt with.
    Warn,
    /// What somebody must look at.
    Error,
}

impl LogLevel {
    const NAMES: &'static [&'static str] = &["debug", "info", "warn", "error"];

    fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown log level `{0}`; use debug, info, warn or error")]
pub struct UnknownLevel(String);

/// Case does not matter, and `warning` is `warn`: that is what the Go components accept.
impl FromStr for LogLevel {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text.trim().to_ascii_lowercase().as_str() {
            "debug" => Ok(LogLevel::Debug),
            "info" => Ok(LogLevel::Info),
            "warn" | "warning" => Ok(LogLevel::Warn),
            "error" => Ok(LogLevel::Error),
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}

impl<'de> Deserialize<'de> for LogLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|UnknownLevel(text)| de::Error::unknown_variant(&text, LogLevel::NAMES))
    }
}

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object per line.
    #[default]
    Json,
    /// One line of text, coloured on a terminal. Older documents call it `console`.
    #[serde(alias = "console")]
    Text,
}

/// Where lines go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogOutput {
    /// Standard output.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
}

/// Why logging cannot start.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// `RUST_LOG` cannot be read.
    #[error("cannot read the environment variable RUST_LOG (`{text}`): {source}")]
    Filter {
        /// What it holds.
        text: String,
        /// Why.
        source: tracing_subscriber::filter::ParseError,
    },
    /// It was started before.
    #[error("logging cannot start: {0}")]
    Init(#[from] tracing_subscriber::util::TryInitError),
}

/// Starts logging for the whole process. `RUST_LOG` overrides the configured level, in the
/// syntax of [`EnvFilter`].
pub fn init(config: &LogConfig, component: &str, version: &str) -> Result<(), LogError> {
    init_with(config, component, version, None)
}

/// Starts logging together with traces, so that lines carry `trace_id` and `span_id`.
pub fn init_with(
    config: &LogConfig,
    component: &str,
    version: &str,
    traces: Option<&Traces>,
) -> Result<(), LogError> {
    let shape = match config.format {
        LogFormat::Json => Shape::Json,
        LogFormat::Text => Shape::Text {
            colour: has_colour(config.output),
        },
    };
    let identity = Identity::of_this_host(component, version);
    let filter = filter(config.level, std::env::var("RUST_LOG").ok())?;
    let writer = match config.output {
        LogOutput::Stdout => BoxMakeWriter::new(std::io::stdout),
        LogOutput::Stderr => BoxMakeWriter::new(std::io::stderr),
    };
    tracing_subscriber::registry()
        .with(traces.map(Traces::layer::<Registry>))
        .with(LogLayer::new(shape, identity, writer).with_filter(with_spans(filter)))
        .try_init()?;
    Ok(())
}

/// Spans are heard even if their level is not logged: their fields belong to the lines that are.
fn with_spans<S: Subscriber>(events: EnvFilter) -> impl Filter<S> {
    filter_fn(|about| about.is_span() && *about.level() <= Level::INFO).or(events)
}

fn has_colour(output: LogOutput) -> bool {
    let is_terminal = match output {
        LogOutput::Stdout => std::io::stdout().is_terminal(),
        LogOutput::Stderr => std::io::stderr().is_terminal(),
    };
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Below `info` only our own crates speak: the details of the HTTP stack help nobody.
fn filter(level: LogLevel, rust_log: Option<String>) -> Result<EnvFilter, LogError> {
    let directives = match (rust_log, level) {
        (Some(text), _) if !text.is_empty() => text,
        (_, LogLevel::Debug) => "info,hyperfleet=debug,kubesim=debug".to_owned(),
        (_, level) => level.as_str().to_owned(),
    };
    EnvFilter::try_new(&directives).map_err(|source| LogError::Filter {
        text: directives,
        source,
    })
}

#[cfg(test)]
mod tests;
