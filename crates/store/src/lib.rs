//! What is kept: every SQL statement of HyperFleet, and the PostgreSQL to run it on when none is given.
//!
//! ```text
//!   DATABASE_URL ─────────────────────────────┐
//!                                             ├─► Store ──► resources.rs   what is wanted
//!   data directory ──► PrivateServer (initdb, │             statuses.rs    what was reported
//!                      postgres, unix socket) ┘             list.rs        lists: searched, ordered, in parts
//!                                                           feed.rs        what changed
//!                                                           sentinels.rs   who watches, and which part
//!                                                           migrations.rs  the tables
//! ```
//!
//! A write reads what it depends on, decides in `hyperfleet-core`, and stores the outcome in one statement that
//! carries the row's revision: no lock is held across a round trip, and a lost race is read and decided again. Who has
//! lost several times takes the lock first, so that nobody is starved.

#![forbid(unsafe_code)]

mod attempt;
mod audit;
mod author;
mod create;
mod database;
mod deletion;
mod error;
mod feed;
mod history;
mod kept;
mod list;
mod migrations;
mod observe;
mod pending;
mod phases;
pub mod private;
mod recheck;
mod resources;
mod row;
mod search;
mod sentinels;
mod sight;
mod statuses;
mod stored;
#[cfg(feature = "testing")]
pub mod testing;
mod together;
mod totals;
mod wakeups;

pub use audit::{Denial, Noted};
pub use author::{Aggregated, Author, Rules, Stored};
pub use create::{Create, Created};
pub use database::{ConnectError, DatabaseOptions, Store, Target};
pub use deletion::Refusal;
pub use error::StoreError;
pub use feed::{Change, Changes, FeedError, Labels, NotAPosition, Position};
pub use history::{AuditQuery, Forgotten, HistoryCursor, Retention};
pub use list::{PageQuery, ResourceFilter, StretchQuery};
pub use observe::{Observer, Operation};
pub use pending::Pending;
pub use phases::InPhase;
pub use private::{PrivateServer, PrivateServerError};
pub use recheck::{Rechecked, Start, Sweep};
pub use resources::{Owner, Patched};
pub use sight::{Sight, View};
pub use statuses::{Decision, ReportWrite};
pub use wakeups::{Wakeup, Wakeups};
