//! What an operator can see of the API.

mod database;
mod http;
mod reconciliation;

pub(crate) use database::DatabaseMetrics;
pub use http::HttpMetrics;
pub(crate) use reconciliation::ReconciliationMetrics;
