//! How the work is shared.

use hyperfleet_runtime::metrics::prometheus::{IntCounter, IntCounterVec, IntGauge, IntGaugeVec};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};

use super::KIND;

/// Of all kinds.
#[derive(Debug, Clone)]
pub(crate) struct SharingMetrics {
    replicas: IntGaugeVec,
    shards: IntGaugeVec,
    overlaps: IntGaugeVec,
    errors: IntCounterVec,
}

impl SharingMetrics {
    pub(super) fn register(metrics: &Metrics) -> Result<SharingMetrics, MetricsError> {
        Ok(SharingMetrics {
            replicas: metrics.int_gauge_vec(
                "replicas",
                "Sentinels that share the work, this one among them.",
                &KIND,
            )?,
            shards: metrics.int_gauge_vec(
                "shards_held",
                "Shards this replica sends for; all replicas together hold 64.",
                &KIND,
            )?,
            overlaps: metrics.int_gauge_vec(
                "overlapping_sentinels",
                "Other Sentinels that may send events about the same resources.",
                &KIND,
            )?,
            errors: metrics.counter_vec(
                "lease_errors_total",
                "Announcements that failed.",
                &KIND,
            )?,
        })
    }

    pub(crate) fn of(&self, resource_type: &str, selector: &str) -> LeaseMetrics {
        let kind = [resource_type, selector];
        LeaseMetrics {
            replicas: self.replicas.with_label_values(&kind),
            shards: self.shards.with_label_values(&kind),
            overlaps: self.overlaps.with_label_values(&kind),
            errors: self.errors.with_label_values(&kind),
        }
    }
}

/// Of one kind.
#[derive(Debug)]
pub(crate) struct LeaseMetrics {
    replicas: IntGauge,
    shards: IntGauge,
    overlaps: IntGauge,
    errors: IntCounter,
}

impl LeaseMetrics {
    pub(crate) fn standing(&self, replicas: u32, shards: u32, overlaps: usize) {
        self.replicas.set(replicas.into());
        self.shards.set(shards.into());
        self.overlaps
            .set(i64::try_from(overlaps).unwrap_or(i64::MAX));
    }

    pub(crate) fn failed(&self) {
        self.errors.inc();
    }
}
