//! The API as its callers see it: requests in, answers out, on a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

#[path = "api/caller.rs"]
mod caller;
#[path = "api/failures.rs"]
mod failures;
#[path = "api/resources.rs"]
mod resources;
#[path = "api/schemas.rs"]
mod schemas;
#[path = "api/statuses.rs"]
mod statuses;
