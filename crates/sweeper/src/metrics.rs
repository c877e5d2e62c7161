//! What can be seen of a sweeper from outside.

use std::time::Duration;

use hyperfleet_core::time::Time;
use hyperfleet_runtime::metrics::prometheus::{
    Gauge, Histogram, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};

use crate::report::Report;

/// A pass over a small cluster takes a second, over a large one minutes.
const BUCKETS: [f64; 9] = [0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0];

#[derive(Clone, Debug)]
pub(crate) struct SweeperMetrics {
    seen: IntGauge,
    kept: IntGaugeVec,
    deleted: IntCounter,
    failed: IntCounter,
    passes: IntCounterVec,
    duration: Histogram,
    last_success: Gauge,
    leader: IntGauge,
    unrecorded: IntGauge,
}

impl SweeperMetrics {
    pub(crate) fn register(metrics: &Metrics) -> Result<SweeperMetrics, MetricsError> {
        Ok(SweeperMetrics {
            seen: metrics.int_gauge("objects_seen", "Objects with the label, in the last pass.")?,
            kept: metrics.int_gauge_vec(
                "objects_kept",
                "Objects that stayed in the last pass, by reason.",
                &["reason"],
            )?,
            deleted: metrics.counter("objects_deleted_total", "Objects that were deleted.")?,
            failed: metrics.counter(
                "deletions_failed_total",
                "Objects that should have been deleted and could not be.",
            )?,
            passes: metrics.counter_vec(
                "passes_total",
                "Passes, by whether they saw everything.",
                &["outcome"],
            )?,
            duration: metrics.histogram(
                "pass_duration_seconds",
                "How long passes took.",
                &BUCKETS,
            )?,
            last_success: metrics.gauge(
                "last_success_timestamp_seconds",
                "When the last complete pass ended.",
            )?,
            leader: metrics.int_gauge("is_leader", "Whether this is the process that sweeps.")?,
            unrecorded: metrics.int_gauge(
                "deletions_unrecorded",
                "Deletions that the API's audit log does not have yet.",
            )?,
        })
    }

    pub(crate) fn leads(&self, leads: bool) {
        self.leader.set(leads.into());
    }

    pub(crate) fn passed(&self, report: &Report, took: Duration, now: Time) {
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        self.seen.set(count(report.seen));
        self.unrecorded.set(count(report.unrecorded));
        // What no longer occurs must not stay as it was.
        self.kept.reset();
        for (reason, number) in &report.kept {
            self.kept.with_label_values(&[reason]).set(count(*number));
        }
        if !report.dry_run {
            self.deleted.inc_by(report.swept);
        }
        self.failed.inc_by(report.failed);
        let outcome = match report.complete {
            true => "complete",
            false => "incomplete",
        };
        self.passes.with_label_values(&[outcome]).inc();
        self.duration.observe(took.as_secs_f64());
        if report.complete {
            self.last_success
                .set(now.timestamp_millis() as f64 / 1000.0);
        }
    }
}
