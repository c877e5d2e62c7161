//! The HTTP face of the fleet: it holds what is wanted and what was reported, and orchestrates nothing.
//!
//! ```text
//!   request ──► request id ──► metrics, log ──► route (one per kind, flat and nested)
//!                                                 │
//!                      body ──► checks (core) ──► store ──► answer │ problem+json
//! ```
//!
//! Every failure is a problem document with a stable code; an answer is sent after its transaction is committed.

#![forbid(unsafe_code)]

mod aggregate;
mod body;
mod caller;
mod config;
mod create;
mod delete;
mod entities;
mod etag;
mod failure;
mod fields;
mod history;
mod housekeeping;
mod list;
mod metadata;
mod metrics;
mod observe;
mod openapi;
mod operation;
mod params;
mod patch;
mod query;
mod read;
mod references;
mod routes;
mod rules;
mod schema;
mod scope;
mod sentinels;
mod service;
mod state;
mod statuses;
mod swagger;
mod wanted;
mod watch;

pub use config::{
    ApiConfig, ApiMetricsConfig, ApiOptions, DatabaseConfig, Dialect, HistoryConfig, PoolConfig,
    ServerConfig, SslConfig, StatusesFormat, TimeoutsConfig,
};
pub use entities::Entities;
pub use metrics::HttpMetrics;
pub use routes::router;
pub use rules::RulesInForce;
pub use rules::recheck::Recheck;
pub use schema::SpecSchemas;
pub use service::{Api, StartError};
pub use state::{ApiState, Timeouts};
pub use watch::hub::{FeedMetrics, Hub};
