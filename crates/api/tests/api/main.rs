//! The API as its callers see it: requests in, answers out, on a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod audit_notes;
mod caller;
mod contract;
mod counted;
mod dry_runs;
mod error_pages;
mod failures;
mod lifecycle;
mod lists;
mod openapi;
mod race;
mod rechecks;
mod recomputed;
mod resources;
mod schemas;
mod security;
mod sequences;
mod statuses;
mod walkthroughs;
mod watch;
