//! Events between components, over whichever broker is configured.
//!
//! In comes an [`Event`] and a topic, out comes a [`Delivery`] of it on every subscription of that
//! topic, at least once:
//!
//! ```text
//!  Publisher::publish ──► topic ──┬─► subscription "dns" ──┬─► Subscriber::next ─► Delivery
//!    (confirmed)                  │                        └─► another consumer, shares them
//!                                 └─► subscription "validation" ──► …
//!
//!  Delivery ─┬─ ack                          done
//!            ├─ nack(delay, reason) ───────► same subscription again, attempt + 1, after the delay
//!            │    └─ on the last delivery ─► dead letter, with the reason
//!            ├─ dead_letter(reason) ───────► dead letter
//!            └─ dropped ───────────────────► as nack without delay
//!  a message that is no event ─────────────► dead letter, at once
//!  dead letters ── list, replay ───────────► same subscription, as new messages
//! ```
//!
//! Order is not promised, duplicates are possible, and consumers serialise by key themselves: an
//! event only says that something should be looked at.

mod broker;
pub mod config;
mod dead_letter;
mod delivery;
pub mod event;
mod in_flight;
mod memory;
mod metrics;
mod publish;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
mod subscribe;

pub use broker::{Broker, BrokerError};
pub use config::BrokerConfig;
pub use dead_letter::{DeadLetter, DeadLetterCause};
pub use delivery::Delivery;
pub use event::{Event, EventError};
pub use memory::MemoryBroker;
pub use metrics::Metrics;
pub use publish::{PublishError, Publisher};
pub use subscribe::{Health, SubscribeOptions, Subscriber};
