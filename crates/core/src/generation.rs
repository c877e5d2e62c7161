//! The version of what is wanted.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts the changes of what its owner wants from a resource, from 1. Never goes back.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "i64", into = "i64")]
#[schemars(extend("minimum" = 1, "maximum" = 2147483647))]
pub struct Generation(i32);

impl Generation {
    pub const FIRST: Generation = Generation(1);

    pub fn get(self) -> i32 {
        self.0
    }

    /// The generation after one more change. Saturates: two billion changes of one resource are a bug elsewhere.
    #[must_use]
    pub fn next(self) -> Generation {
        Generation(self.0.saturating_add(1))
    }
}

/// A generation is a whole number from 1 to 2147483647.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a generation is a whole number from 1 to {max}, not {0}", max = i32::MAX)]
pub struct NotAGeneration(pub i64);

impl TryFrom<i64> for Generation {
    type Error = NotAGeneration;

    fn try_from(value: i64) -> Result<Self, Self::Error> {
        match i32::try_from(value) {
            Ok(number) if number >= 1 => Ok(Generation(number)),
            _ => Err(NotAGeneration(value)),
        }
    }
}

impl From<Generation> for i64 {
    fn from(generation: Generation) -> i64 {
        generation.0.into()
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
