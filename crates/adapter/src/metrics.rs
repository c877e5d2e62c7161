//! What is counted.

mod endpoint;
mod jobs;

use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use hyperfleet_runtime::metrics::{API_BUCKETS, EVENT_BUCKETS, Metrics, MetricsError};
use hyperfleet_transport::TransportError;
use prometheus::{HistogramVec, IntCounterVec, IntGauge, IntGaugeVec};
use serde_json::Value as Json;

use self::endpoint::Endpoints;
use self::jobs::Jobs;
use crate::pipeline::{Outcome, Status};
use crate::plan::Action;

/// Bucket bounds that suit Jobs, in seconds.
const JOB_BUCKETS: [f64; 9] = [1.0, 5.0, 15.0, 30.0, 60.0, 300.0, 900.0, 1800.0, 3600.0];

/// The adapter's own metrics; `adapter_name` is a label of all of them.
#[derive(Clone, Debug)]
pub struct AdapterMetrics {
    name: String,
    consumed: IntCounterVec,
    processed: IntCounterVec,
    duration: HistogramVec,
    in_flight: IntGaugeVec,
    tracked: IntGaugeVec,
    errors: IntCounterVec,
    settled: IntCounterVec,
    preconditions: IntCounterVec,
    operations: IntCounterVec,
    operation_duration: HistogramVec,
    created: IntCounterVec,
    failed: IntCounterVec,
    deleted: IntCounterVec,
    deletion_duration: HistogramVec,
    deleting: IntGaugeVec,
    jobs_created: IntCounterVec,
    job_duration: HistogramVec,
    jobs: Arc<Jobs>,
    api_calls: IntCounterVec,
    api_duration: HistogramVec,
    endpoints: Arc<Endpoints>,
    reports: IntCounterVec,
    report_duration: HistogramVec,
}

/// Something that may also end by being given up.
#[derive(Debug)]
pub(crate) struct UnderWay(IntGauge);

impl UnderWay {
    fn new(gauge: IntGauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl AdapterMetrics {
    /// Registers them for the adapter `name`.
    pub fn new(metrics: &Metrics, name: &str) -> Result<Self, MetricsError> {
        let short = name
            .strip_prefix("hyperfleet-adapter-")
            .or_else(|| name.strip_prefix("adapter-"))
            .or_else(|| name.strip_suffix("-adapter"))
            .unwrap_or(name);
        let labelled = |labels: &[&'static str]| [&["adapter_name"], labels].concat();
        let counter = |metric: &str, help: &str, labels: &[&'static str]| {
            metrics.counter_vec(metric, help, &labelled(labels))
        };
        let gauge = |metric: &str, help: &str, labels: &[&'static str]| {
            metrics.int_gauge_vec(metric, help, &labelled(labels))
        };
        let histogram = |metric: &str, help: &str, labels: &[&'static str], buckets: &[f64]| {
            metrics.histogram_vec(metric, help, &labelled(labels), buckets)
        };
        Ok(Self {
            name: short.to_owned(),
            consumed: counter(
                "events_consumed_total",
                "Events taken from the broker.",
                &[],
            )?,
            processed: counter("events_processed_total", "Events handled.", &["status"])?,
            duration: histogram(
                "event_processing_duration_seconds",
                "How long events took.",
                &[],
                &EVENT_BUCKETS,
            )?,
            in_flight: gauge("events_in_flight", "Events being handled.", &[])?,
            tracked: gauge(
                "resources_tracked_total",
                "Resources that are worked on or wait for their turn.",
                &[],
            )?,
            errors: counter("errors_total", "Failures by phase.", &["error_type"])?,
            settled: counter(
                "deliveries_settled_total",
                "How deliveries ended.",
                &["how"],
            )?,
            preconditions: counter(
                "preconditions_evaluated_total",
                "Preconditions judged.",
                &["result"],
            )?,
            operations: counter(
                "k8s_operations_total",
                "Operations on objects.",
                &["operation", "kind", "status"],
            )?,
            operation_duration: histogram(
                "k8s_operation_duration_seconds",
                "How long operations on objects took.",
                &["operation", "kind"],
                &API_BUCKETS,
            )?,
            created: counter(
                "resources_created_total",
                "Objects created.",
                &["resource_type", "status"],
            )?,
            failed: counter(
                "resources_failed_total",
                "Objects that could not be brought to where they should be.",
                &["resource_type", "reason"],
            )?,
            deleted: counter(
                "resources_deleted_total",
                "Objects deleted.",
                &["resource_type", "status"],
            )?,
            deletion_duration: histogram(
                "resource_deletion_duration_seconds",
                "How long deletions took.",
                &["resource_type"],
                &API_BUCKETS,
            )?,
            deleting: gauge(
                "resource_deletions_in_progress",
                "Deletions under way.",
                &["resource_type"],
            )?,
            jobs_created: counter("jobs_created_total", "Jobs created.", &[])?,
            job_duration: histogram(
                "job_duration_seconds",
                "How long Jobs took that ended while this adapter ran.",
                &["result"],
                &JOB_BUCKETS,
            )?,
            jobs: Arc::new(Jobs::since(Utc::now())),
            api_calls: counter(
                "api_calls_total",
                "Calls to the API.",
                &["method", "endpoint", "status"],
            )?,
            api_duration: histogram(
                "api_call_duration_seconds",
                "How long calls took, retries included.",
                &["method", "endpoint"],
                &API_BUCKETS,
            )?,
            endpoints: Arc::default(),
            reports: counter("status_reports_total", "Reports sent.", &["status"])?,
            report_duration: histogram(
                "status_report_duration_seconds",
                "How long it took to send a report, retries included.",
                &[],
                &API_BUCKETS,
            )?,
        })
    }

    /// An event came.
    pub(crate) fn consumed(&self) {
        self.consumed.with_label_values(&[&self.name]).inc();
    }

    pub(crate) fn tracked(&self, resources: usize) {
        let resources = i64::try_from(resources).unwrap_or(i64::MAX);
        self.tracked.with_label_values(&[&self.name]).set(resources);
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

    pub(crate) fn preconditions(&self, result: &str) {
        self.preconditions
            .with_label_values(&[self.name.as_str(), result])
            .inc();
    }

    /// Counts a deletion as under way, as long as the answer is kept.
    pub(crate) fn begins(&self, action: Action, kind: &str) -> Option<UnderWay> {
        let gauge = || self.deleting.with_label_values(&[&self.name, kind]);
        (action == Action::Delete).then(|| UnderWay::new(gauge()))
    }

    /// An operation on an object of `kind` is over.
    pub(crate) fn ends<T>(
        &self,
        action: Action,
        kind: &str,
        effect: &Result<T, TransportError>,
        took: Duration,
    ) {
        let (name, operation) = (self.name.as_str(), action.as_str());
        let status = if effect.is_ok() { "success" } else { "error" };
        let seconds = took.as_secs_f64();
        self.operations
            .with_label_values(&[name, operation, kind, status])
            .inc();
        if let Err(error) = effect {
            self.failed
                .with_label_values(&[name, kind, error.reason()])
                .inc();
        }
        if action.touches() {
            self.operation_duration
                .with_label_values(&[name, operation, kind])
                .observe(seconds);
        }
        match action {
            Action::Create => {
                self.created.with_label_values(&[name, kind, status]).inc();
                if kind == "Job" && effect.is_ok() {
                    self.jobs_created.with_label_values(&[name]).inc();
                }
            }
            Action::Delete => {
                self.deleted.with_label_values(&[name, kind, status]).inc();
                self.deletion_duration
                    .with_label_values(&[name, kind])
                    .observe(seconds);
            }
            _ => {}
        }
    }

    /// An object as it was found.
    pub(crate) fn found(&self, object: &Json) {
        if let Some(ended) = self.jobs.see(object) {
            self.job_duration
                .with_label_values(&[self.name.as_str(), ended.result])
                .observe(ended.took.as_secs_f64());
        }
    }

    /// What a call to `url` is counted under, with the API at `base`.
    pub(crate) fn endpoint(&self, base: &str, url: &str) -> String {
        self.endpoints.label(base, url)
    }

    pub(crate) fn api_call(&self, method: &str, endpoint: &str, status: &str, took: Duration) {
        self.api_calls
            .with_label_values(&[self.name.as_str(), method, endpoint, status])
            .inc();
        self.api_duration
            .with_label_values(&[self.name.as_str(), method, endpoint])
            .observe(took.as_secs_f64());
    }

    pub(crate) fn report(&self, ok: bool, took: Duration) {
        let status = if ok { "success" } else { "error" };
        self.reports.with_label_values(&[&self.name, status]).inc();
        self.report_duration
            .with_label_values(&[&self.name])
            .observe(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
    use hyperfleet_transport::{Failure, Operation, Target};

    use super::*;

    fn registered() -> (MetricsRegistry, AdapterMetrics) {
        let build = Build {
            version: "1".to_owned(),
            commit: String::new(),
        };
        let registry = MetricsRegistry::new(build).unwrap();
        let component = registry.component("adapter", "dns").unwrap();
        let metrics = AdapterMetrics::new(&component, "dns-adapter").unwrap();
        (registry, metrics)
    }

    /// The value of a series of this adapter; `labels` as they are printed, in the order of their names.
    fn value(registry: &MetricsRegistry, name: &str, labels: &str) -> Option<f64> {
        let text = registry.encode().unwrap();
        let begin =
            format!("hyperfleet_adapter_{name}{{adapter_name=\"dns\",component=\"dns\",{labels}");
        let line = text.lines().find(|line| line.starts_with(&begin))?;
        line.rsplit(' ').next()?.parse().ok()
    }

    #[test]
    fn an_object_that_could_not_be_made_is_counted_with_the_reason() {
        let (registry, metrics) = registered();
        let forbidden = TransportError {
            target: Target::Kubernetes,
            operation: Operation::Apply,
            object: "jobs/validation".to_owned(),
            failure: Failure::Forbidden {
                message: "no".to_owned(),
            },
        };
        let second = Duration::from_secs(1);
        metrics.ends(Action::Create, "Job", &Err::<(), _>(forbidden), second);
        metrics.ends(Action::Create, "Job", &Ok(()), second);
        metrics.ends(Action::Skip, "Job", &Ok(()), second);
        let value = |name: &str, labels: &str| value(&registry, name, labels);
        let failed = "reason=\"Forbidden\",resource_type=\"Job\"";
        assert_eq!(value("resources_failed_total", failed), Some(1.0));
        let created = "resource_type=\"Job\",status=\"success\"";
        assert_eq!(value("resources_created_total", created), Some(1.0));
        assert_eq!(value("jobs_created_total", ""), Some(1.0));
        let skipped = "kind=\"Job\",operation=\"skip\",status=\"success\"";
        assert_eq!(value("k8s_operations_total", skipped), Some(1.0));
        let took = "k8s_operation_duration_seconds_count";
        assert_eq!(value(took, "kind=\"Job\",operation=\"create\""), Some(2.0));
        assert_eq!(value(took, "kind=\"Job\",operation=\"skip\""), None);
    }

    #[test]
    fn a_deletion_that_is_given_up_is_not_under_way_any_more() {
        let (registry, metrics) = registered();
        let under_way = || value(&registry, "resource_deletions_in_progress", "");
        let deletion = metrics.begins(Action::Delete, "Namespace");
        assert_eq!(under_way(), Some(1.0));
        drop(deletion);
        assert_eq!(under_way(), Some(0.0));
        assert!(metrics.begins(Action::Create, "Namespace").is_none());
    }
}
