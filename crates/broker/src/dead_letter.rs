//! Messages that were given up on, kept for a person to look at.

use chrono::{DateTime, Utc};

use crate::event::{Event, EventError};

/// A parked message.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetter {
    /// The message as it was received, which need not be an event.
    pub body: Vec<u8>,
    /// What went wrong, in the words of whoever gave up.
    pub reason: String,
    /// How often it was delivered; 1 for a malformed message.
    pub attempts: u32,
    /// When it was parked; unknown when somebody else put it there.
    pub time: Option<DateTime<Utc>>,
}

impl DeadLetter {
    /// The event in it, or why there is none.
    pub fn event(&self) -> Result<Event, EventError> {
        Event::decode(&self.body)
    }
}

/// Why a message was parked, as a metric label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetterCause {
    /// It is not an event.
    Malformed,
    /// The consumer said that it can never succeed.
    Rejected,
    /// It failed on every delivery it may have.
    MaxDeliveries,
}

impl DeadLetterCause {
    /// The label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Rejected => "rejected",
            Self::MaxDeliveries => "max_deliveries",
        }
    }
}
