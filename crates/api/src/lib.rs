//! The HTTP face of the fleet: it holds what is wanted and what was reported, and orchestrates nothing.
//!
//! ```text
//!   request ──► request id ──► metrics, log ──► route (one per kind, flat and nested)
//!                                                 │
//!                 who asks? may they? (admit) ◄───┘
//!                   │
//!                   └─► body ──► checks (core) ──► store, as the caller sees it ──► answer │ problem+json
//! ```
//!
//! Every failure is a problem document with a stable code; an answer is sent after its transaction is committed.

#![forbid(unsafe_code)]

mod access;
mod admit;
mod aggregate;
mod auth;
mod authz;
mod body;
mod caller;
mod can_i;
mod config;
mod create;
mod delete;
mod dry_run;
mod entities;
mod etag;
mod failure;
mod fields;
mod history;
mod housekeeping;
mod limits;
mod list;
mod loopback;
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
mod security;
mod sentinels;
mod service;
mod state;
mod statuses;
mod swagger;
mod tenant;
mod wanted;
mod watch;

pub use auth::AuthSetupError;
pub use authz::{PolicyError, Verb};
pub use config::{
    ApiConfig, ApiMetricsConfig, ApiOptions, AuthorizationConfig, BindingConfig, DatabaseConfig,
    Dialect, DimensionConfig, HistoryConfig, IssuerConfig, JwtConfig, LimitsConfig, PoolConfig,
    RoleConfig, RuleConfig, ServerConfig, SigningAlgorithm, SslConfig, StatusesFormat,
    TenantConfig, TimeoutsConfig,
};
pub use entities::Entities;
pub use metrics::HttpMetrics;
pub use routes::router;
pub use rules::RulesInForce;
pub use rules::recheck::Recheck;
pub use schema::SpecSchemas;
pub use security::{Security, SecurityError};
pub use service::{Api, StartError};
pub use state::{ApiState, Timeouts};
pub use tenant::TenantError;
pub use watch::hub::{FeedMetrics, Hub};
