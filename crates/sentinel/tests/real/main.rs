//! The Sentinel on a real API on a real PostgreSQL: what it follows, how replicas share, what faults do to it.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod api;
mod faults;
mod feed;
#[expect(dead_code, reason = "the tests on RabbitMQ use the rest")]
mod history;
mod metrics;
mod owner;
mod replica;
mod replicas;
mod why;
