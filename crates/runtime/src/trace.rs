//! Traces over OTLP, off by default; the W3C context in and out of every process.
//!
//! ```text
//!  tracing spans ──► Traces::layer ──► batches ──HTTP/protobuf──► collector
//!  traceparent of a request or event ──► set_parent        current_traceparent ──► the next one
//! ```
//!
//! The standard `OTEL_*` variables hold: `OTEL_EXPORTER_OTLP_ENDPOINT`, `…_HEADERS`,
//! `…_TIMEOUT` and their `…_TRACES_…` forms, `OTEL_TRACES_SAMPLER` with `…_ARG`,
//! `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_PROPAGATORS`, `OTEL_BSP_*`. Values that
//! cannot be honoured are errors at the start. Spans are never written to the output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "otlp")]
mod settings;
#[cfg(feature = "otlp")]
pub use otlp::{Traces, current_traceparent, extract, ids_of, inject, set_parent};

#[cfg(not(feature = "otlp"))]
mod off;
#[cfg(not(feature = "otlp"))]
pub use off::{Traces, current_traceparent, extract, ids_of, inject, set_parent};

/// Whether spans are exported, and under which name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TracingConfig {
    /// Whether spans are exported over OTLP. Where to is said by the standard `OTEL_*` variables.
    pub enabled: bool,
    /// The name of this service in traces. Default: `OTEL_SERVICE_NAME`, else
    /// `hyperfleet-<component>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_name: Option<String>,
    /// The URL of the collector, unless `OTEL_EXPORTER_OTLP_ENDPOINT` or `…_TRACES_ENDPOINT` says another:
    /// `http://collector:4318/v1/traces`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Which part of the traces that begin here is kept, from 0 to 1, unless `OTEL_TRACES_SAMPLER` says otherwise.
    /// Default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_rate: Option<f64>,
}

/// Why spans cannot be exported as asked.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// A variable, or a key of the configuration, holds something that cannot be honoured.
    #[error("{name} is `{value}`: {problem}")]
    Setting {
        /// The variable or the key.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What is wrong with it and what to set instead.
        problem: String,
    },
    /// The exporter cannot be built.
    #[error("cannot set up the export of traces: {0}")]
    Exporter(String),
    /// The program was built without the feature `otlp`.
    #[error("tracing is enabled, but this program was built without the feature `otlp`")]
    NotBuilt,
}
