//! The client against a server in this process.

mod auth;
mod lists;
mod retries;
mod server;
mod shapes;
