//! The API as its callers see it: requests in, answers out, on a real PostgreSQL.

#[path = "api/caller.rs"]
mod caller;
#[path = "api/failures.rs"]
mod failures;
#[path = "api/resources.rs"]
mod resources;
#[path = "api/statuses.rs"]
mod statuses;
