//! The program as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

#[path = "binary/adapter.rs"]
mod adapter;
#[path = "binary/aggregation.rs"]
mod aggregation;
#[path = "binary/completion.rs"]
mod completion;
#[path = "binary/failures.rs"]
mod failures;
#[path = "binary/install.rs"]
mod install;
#[path = "binary/language.rs"]
mod language;
#[path = "binary/login.rs"]
mod login;
#[path = "binary/restart.rs"]
mod restart;
#[path = "binary/running.rs"]
mod running;
#[path = "binary/sweeper.rs"]
mod sweeper;
#[path = "binary/up.rs"]
mod up;
#[path = "binary/watching.rs"]
mod watching;
#[path = "binary/why.rs"]
mod why;
