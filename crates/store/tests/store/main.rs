//! What is stored is what was given; writers do not overwrite each other; nothing that happened is missed.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod deletion;
mod feed;
mod fleet;
mod history;
mod lists;
mod rechecks;
mod reports;
mod reports_known;
mod reports_together;
mod resources;
mod sentinels;
