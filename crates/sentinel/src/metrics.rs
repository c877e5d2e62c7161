//! What a Sentinel counts, under the names dashboards and alerts know.

mod lease;

use std::time::Duration;

use hyperfleet_core::time::Time;
use hyperfleet_runtime::metrics::prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
};
use hyperfleet_runtime::metrics::{API_BUCKETS, Metrics, MetricsError};

use crate::decision::Skip;
pub(crate) use lease::{LeaseMetrics, SharingMetrics};

const KIND: [&str; 2] = ["resource_type", "resource_selector"];
const BY_REASON: [&str; 3] = ["resource_type", "resource_selector", "reason"];
const BY_ERROR: [&str; 3] = ["resource_type", "resource_selector", "error_type"];
/// What the architecture document (seed 002, "Metrics") calls the same things.
const BY_SHARD: [&str; 2] = ["resource_type", "shard"];

/// Where an event can fail: at the broker, or because of what it is.
pub(crate) const BROKER_ERRORS: [&str; 2] = ["publish_error", "event_error"];
const API_ERRORS: [&str; 2] = ["fetch_error", "auth_error"];

/// From a change to its event: milliseconds with a feed, up to a poll interval without.
const LATENCY_BUCKETS: [f64; 13] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0,
];

/// The metrics of all kinds of one process.
#[derive(Debug, Clone)]
pub(crate) struct SentinelMetrics {
    pub(crate) sharing: SharingMetrics,
    pending: IntGaugeVec,
    resources_pending: IntGaugeVec,
    due_backlog: IntGaugeVec,
    resources: IntGaugeVec,
    published: IntCounterVec,
    created: IntCounterVec,
    publish_errors: IntCounterVec,
    skipped: IntCounterVec,
    poll_duration: HistogramVec,
    api_errors: IntCounterVec,
    broker_errors: IntCounterVec,
    last_poll: GaugeVec,
    last_heard: GaugeVec,
    feed_lag: HistogramVec,
    change_to_publish: HistogramVec,
    due_to_publish: HistogramVec,
}

impl SentinelMetrics {
    pub(crate) fn register(metrics: &Metrics) -> Result<SentinelMetrics, MetricsError> {
        Ok(SentinelMetrics {
            sharing: SharingMetrics::register(metrics)?,
            resources_pending: metrics.int_gauge_vec(
                "resources_pending",
                "The same as pending_resources, by another name.",
                &BY_SHARD,
            )?,
            due_backlog: metrics.int_gauge_vec(
                "due_backlog",
                "Resources whose event is due and has not been sent yet.",
                &KIND,
            )?,
            created: metrics.counter_vec(
                "events_created_total",
                "Events the broker confirmed, whatever their reason.",
                &BY_SHARD,
            )?,
            publish_errors: metrics.counter_vec(
                "publish_errors_total",
                "Events that were not taken, whatever the reason.",
                &BY_SHARD,
            )?,
            feed_lag: metrics.histogram_vec(
                "feed_lag_seconds",
                "From the change of a resource to hearing of it.",
                &KIND,
                &LATENCY_BUCKETS,
            )?,
            pending: metrics.int_gauge_vec(
                "pending_resources",
                "Resources whose event is due and not yet confirmed by the broker.",
                &KIND,
            )?,
            resources: metrics.int_gauge_vec("resources", "Resources that are watched.", &KIND)?,
            published: metrics.counter_vec(
                "events_published_total",
                "Events the broker confirmed.",
                &BY_REASON,
            )?,
            skipped: metrics.counter_vec(
                "resources_skipped_total",
                "Resources that were seen and did not need an event.",
                &BY_REASON,
            )?,
            poll_duration: metrics.histogram_vec(
                "poll_duration_seconds",
                "Time of a complete pass over the list.",
                &KIND,
                &API_BUCKETS,
            )?,
            api_errors: metrics.counter_vec(
                "api_errors_total",
                "Passes that failed: fetch_error, auth_error.",
                &BY_ERROR,
            )?,
            broker_errors: metrics.counter_vec(
                "broker_errors_total",
                "Events that were not taken: publish_error, event_error.",
                &BY_ERROR,
            )?,
            last_poll: metrics.gauge_vec(
                "last_successful_poll_timestamp_seconds",
                "When the last complete pass ended.",
                &KIND,
            )?,
            last_heard: metrics.gauge_vec(
                "feed_last_event_timestamp_seconds",
                "When the change feed was last heard of; a bookmark comes every ten seconds.",
                &KIND,
            )?,
            change_to_publish: metrics.histogram_vec(
                "change_to_publish_seconds",
                "From the change of a resource to the confirmation of its event.",
                &KIND,
                &LATENCY_BUCKETS,
            )?,
            due_to_publish: metrics.histogram_vec(
                "due_to_publish_seconds",
                "From the moment an event is due to its confirmation.",
                &KIND,
                &LATENCY_BUCKETS,
            )?,
        })
    }

    /// The metrics of one kind.
    pub(crate) fn of(&self, resource_type: &str, selector: &str) -> KindMetrics {
        let kind = [resource_type, selector];
        let by_error = |counters: &IntCounterVec, errors: [&str; 2]| {
            for error in errors {
                // There from the start, at zero: what never happened can be told from what nobody counts.
                counters.with_label_values(&[resource_type, selector, error]);
            }
        };
        by_error(&self.api_errors, API_ERRORS);
        by_error(&self.broker_errors, BROKER_ERRORS);
        KindMetrics {
            pending: self.pending.with_label_values(&kind),
            resources_pending: self.resources_pending.with_label_values(&kind),
            due_backlog: self.due_backlog.with_label_values(&kind),
            created: self.created.with_label_values(&kind),
            publish_errors: self.publish_errors.with_label_values(&kind),
            feed_lag: self.feed_lag.with_label_values(&kind),
            resources: self.resources.with_label_values(&kind),
            skipped: Skip::ALL.map(|skip| {
                self.skipped
                    .with_label_values(&[resource_type, selector, skip.as_str()])
            }),
            poll_duration: self.poll_duration.with_label_values(&kind),
            last_poll: self.last_poll.with_label_values(&kind),
            last_heard: None,
            change_to_publish: self.change_to_publish.with_label_values(&kind),
            due_to_publish: self.due_to_publish.with_label_values(&kind),
            labels: kind.map(str::to_owned),
            all: self.clone(),
        }
    }
}

/// The metrics of one kind, looked up once.
#[derive(Debug)]
pub(crate) struct KindMetrics {
    pending: IntGauge,
    resources_pending: IntGauge,
    due_backlog: IntGauge,
    pub(crate) resources: IntGauge,
    created: IntCounter,
    publish_errors: IntCounter,
    feed_lag: Histogram,
    skipped: [IntCounter; 3],
    poll_duration: Histogram,
    last_poll: Gauge,
    /// Absent until the feed is heard of: without one there is nothing to alert on.
    last_heard: Option<Gauge>,
    change_to_publish: Histogram,
    due_to_publish: Histogram,
    labels: [String; 2],
    all: SentinelMetrics,
}

impl KindMetrics {
    pub(crate) fn skipped(&self, skip: Skip) {
        self.skipped[skip as usize].inc();
    }

    pub(crate) fn published(&self, reason: &str, due: Time, changed: Option<Time>, now: Time) {
        self.by(&self.all.published, reason).inc();
        self.created.inc();
        self.due_to_publish.observe(seconds(due, now));
        if let Some(changed) = changed {
            self.change_to_publish.observe(seconds(changed, now));
        }
    }

    /// How many are due and not confirmed, and how many of these have not been sent.
    pub(crate) fn pending(&self, pending: usize, backlog: usize) {
        self.pending.set(pending as i64);
        self.resources_pending.set(pending as i64);
        self.due_backlog.set(backlog as i64);
    }

    /// A change was heard of.
    pub(crate) fn heard_of(&self, changed: Time, now: Time) {
        self.feed_lag.observe(seconds(changed, now));
    }

    pub(crate) fn broker_error(&self, error_type: &str) {
        self.publish_errors.inc();
        self.by(&self.all.broker_errors, error_type).inc();
    }

    pub(crate) fn api_error(&self, error_type: &str) {
        self.by(&self.all.api_errors, error_type).inc();
    }

    pub(crate) fn passed(&self, took: Duration, finished: Time) {
        self.poll_duration.observe(took.as_secs_f64());
        self.last_poll
            .set(finished.timestamp_millis() as f64 / 1000.0);
    }

    pub(crate) fn heard(&mut self, now: Time) {
        let [resource_type, selector] = &self.labels;
        self.last_heard
            .get_or_insert_with(|| {
                let kind = [resource_type.as_str(), selector.as_str()];
                self.all.last_heard.with_label_values(&kind)
            })
            .set(now.timestamp_millis() as f64 / 1000.0);
    }

    fn by(&self, counters: &IntCounterVec, label: &str) -> IntCounter {
        let [resource_type, selector] = &self.labels;
        counters.with_label_values(&[resource_type.as_str(), selector, label])
    }
}

/// Clocks of different machines may disagree; a negative time is none.
fn seconds(from: Time, to: Time) -> f64 {
    (to - from).to_std().unwrap_or_default().as_secs_f64()
}
