//! What is kept: every SQL statement of HyperFleet, and the PostgreSQL to run it on when none is given.
//!
//! ```text
//!   DATABASE_URL ─────────────────────────────┐
//!                                             ├─► Store ──► resources.rs   what is wanted
//!   data directory ──► PrivateServer (initdb, │             statuses.rs    what was reported
//!                      postgres, unix socket) ┘             migrations.rs  the tables
//! ```
//!
//! A write reads what it depends on, decides in `hyperfleet-core`, and stores the outcome in one statement that
//! carries the row's revision: no lock is held across a round trip, and a lost race is read and decided again.

#![forbid(unsafe_code)]

mod database;
mod error;
mod migrations;
pub mod private;
mod resources;
mod row;
mod statuses;
#[cfg(feature = "testing")]
pub mod testing;

pub use database::{ConnectError, DatabaseOptions, Store, Target};
pub use error::StoreError;
pub use private::{PrivateServer, PrivateServerError};
pub use resources::{NewResource, Owner, ResourceQuery};
pub use statuses::{Decision, Reported};
