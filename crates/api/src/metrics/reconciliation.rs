//! What is not reconciled, asked for when somebody looks.

use std::time::Duration;

use chrono::TimeDelta;
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_store::{Pending, Store};
use prometheus::{GaugeVec, IntGaugeVec};

/// Gauges of seed 000, "Stuck detection": counted at scrape time, so that no background work keeps them.
#[derive(Debug, Clone)]
pub(crate) struct ReconciliationMetrics {
    pending: IntGaugeVec,
    stuck: IntGaugeVec,
    longest: GaugeVec,
}

impl ReconciliationMetrics {
    /// Counts on every scrape what has not been reconciled for `threshold`.
    pub(crate) fn register(
        metrics: &Metrics,
        store: Store,
        threshold: Duration,
    ) -> Result<(), MetricsError> {
        let labels = ["resource_type", "is_delete"];
        let gauges = ReconciliationMetrics {
            pending: metrics.int_gauge_vec(
                "resource_pending_reconciliation",
                "Resources that are not reconciled.",
                &labels,
            )?,
            stuck: metrics.int_gauge_vec(
                "resource_pending_reconciliation_stuck",
                "Resources that have not been reconciled for longer than the threshold.",
                &labels,
            )?,
            longest: metrics.gauge_vec(
                "resource_pending_reconciliation_stuck_duration_seconds",
                "How long the longest of the stuck resources has not been reconciled.",
                &labels,
            )?,
        };
        let threshold = TimeDelta::from_std(threshold).unwrap_or(TimeDelta::MAX);
        metrics.before_scrape(move || {
            let (store, gauges) = (store.clone(), gauges.clone());
            async move {
                match store.pending(threshold, chrono::Utc::now()).await {
                    Ok(pending) => gauges.set(&pending),
                    Err(error) => {
                        tracing::warn!(%error, "what is not reconciled cannot be counted")
                    }
                }
            }
        });
        Ok(())
    }

    /// A count of zero is an absent series.
    fn set(&self, pending: &[Pending]) {
        self.pending.reset();
        self.stuck.reset();
        self.longest.reset();
        for group in pending {
            let kind = group.kind.to_lowercase();
            let labels = [kind.as_str(), if group.deleting { "true" } else { "false" }];
            let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
            self.pending
                .with_label_values(&labels)
                .set(number(group.count));
            if group.stuck > 0 {
                self.stuck
                    .with_label_values(&labels)
                    .set(number(group.stuck));
                let seconds = group.longest.as_seconds_f64();
                self.longest.with_label_values(&labels).set(seconds);
            }
        }
    }
}
