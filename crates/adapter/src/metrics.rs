//! What is counted.

use std::time::Duration;

use hyperfleet_runtime::metrics::{API_BUCKETS, EVENT_BUCKETS, Metrics, MetricsError};
use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use crate::pipeline::{Outcome, Status};

/// The adapter's own metrics; `adapter_name` is a label of all of them.
#[derive(Clone, Debug)]
pub struct AdapterMetrics {
    name: String,
    processed: IntCounterVec,
    duration: HistogramVec,
    in_flight: IntGaugeVec,
    errors: IntCounterVec,
    settled: IntCounterVec,
    created: IntCounterVec,
    operations: IntCounterVec,
    deleted: IntCounterVec,
    preconditions: IntCounterVec,
    api_requests: IntCounterVec,
    api_duration: HistogramVec,
    reports: IntCounterVec,
}

impl AdapterMetrics {
    /// Registers them for the adapter `name`.
    pub fn new(metrics: &Metrics, name: &str) -> Result<Self, MetricsError> {
        let short = name
            .strip_prefix("hyperfleet-adapter-")
            .or_else(|| name.strip_prefix("adapter-"))
            .or_else(|| name.strip_suffix("-adapter"))
            .unwrap_or(name);
        let counter = |metric: &str, help: &str, labels: &[&str]| {
            let labels = [&["adapter_name"], labels].concat();
            metrics.counter_vec(metric, help, &labels)
        };
        Ok(Self {
            name: short.to_owned(),
            processed: counter("events_processed_total", "Events handled.", &["status"])?,
            duration: metrics.histogram_vec(
                "event_processing_duration_seconds",
                "How long events took.",
                &["adapter_name"],
                &EVENT_BUCKETS,
            )?,
            in_flight: metrics.int_gauge_vec(
                "events_in_flight",
                "Events being handled.",
                &["adapter_name"],
            )?,
            errors: counter("errors_total", "Failures by phase.", &["error_type"])?,
            settled: counter(
                "deliveries_settled_total",
                "How deliveries ended.",
                &["how"],
            )?,
            created: counter(
                "resources_created_total",
                "Objects created.",
                &["resource_kind", "status"],
            )?,
            operations: counter(
                "resource_operations_total",
                "Operations on objects.",
                &["operation", "resource_kind", "status"],
            )?,
            deleted: counter(
                "resources_deleted_total",
                "Objects deleted.",
                &["resource_type", "status"],
            )?,
            preconditions: counter(
                "preconditions_evaluated_total",
                "Preconditions judged.",
                &["result"],
            )?,
            api_requests: counter(
                "api_requests_total",
                "Calls to the API.",
                &["method", "status"],
            )?,
            api_duration: metrics.histogram_vec(
                "api_request_duration_seconds",
                "How long calls took, retries included.",
                &["adapter_name", "method"],
                &API_BUCKETS,
            )?,
            reports: counter("status_reports_total", "Reports sent.", &["status"])?,
        })
    }

    pub(crate) fn started(&self) {
        self.in_flight.with_label_values(&[&self.name]).inc();
    }

    pub(crate) fn finished(&self, outcome: &Outcome, took: Duration) {
        self.in_flight.with_label_values(&[&self.name]).dec();
        let status = match outcome {
            Outcome::Done(Status::Success) => "success",
            Outcome::Done(Status::Skipped) => "skipped",
            Outcome::Done(Status::Failed) | Outcome::Retry { .. } | Outcome::Malformed(_) => {
                "failed"
            }
        };
        self.processed
            .with_label_values(&[&self.name, status])
            .inc();
        self.duration
            .with_label_values(&[&self.name])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn error(&self, phase: &str) {
        let kind = match phase {
            "params" => "param_extraction",
            other => other,
        };
        self.errors.with_label_values(&[&self.name, kind]).inc();
    }

    pub(crate) fn settled(&self, how: &str) {
        self.settled
            .with_label_values(&[self.name.as_str(), how])
            .inc();
    }

    pub(crate) fn operation(&self, operation: &str, kind: &str, ok: bool) {
        let status = if ok { "success" } else { "error" };
        self.operations
            .with_label_values(&[&self.name, operation, kind, status])
            .inc();
        match operation {
            "create" => self
                .created
                .with_label_values(&[&self.name, kind, status])
                .inc(),
            "delete" => self
                .deleted
                .with_label_values(&[&self.name, kind, status])
                .inc(),
            _ => {}
        }
    }

    pub(crate) fn preconditions(&self, result: &str) {
        self.preconditions
            .with_label_values(&[self.name.as_str(), result])
            .inc();
    }

    pub(crate) fn api_request(&self, method: &str, status: &str, took: Duration) {
        self.api_requests
            .with_label_values(&[self.name.as_str(), method, status])
            .inc();
        self.api_duration
            .with_label_values(&[self.name.as_str(), method])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn report(&self, ok: bool) {
        let status = if ok { "success" } else { "error" };
        self.reports.with_label_values(&[&self.name, status]).inc();
    }
}
