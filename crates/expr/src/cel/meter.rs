//! What an evaluation has left to spend.

use chrono::{DateTime, Utc};

use super::error::{EvalError, limit};
use super::limits::Limits;

/// Budget and clock, handed to every function of the library.
pub(crate) struct Meter<'l> {
    left: u64,
    pub(crate) limits: &'l Limits,
    pub(crate) now: DateTime<Utc>,
}

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &'l Limits, now: DateTime<Utc>) -> Self {
        Self {
            left: limits.steps,
            limits,
            now,
        }
    }

    #[inline]
    pub(crate) fn charge(&mut self, steps: u64) -> Result<(), Box<EvalError>> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    #[cold]
    fn exhausted(&mut self) -> Box<EvalError> {
        self.left = 0;
        limit(format!(
            "the evaluation needs more than {} steps",
            self.limits.steps
        ))
    }

    /// Pays for reading `bytes` bytes.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), Box<EvalError>> {
        self.charge(bytes as u64 / 16)
    }

    /// Pays for producing text or bytes of that length, and refuses what is too long. Call it before allocating.
    pub(crate) fn produce(&mut self, bytes: usize) -> Result<(), Box<EvalError>> {
        if bytes > self.limits.string_bytes {
            return Err(limit(format!(
                "a string of {bytes} bytes would be produced, the limit is {}",
                self.limits.string_bytes
            )));
        }
        self.charge(bytes as u64 / 16)
    }

    /// Pays for producing a list or map of that many items, and refuses what is too long.
    pub(crate) fn items(&mut self, count: usize) -> Result<(), Box<EvalError>> {
        if count > self.limits.collection_items {
            return Err(limit(format!(
                "a list or map of {count} items would be produced, the limit is {}",
                self.limits.collection_items
            )));
        }
        self.charge(count as u64)
    }
}
