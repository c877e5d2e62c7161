//! The client against a server in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its stage fails")]

mod auth;
mod lists;
mod long_lists;
mod retries;
mod server;
mod shapes;
