//! Points in time as the API keeps them.

use chrono::{DateTime, SubsecRound, Utc};

/// A point in time. The API's process clock makes them; PostgreSQL keeps microseconds.
pub type Time = DateTime<Utc>;

/// Cuts a time to what the database keeps, so that an answer to a write equals a later read of it.
#[must_use]
pub fn storable(time: Time) -> Time {
    time.trunc_subsecs(6)
}
