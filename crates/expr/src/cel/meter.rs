//! What an evaluation has left to spend.

use chrono::{DateTime, Utc};

use super::error::{EvalError, limit};
use super::limits::Limits;

/// Steps that are left. Work that walks shared data takes its steps while walking: a small value can stand for a
/// tree that is exponentially large when written out.
pub(crate) struct Budget(u64);

impl Budget {
    /// For the host's own use of values, outside of an evaluation.
    pub(crate) const UNBOUNDED: Self = Self(u64::MAX);

    /// `None` when the steps do not suffice; nothing is left then.
    #[inline]
    pub(crate) fn take(&mut self, steps: u64) -> Option<()> {
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// One step, and one per 16 bytes of text.
    pub(crate) fn take_text(&mut self, bytes: usize) -> Option<()> {
        self.take(1 + bytes as u64 / 16)
    }
}

/// Budget and clock, handed to every function of the library.
pub(crate) struct Meter<'l> {
    pub(crate) budget: Budget,
    pub(crate) limits: &'l Limits,
    pub(crate) now: DateTime<Utc>,
}

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &'l Limits, now: DateTime<Utc>) -> Self {
        Self {
            budget: Budget(limits.steps),
            limits,
            now,
        }
    }

    #[inline]
    pub(crate) fn charge(&mut self, steps: u64) -> Result<(), Box<EvalError>> {
        match self.budget.take(steps) {
            Some(()) => Ok(()),
            None => Err(self.exhausted()),
        }
    }

    /// The error for a budget that ran out.
    #[cold]
    pub(crate) fn exhausted(&self) -> Box<EvalError> {
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
