//! The values of one evaluation.

use std::borrow::Cow;

use chrono::{DateTime, Utc};

use super::value::Value;

/// Variables by name and the time `now()` gives. Binding copies no data; lookups scan, because a stage has a dozen
/// names and comparing lengths beats hashing.
#[derive(Clone, Debug)]
pub struct Bindings<'a> {
    now: DateTime<Utc>,
    entries: Vec<(Cow<'a, str>, Value<'a>)>,
}

impl<'a> Bindings<'a> {
    /// No variables yet.
    pub fn new(now: DateTime<Utc>) -> Self {
        Self {
            now,
            entries: Vec::new(),
        }
    }

    /// Borrows `json` under `name`. A later binding of the same name wins.
    pub fn bind(self, name: impl Into<Cow<'a, str>>, json: &'a serde_json::Value) -> Self {
        self.bind_value(name, Value::from_json(json))
    }

    /// Binds a value that is no JSON, such as a timestamp.
    pub fn bind_value(mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>) -> Self {
        self.set(name, value);
        self
    }

    /// Every entry of an object becomes a variable.
    pub fn bind_all(mut self, object: &'a serde_json::Map<String, serde_json::Value>) -> Self {
        for (name, json) in object {
            self.set(name.as_str(), Value::from_json(json));
        }
        self
    }

    /// As [`bind_value`](Self::bind_value), for loops.
    pub fn set(&mut self, name: impl Into<Cow<'a, str>>, value: Value<'a>) {
        let name = name.into();
        match self.entries.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.entries.push((name, value)),
        }
    }

    /// The variable's value.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.entries
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// The time `now()` gives.
    pub fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Names bound so far.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_ref())
    }
}
