//! What a span or an event says about itself.

use std::fmt;

use serde_json::Value as Json;
use tracing::field::{Field, Visit};

/// Named values in the order they were given; a name that comes again replaces its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Json)>);

impl Fields {
    pub(super) fn set(&mut self, name: &'static str, value: Json) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    pub(super) fn extend(&mut self, other: &Fields) {
        for (name, value) in &other.0 {
            self.set(name, value.clone());
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Json> {
        let index = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(index).1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Json)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    fn record(&mut self, field: &Field, value: Json) {
        // Records of the `log` crate describe themselves in fields that mean nothing to a reader.
        if !field.name().starts_with("log.") {
            self.set(field.name().trim_start_matches("r#"), value);
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record(field, value.into());
    }

    /// With its causes: the outermost message alone rarely says what to do.
    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let mut text = value.to_string();
        let mut cause = value.source();
        while let Some(error) = cause {
            let message = error.to_string();
            // Many errors already show their cause.
            if !text.ends_with(&message) {
                text = format!("{text}: {message}");
            }
            cause = error.source();
        }
        self.record(field, text.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record(field, format!("{value:?}").into());
    }
}
