//! The Sentinel on a real API on a real PostgreSQL: what it follows, how replicas share, what faults do to it.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod api;
mod faults;
mod feed;
mod history;
mod owner;
mod replica;
mod replicas;
