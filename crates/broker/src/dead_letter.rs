//! Messages that were given up on, kept for a person to look at.

use chrono::{DateTime, Utc};

use crate::event::{Event, EventError};

/// A parked message.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadLetter {
    /// Names it among the dead letters of its subscription.
    pub id: String,
    /// The message as it was received, which need not be an event.
    pub body: Vec<u8>,
    /// What went wrong, in the words of whoever gave up.
    pub reason: String,
    /// How often it was delivered; 1 for a malformed message, 0 when nobody counted.
    pub attempts: u32,
    /// When it was parked; unknown when somebody else put it there.
    pub time: Option<DateTime<Utc>>,
}

impl DeadLetter {
    /// The event in it, or why there is none.
    pub fn event(&self) -> Result<Event, EventError> {
        Event::decode(&self.body)
    }

    /// A name for a new one; chance is enough to tell a few thousand apart.
    pub(crate) fn new_id() -> String {
        format!("{:010x}", fastrand::u64(..1 << 40))
    }
}

/// Which dead letters of a subscription are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Up to so many, the oldest first.
    Oldest(usize),
    /// The one of this id, or those that hold the event of this id.
    Named(String),
}

impl Selection {
    /// Never more than this, whatever else is found.
    pub(crate) fn limit(&self) -> usize {
        match self {
            Self::Oldest(limit) => *limit,
            Self::Named(_) => usize::MAX,
        }
    }

    /// Whether it is one of them.
    pub fn takes(&self, letter: &DeadLetter) -> bool {
        match self {
            Self::Oldest(_) => true,
            Self::Named(name) => {
                letter.id == *name || letter.event().is_ok_and(|event| event.id == *name)
            }
        }
    }
}

/// What becomes of dead letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Back to the subscription they came from, as new messages.
    Replay,
    /// Gone for good.
    Discard,
}

impl Fate {
    /// As a verb, for errors.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replay => "replay",
            Self::Discard => "discard",
        }
    }
}

/// Called for every dead letter as it is done with, so that a caller can tell how far it has come.
pub type Progress<'a> = &'a mut (dyn FnMut(&DeadLetter) + Send);

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
