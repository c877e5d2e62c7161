//! Removes managed objects whose owner is gone, and only those.
//!
//! ```text
//!  Kubernetes ──every kind, by label, page by page──► object
//!                                                       │ find
//!       signature ◄── key ring ──────────────────────── ▼
//!       owner     ◄── GET /resources/{id}, once a pass  judge ──► kept, with the reason
//!                                                       │ verify
//!                                                       ▼
//!                             read again, judged again, deleted if it is still that very object
//!                                                         act ──► a line in the log, a note to the API's audit log
//! ```
//!
//! In comes an [`Options`], a cluster, a client of the API and the keys; out comes a [`Report`] of each pass. Absence is
//! not evidence: an object goes when it proves that it is ours and the API shows the record of its owner's removal.
//! Whatever cannot be read, verified or answered is kept, and the report says why.

#![forbid(unsafe_code)]

mod act;
mod find;
mod lease;
mod metrics;
mod notes;
mod options;
mod owners;
mod pass;
mod report;
mod sweeper;
mod verdict;

pub use options::{
    ApiOptions, AuthOptions, ClientsOptions, Flags, KubernetesOptions, LeaseOptions, Options,
    OptionsError,
};
pub use report::{Outcome, Report, Row};
pub use sweeper::{Handle, Sweeper, SweeperError};
pub use verdict::{Absence, Answer, Keep, Sweep, Verdict, judge, owner};
