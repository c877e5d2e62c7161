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
//!  dead letters ─┬─ replay ────────────────► same subscription, as new messages
//!                └─ discard                  gone
//! ```
//!
//! What each broker does for each operation:
//!
//! | | memory | RabbitMQ |
//! |---|---|---|
//! | topic | an entry in a map | durable exchange of that name (`exchange`, `exchange_type`) |
//! | subscription | queue in this process; made by `subscribe`, ends with the process | durable queue `{topic}-{subscription}` without arguments, bound by the empty key and `routing_key` |
//! | publish | waits for room in every subscription, then fails as retryable | persistent, confirmed, pipelined; fails as retryable at once while disconnected |
//! | no subscription yet | dropped, counted, warned about | the same: the message is mandatory, its return is no error |
//! | concurrent deliveries | `concurrency` | `concurrency`, with as many prefetched (or `prefetch_count`) |
//! | ack | forgotten | basic.ack |
//! | nack, no delay | back of the queue | copy with raised `hyperfleet-attempt` to the queue, then ack |
//! | nack with delay | timer, exact | copy to `{queue}.retry`, then ack; consumers of ours hold it until it is due and move it back; without any it waits for one |
//! | dead letter | kept with the queue, up to `dead_letter_capacity` | copy to `{queue}.dead` with reason, attempts and time, then ack |
//! | deliveries counted | exactly | exactly; a consumer that is killed counts for all it was sent, in hand or ahead |
//! | replay | to the queue, as far as there is room | to the queue, confirmed, then ack of the dead letter |
//! | lost connection | - | publisher and subscriber reconnect with backoff; what was unsettled comes again |
//! | close | waits for deliveries handed out | the same, then disconnects, which returns what was prefetched |
//!
//! Pub/Sub and SNS with SQS are drawn in their own modules; Pub/Sub moves copies as RabbitMQ does, SQS
//! counts and delays by itself.
//!
//! A new broker implements `Backend`, `Publisher`, `Subscriber` and `Settle`, gets a
//! [`config::BrokerType`], and must pass `tests/behaviour`.
//!
//! Order is not promised, duplicates are possible, and consumers serialise by key themselves: an
//! event only says that something should be looked at.

#[cfg(any(feature = "pubsub", feature = "sqs"))]
mod audience;
#[cfg(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs"))]
mod backoff;
mod broker;
pub mod config;
mod dead_letter;
mod delivery;
pub mod event;
#[cfg(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs"))]
mod headers;
mod in_flight;
mod memory;
mod metrics;
mod publish;
#[cfg(feature = "pubsub")]
mod pubsub;
#[cfg(feature = "rabbitmq")]
mod rabbitmq;
#[cfg(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs"))]
mod settling;
#[cfg(feature = "sqs")]
mod sqs;
mod subscribe;
mod unroutable;

pub use broker::{Broker, BrokerError};
pub use config::BrokerConfig;
pub use dead_letter::{DeadLetter, DeadLetterCause, Fate, Progress, Selection};
pub use delivery::Delivery;
pub use event::{Event, EventError};
pub use memory::MemoryBroker;
pub use metrics::Metrics;
pub use publish::{PublishError, Publisher};
pub use subscribe::{Health, SubscribeOptions, Subscriber};
