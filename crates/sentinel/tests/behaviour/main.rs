//! A Sentinel between an API and a broker, in simulated time.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage fails")]

mod api;
mod decisions;
mod events;
mod leases;
mod lists;
mod outages;
mod publisher;
mod world;
