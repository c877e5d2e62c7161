//! How long statements take, how they fail, and how busy the pool is.

use std::sync::Arc;
use std::time::Duration;

use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_store::{Observer, Operation, Store, StoreError};
use prometheus::{HistogramVec, IntCounterVec};

const BUCKETS: [f64; 9] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0];
/// A call that takes longer is worth a line in the log.
const SLOW: Duration = Duration::from_millis(200);

/// Hears of every call of the store.
#[derive(Debug)]
pub(crate) struct DatabaseMetrics {
    duration: HistogramVec,
    errors: IntCounterVec,
    reports: IntCounterVec,
    started: IntCounterVec,
    /// The same under the name of seed 000, "Stuck Detection".
    requests: IntCounterVec,
}

impl DatabaseMetrics {
    /// A store whose calls are measured, and whose pool is looked at on every scrape.
    pub(crate) fn observe(metrics: &Metrics, store: Store) -> Result<Store, MetricsError> {
        let database = metrics.subsystem("db");
        let open = database.int_gauge("connections_open", "Connections to the database.")?;
        let in_use =
            database.int_gauge("connections_in_use", "Connections that run a statement.")?;
        let memory = metrics.int_gauge(
            "report_memory_bytes",
            "About how much memory is taken by resources that were reported on lately.",
        )?;
        let observed = store.clone();
        metrics.before_scrape(move || {
            let (all, idle) = observed.connections();
            open.set(i64::from(all));
            in_use.set(i64::from(all.saturating_sub(idle)));
            memory.set(i64::try_from(observed.report_memory()).unwrap_or(i64::MAX));
            std::future::ready(())
        });
        Ok(store.observed(Arc::new(DatabaseMetrics {
            duration: database.histogram_vec(
                "query_duration_seconds",
                "Time of a call to the database.",
                &["operation", "table"],
                &BUCKETS,
            )?,
            errors: database.counter_vec(
                "errors_total",
                "Calls to the database that failed.",
                &["operation", "error_type"],
            )?,
            reports: metrics.counter_vec(
                "reports_total",
                "Reports that were stored, by whether their resource had to be read.",
                &["judged_on"],
            )?,
            started: metrics.counter_vec(
                "reconciliation_started_total",
                "Times a resource became not reconciled, its creation included.",
                &["resource_type", "is_delete"],
            )?,
            requests: metrics.counter_vec(
                "reconciliation_requests_total",
                "The same as reconciliation_started_total.",
                &["resource_type", "is_delete"],
            )?,
        })))
    }
}

impl Observer for DatabaseMetrics {
    fn call(
        &self,
        operation: Operation,
        table: &'static str,
        elapsed: Duration,
        error: Option<&StoreError>,
    ) {
        let operation = operation.as_str();
        self.duration
            .with_label_values(&[operation, table])
            .observe(elapsed.as_secs_f64());
        if let Some(kind) = error.and_then(error_type) {
            self.errors.with_label_values(&[operation, kind]).inc();
        }
        if elapsed > SLOW {
            let duration_ms = elapsed.as_secs_f64() * 1000.0;
            tracing::warn!(
                operation,
                table,
                duration_ms,
                "a call to the database was slow"
            );
        }
    }

    fn reported(&self, remembered: bool) {
        let judged_on = if remembered { "memory" } else { "database" };
        self.reports.with_label_values(&[judged_on]).inc();
    }

    fn unreconciled(&self, kind: &str, deleting: bool) {
        let deleting = if deleting { "true" } else { "false" };
        self.started.with_label_values(&[kind, deleting]).inc();
        self.requests.with_label_values(&[kind, deleting]).inc();
    }
}

/// What went wrong; nothing when the database only said no to a caller.
fn error_type(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::NameTaken { .. }
        | StoreError::OwnerGone { .. }
        | StoreError::TargetGone { .. } => Some("constraint_violation"),
        StoreError::Refused(_) => None,
        StoreError::Unavailable(cause) if cause.to_string().contains("timeout") => Some("timeout"),
        StoreError::Unavailable(_) => Some("connection_error"),
        StoreError::Contended { .. } | StoreError::Statement(_) | StoreError::Unreadable { .. } => {
            Some("other")
        }
    }
}
