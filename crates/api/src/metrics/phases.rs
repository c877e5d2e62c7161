//! How many resources are in which phase, asked for when somebody looks.

use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_store::{InPhase, Store};
use prometheus::IntGaugeVec;

/// The kind that the architecture document has a metric of its own for.
const CLUSTER: &str = "Cluster";

#[derive(Debug, Clone)]
pub(crate) struct PhaseMetrics {
    resources: IntGaugeVec,
    clusters: IntGaugeVec,
}

impl PhaseMetrics {
    /// Counts on every scrape.
    pub(crate) fn register(metrics: &Metrics, store: Store) -> Result<(), MetricsError> {
        let gauges = PhaseMetrics {
            resources: metrics.int_gauge_vec(
                "resources",
                "Resources by phase.",
                &["resource_type", "phase"],
            )?,
            clusters: metrics.int_gauge_vec("clusters_total", "Clusters by phase.", &["phase"])?,
        };
        metrics.before_scrape(move || {
            let (store, gauges) = (store.clone(), gauges.clone());
            async move {
                match store.phases().await {
                    Ok(counted) => gauges.set(&counted),
                    Err(error) => tracing::warn!(%error, "resources cannot be counted by phase"),
                }
            }
        });
        Ok(())
    }

    /// A phase that no resource is in is an absent series, but `Ready` is always there.
    fn set(&self, counted: &[InPhase]) {
        self.resources.reset();
        self.clusters.reset();
        for one in counted {
            let count = i64::try_from(one.count).unwrap_or(i64::MAX);
            let kind = one.kind.to_lowercase();
            self.resources
                .with_label_values(&[&kind, &one.phase])
                .set(count);
            if one.kind == CLUSTER {
                self.clusters.with_label_values(&[&one.phase]).set(count);
            }
        }
    }
}
