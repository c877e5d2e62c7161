//! Adapters: configuration in, converged objects and honest status out.
//!
//! ```text
//!  adapter-config.yaml ─┐
//!  task-config.yaml ────┴► config ──► Task, Deployment
//!                                        │
//!  broker ─► serve ─► Engine::handle ────┤ context: event, params, env, config, now
//!              ▲                         │ preconditions
//!              │                         │ discover ──► Transport
//!      ack, nack, dead letter            │ plan  (pure: what, and why)
//!              │                         │ execute ───► Transport
//!              └──────── Outcome ◄───────┘ post ──────► API: conditions
//! ```
//!
//! Every event ends in exactly one of: reported and acknowledged, given back with a reason, parked.

mod adapter;
mod calls;
pub mod config;
mod connect;
pub mod context;
mod danger;
mod discover;
pub mod drift;
pub mod dry_run;
pub mod event;
mod execute;
mod held;
mod judge;
mod log;
mod metrics;
mod names_in;
mod nested;
mod older_names;
pub mod owned;
mod params;
mod payload;
mod pipeline;
pub mod plan;
mod post;
mod preconditions;
mod resources;
pub mod schema;
pub mod serve;
pub mod stamp;
pub mod standard;
pub mod task;
pub mod workload;

pub use adapter::{Adapter, AdapterError, Parts, process_environment};
pub use calls::{Api, HttpApi};
pub use connect::EngineError;
pub use metrics::AdapterMetrics;
pub use pipeline::{Engine, Outcome, Run, Status};
