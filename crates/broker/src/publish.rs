//! Sending events.

use async_trait::async_trait;

use crate::event::{Event, EventError};

/// Sends events to a topic. Cheap to share; call it concurrently, confirmations are pipelined.
#[async_trait]
pub trait Publisher: Send + Sync {
    /// Sends one event to every subscription of the topic and returns once the broker is
    /// responsible for it.
    ///
    /// A topic without any subscription takes the event and drops it (nobody asked for it yet);
    /// that is counted and warned about, not an error.
    async fn publish(&self, topic: &str, event: &Event) -> Result<(), PublishError>;

    /// Whether publishing can work now; the text says why not. Costs no round trip.
    async fn health(&self) -> Result<(), String>;

    /// Refuses further events and returns when those under way are settled.
    async fn close(&self);
}

/// Why an event was not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The event itself cannot be sent; sending it again will not help.
    #[error("cannot publish event `{id}` to topic `{topic}`: {source}")]
    Event {
        /// The topic.
        topic: String,
        /// The event's id.
        id: String,
        /// What is wrong with it.
        source: EventError,
    },
    /// The broker refuses the topic; a person must change the configuration of either side.
    #[error("broker refused topic `{topic}`: {reason}")]
    Refused {
        /// The topic.
        topic: String,
        /// What the broker says.
        reason: String,
    },
    /// The broker cannot be reached. The event was not sent, or may have been: send it again.
    #[error("broker is not reachable, publish to `{topic}` again later: {reason}")]
    Disconnected {
        /// The topic.
        topic: String,
        /// Why.
        reason: String,
    },
    /// The broker did not take responsibility in time. The event may have been sent.
    #[error("broker did not confirm an event for `{topic}`, publish it again later: {reason}")]
    Unconfirmed {
        /// The topic.
        topic: String,
        /// What it was waiting for.
        reason: String,
    },
    /// The publisher was closed.
    #[error("publisher is closed")]
    Closed,
}

impl PublishError {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Disconnected { .. } | Self::Unconfirmed { .. })
    }
}
