//! Log lines that a configuration asks for.

use crate::context::Context;
use crate::task::{Level, Log};

/// A line that cannot be rendered is said as it is written: it is only a log line.
pub(crate) fn say(line: &Log, context: &Context) {
    let text = match line.message.render(&context.data(), context.now) {
        Ok(text) => text,
        Err(error) => format!("{} ({error})", line.message.source()),
    };
    match line.level {
        Level::Debug => tracing::debug!("[config] {text}"),
        Level::Info => tracing::info!("[config] {text}"),
        Level::Warn => tracing::warn!("[config] {text}"),
        Level::Error => tracing::error!("[config] {text}"),
    }
}
