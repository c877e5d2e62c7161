//! What every process shares, so that all of them are configured, observed and stopped alike.
//!
//! ```text
//!  flags, HYPERFLEET_*, file ──► config::Loader ──► T (+ origins, warnings)
//!
//!  component ──► Process ──signal/failure──► Shutdown tree ──► joined in time ──► exit code
//!      │            └──► Health ──► /healthz, /readyz
//!      ├──► Metrics ──► MetricsRegistry ──► /metrics
//!      └──► tracing ──► log (JSON or text lines)
//!                  └──► trace (OTLP, off by default)
//! ```
//!
//! Nothing here knows what a HyperFleet component does.

pub mod config;
pub mod crypto;
mod duration;
pub mod health;
#[cfg(feature = "heap-profiling")]
pub mod heap;
pub mod http;
pub mod log;
pub mod metrics;
mod profile;
pub mod secret;
pub mod shutdown;
pub mod tls;
pub mod trace;

pub use duration::{GoDuration, ParseDurationError};
pub use secret::Secret;
