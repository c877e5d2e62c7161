//! Prometheus metrics: one registry per process, one [`Metrics`] handle per component.
//!
//! Names are `hyperfleet_<subsystem>_<name>`; `component` and `version` are labels of every
//! series, so several components of one process can share a name.

mod config;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use prometheus::core::Collector;
use prometheus::{
    Encoder, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec,
    IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

/// The client library; components name its types.
pub use prometheus;

pub use config::MetricsConfig;

/// Bucket bounds that suit requests to an API, in seconds.
pub const API_BUCKETS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];
/// Bucket bounds that suit the handling of events, in seconds.
pub const EVENT_BUCKETS: [f64; 9] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0];
/// Bucket bounds that suit database queries, in seconds.
pub const DATABASE_BUCKETS: [f64; 9] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0];

/// What is computed for a scrape must not hold it up.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(5);

/// A metric that cannot be registered or encoded.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// Wrong name, wrong labels, or registered already.
    #[error("cannot register the metric {name}: {source}")]
    Register {
        /// The full name.
        name: String,
        /// Why.
        source: prometheus::Error,
    },
    /// The registry cannot be written out.
    #[error("cannot encode the metrics: {0}")]
    Encode(#[from] prometheus::Error),
}

/// What was built, as `build_info` shows it.
#[derive(Clone, Debug)]
pub struct Build {
    /// The version of the program.
    pub version: String,
    /// The commit it was built from; empty if unknown.
    pub commit: String,
}

type Refreshes = Arc<RwLock<Vec<BeforeScrape>>>;
type BeforeScrape = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// All metrics of a process. Cloning shares them.
#[derive(Clone)]
pub struct MetricsRegistry {
    registry: Registry,
    build: Build,
    before_scrape: Refreshes,
}

impl std::fmt::Debug for MetricsRegistry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MetricsRegistry")
            .field("build", &self.build)
            .finish_non_exhaustive()
    }
}

impl MetricsRegistry {
    /// A registry that has the metrics of the process itself.
    pub fn new(build: Build) -> Result<Self, MetricsError> {
        let registry = Registry::new();
        #[cfg(target_os = "linux")]
        register(
            &registry,
            "process",
            prometheus::process_collector::ProcessCollector::for_self(),
        )?;
        Ok(Self {
            registry,
            build,
            before_scrape: Arc::default(),
        })
    }

    /// The registry itself, for libraries that register their own.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The handle of a component. `subsystem` is in the metrics' names (`adapter`), `component`
    /// is their label (`validation-adapter`); for most components both are the same.
    pub fn component(&self, subsystem: &str, component: &str) -> Result<Metrics, MetricsError> {
        let metrics = Metrics {
            registry: self.registry.clone(),
            prefix: prefix(subsystem),
            before_scrape: self.before_scrape.clone(),
            constants: HashMap::from([
                ("component".to_owned(), component.to_owned()),
                ("version".to_owned(), self.build.version.clone()),
            ]),
        };
        let build_info = metrics.int_gauge_vec("build_info", "What was built.", &["commit"])?;
        build_info.with_label_values(&[&self.build.commit]).set(1);
        metrics
            .int_gauge("up", "Whether the component runs.")?
            .set(1);
        Ok(metrics)
    }

    /// See [`Metrics::before_scrape`].
    pub fn before_scrape<F, Fut>(&self, refresh: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        push(&self.before_scrape, refresh);
    }

    /// Refreshes what is computed on demand and writes everything in the text format.
    pub async fn scrape(&self) -> Result<String, MetricsError> {
        let refreshes: Vec<BeforeScrape> = self.before_scrape.read().clone();
        let all = futures::future::join_all(refreshes.iter().map(|refresh| refresh()));
        if tokio::time::timeout(SCRAPE_TIMEOUT, all).await.is_err() {
            tracing::warn!("metrics that are computed on demand took too long; showing older ones");
        }
        self.encode()
    }

    /// Everything in Prometheus' text format.
    pub fn encode(&self) -> Result<String, MetricsError> {
        let mut out = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut out)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

fn push<F, Fut>(refreshes: &Refreshes, refresh: F)
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let refresh: BeforeScrape = Arc::new(move || Box::pin(refresh()));
    refreshes.write().push(refresh);
}

/// Registers metrics of one component. Cloning shares the registry.
#[derive(Clone)]
pub struct Metrics {
    registry: Registry,
    prefix: String,
    before_scrape: Refreshes,
    constants: HashMap<String, String>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metrics")
            .field("prefix", &self.prefix)
            .field("constants", &self.constants)
            .finish_non_exhaustive()
    }
}

impl Metrics {
    /// Runs `refresh` before each scrape, for gauges that are computed when somebody asks.
    pub fn before_scrape<F, Fut>(&self, refresh: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        push(&self.before_scrape, refresh);
    }

    /// The same component's metrics under another subsystem: `hyperfleet_broker_…`.
    #[must_use]
    pub fn subsystem(&self, subsystem: &str) -> Self {
        Self {
            prefix: prefix(subsystem),
            ..self.clone()
        }
    }

    /// A number that only grows. `name` ends in `_total`.
    pub fn counter(&self, name: &str, help: &str) -> Result<IntCounter, MetricsError> {
        self.add(name, IntCounter::with_opts(self.opts(name, help)))
    }

    /// Counters by label.
    pub fn counter_vec(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<IntCounterVec, MetricsError> {
        self.add(name, IntCounterVec::new(self.opts(name, help), labels))
    }

    /// A whole number that goes up and down.
    pub fn int_gauge(&self, name: &str, help: &str) -> Result<IntGauge, MetricsError> {
        self.add(name, IntGauge::with_opts(self.opts(name, help)))
    }

    /// Such numbers by label.
    pub fn int_gauge_vec(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<IntGaugeVec, MetricsError> {
        self.add(name, IntGaugeVec::new(self.opts(name, help), labels))
    }

    /// A number that goes up and down.
    pub fn gauge(&self, name: &str, help: &str) -> Result<Gauge, MetricsError> {
        self.add(name, Gauge::with_opts(self.opts(name, help)))
    }

    /// Such numbers by label.
    pub fn gauge_vec(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> Result<GaugeVec, MetricsError> {
        self.add(name, GaugeVec::new(self.opts(name, help), labels))
    }

    /// A distribution. `name` ends in its unit: `_seconds`.
    pub fn histogram(
        &self,
        name: &str,
        help: &str,
        buckets: &[f64],
    ) -> Result<Histogram, MetricsError> {
        self.add(
            name,
            Histogram::with_opts(self.histogram_opts(name, help, buckets)),
        )
    }

    /// Distributions by label.
    pub fn histogram_vec(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> Result<HistogramVec, MetricsError> {
        self.add(
            name,
            HistogramVec::new(self.histogram_opts(name, help, buckets), labels),
        )
    }

    fn opts(&self, name: &str, help: &str) -> Opts {
        Opts::new(self.full_name(name), help).const_labels(self.constants.clone())
    }

    fn histogram_opts(&self, name: &str, help: &str, buckets: &[f64]) -> HistogramOpts {
        HistogramOpts::from(self.opts(name, help)).buckets(buckets.to_vec())
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix)
    }

    fn add<M: Collector + Clone + 'static>(
        &self,
        name: &str,
        metric: prometheus::Result<M>,
    ) -> Result<M, MetricsError> {
        let name = self.full_name(name);
        let metric = metric.map_err(|source| MetricsError::Register {
            name: name.clone(),
            source,
        })?;
        register(&self.registry, &name, metric.clone())?;
        Ok(metric)
    }
}

fn register(
    registry: &Registry,
    name: &str,
    collector: impl Collector + 'static,
) -> Result<(), MetricsError> {
    registry
        .register(Box::new(collector))
        .map_err(|source| MetricsError::Register {
            name: name.to_owned(),
            source,
        })
}

/// `hyperfleet_my_adapter` for `my-adapter`: what a metric's name may be made of.
fn prefix(subsystem: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = subsystem.chars().map(safe).collect();
    format!("hyperfleet_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registry() -> MetricsRegistry {
        MetricsRegistry::new(Build {
            version: "1.2.3".into(),
            commit: "abc".into(),
        })
        .unwrap()
    }

    #[test]
    fn every_series_says_which_component_and_version_it_is_from() {
        let registry = registry();
        let metrics = registry.component("api", "api").unwrap();
        metrics.counter("things_total", "Things.").unwrap().inc();
        let text = registry.encode().unwrap();
        assert!(
            text.contains("hyperfleet_api_things_total{component=\"api\",version=\"1.2.3\"} 1"),
            "{text}"
        );
        assert!(
            text.contains(
                "hyperfleet_api_build_info{commit=\"abc\",component=\"api\",version=\"1.2.3\"} 1"
            ),
            "{text}"
        );
        assert!(
            text.contains("hyperfleet_api_up{component=\"api\",version=\"1.2.3\"} 1"),
            "{text}"
        );
        assert!(
            !cfg!(target_os = "linux") || text.contains("process_resident_memory_bytes"),
            "{text}"
        );
    }

    #[test]
    fn components_of_one_process_share_names_but_not_series() {
        let registry = registry();
        for name in ["dns", "validation"] {
            let metrics = registry.component("adapter", name).unwrap();
            metrics
                .subsystem("broker")
                .counter("messages_total", "Messages.")
                .unwrap();
        }
        let text = registry.encode().unwrap();
        assert!(
            text.contains("hyperfleet_broker_messages_total{component=\"dns\""),
            "{text}"
        );
        assert!(
            text.contains("hyperfleet_broker_messages_total{component=\"validation\""),
            "{text}"
        );
        assert_eq!(text.matches("# TYPE hyperfleet_adapter_up").count(), 1);
    }

    #[test]
    fn a_metric_registered_twice_is_an_error_and_no_panic() {
        let registry = registry();
        let metrics = registry.component("api", "api").unwrap();
        metrics.counter("a_total", "A.").unwrap();
        let error = metrics.counter("a_total", "A.").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot register the metric hyperfleet_api_a_total"),
            "{error}"
        );
        assert!(metrics.counter("not a name", "A.").is_err());
        assert!(registry.component("api", "api").is_err());
    }

    #[tokio::test]
    async fn gauges_computed_on_demand_are_refreshed_before_a_scrape() {
        let registry = registry();
        let metrics = registry.component("api", "api").unwrap();
        let gauge = metrics.int_gauge("stuck", "Stuck.").unwrap();
        registry.before_scrape(move || {
            let gauge = gauge.clone();
            async move { gauge.set(7) }
        });
        assert!(
            registry
                .scrape()
                .await
                .unwrap()
                .contains("hyperfleet_api_stuck{component=\"api\",version=\"1.2.3\"} 7")
        );
    }
}
