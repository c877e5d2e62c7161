//! What an operator can see of the API.

mod database;
mod http;
mod phases;
mod reconciliation;

pub(crate) use database::DatabaseMetrics;
pub use http::HttpMetrics;
pub(crate) use phases::PhaseMetrics;
pub(crate) use reconciliation::ReconciliationMetrics;
