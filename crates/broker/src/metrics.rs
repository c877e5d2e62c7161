//! What the broker layer counts, under the names of the Go library plus what it does not measure.

use std::collections::HashMap;
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry,
};

use crate::dead_letter::DeadLetterCause;

/// Handler times, in seconds; the buckets existing dashboards expect.
const DURATION_BUCKETS: [f64; 9] = [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0];

/// The counters of one process. Clones share them.
#[derive(Clone, Debug)]
pub struct Metrics {
    published: IntCounterVec,
    consumed: IntCounterVec,
    errors: IntCounterVec,
    duration: HistogramVec,
    unroutable: IntCounterVec,
    redeliveries: IntCounterVec,
    dead_letters: IntCounterVec,
}

impl Metrics {
    /// `const_labels` are on every series; peers have `component` and `version`. Leave them out
    /// where the registry adds them.
    pub fn new(const_labels: HashMap<String, String>) -> Result<Self, prometheus::Error> {
        let opts = |name: &str, help: &str| {
            Opts::new(format!("hyperfleet_broker_{name}"), help).const_labels(const_labels.clone())
        };
        let counter =
            |name: &str, help: &str, labels: &[&str]| IntCounterVec::new(opts(name, help), labels);
        let duration = HistogramOpts::from(opts(
            "message_duration_seconds",
            "Time from handing a message out until it is settled.",
        ))
        .buckets(DURATION_BUCKETS.to_vec());
        Ok(Self {
            published: counter(
                "messages_published_total",
                "Events the broker took, those without a subscription included.",
                &["topic"],
            )?,
            consumed: counter(
                "messages_consumed_total",
                "Messages received, malformed ones included.",
                &["topic"],
            )?,
            errors: counter(
                "errors_total",
                "Failures by kind: conversion, handler, publish, settle.",
                &["topic", "error_type"],
            )?,
            duration: HistogramVec::new(duration, &["topic"])?,
            unroutable: counter(
                "messages_unroutable_total",
                "Events published while the topic had no subscription.",
                &["topic"],
            )?,
            redeliveries: counter(
                "redeliveries_total",
                "Messages received that were delivered before.",
                &["topic", "subscription"],
            )?,
            dead_letters: counter(
                "dead_letters_total",
                "Messages given up on: malformed, rejected, max_deliveries.",
                &["topic", "subscription", "cause"],
            )?,
        })
    }

    /// Shows the counters in a registry. A second set of the same name is an error, not a panic.
    pub fn register(&self, registry: &Registry) -> Result<(), prometheus::Error> {
        let collectors: [Box<dyn Collector>; 7] = [
            Box::new(self.published.clone()),
            Box::new(self.consumed.clone()),
            Box::new(self.errors.clone()),
            Box::new(self.duration.clone()),
            Box::new(self.unroutable.clone()),
            Box::new(self.redeliveries.clone()),
            Box::new(self.dead_letters.clone()),
        ];
        collectors
            .into_iter()
            .try_for_each(|collector| registry.register(collector))
    }

    pub(crate) fn published(&self, topic: &str) {
        self.published.with_label_values(&[topic]).inc();
    }

    pub(crate) fn unroutable(&self, topic: &str) {
        self.unroutable.with_label_values(&[topic]).inc();
    }

    pub(crate) fn publish_failed(&self, topic: &str) {
        self.errors.with_label_values(&[topic, "publish"]).inc();
    }

    pub(crate) fn for_subscription(&self, topic: &str, subscription: &str) -> SubscriptionMetrics {
        let error = |kind: &str| self.errors.with_label_values(&[topic, kind]);
        SubscriptionMetrics {
            consumed: self.consumed.with_label_values(&[topic]),
            malformed: error("conversion"),
            failed: error("handler"),
            unsettled: error("settle"),
            duration: self.duration.with_label_values(&[topic]),
            redeliveries: self.redeliveries.with_label_values(&[topic, subscription]),
            dead_letters: [
                DeadLetterCause::Malformed,
                DeadLetterCause::Rejected,
                DeadLetterCause::MaxDeliveries,
            ]
            .map(|cause| {
                let labels = [topic, subscription, cause.as_str()];
                (cause, self.dead_letters.with_label_values(&labels))
            }),
        }
    }
}

/// The series of one subscription, looked up once.
#[derive(Debug)]
pub(crate) struct SubscriptionMetrics {
    consumed: IntCounter,
    malformed: IntCounter,
    failed: IntCounter,
    unsettled: IntCounter,
    duration: Histogram,
    redeliveries: IntCounter,
    dead_letters: [(DeadLetterCause, IntCounter); 3],
}

impl SubscriptionMetrics {
    pub(crate) fn delivered(&self, attempt: u32) {
        self.consumed.inc();
        if attempt > 1 {
            self.redeliveries.inc();
        }
    }

    pub(crate) fn malformed(&self) {
        self.consumed.inc();
        self.malformed.inc();
        self.dead_lettered(DeadLetterCause::Malformed);
    }

    pub(crate) fn handled(&self, took: Duration) {
        self.duration.observe(took.as_secs_f64());
    }

    pub(crate) fn failed(&self, took: Duration) {
        self.failed.inc();
        self.handled(took);
    }

    #[cfg_attr(
        not(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs")),
        expect(dead_code, reason = "settling in memory cannot fail")
    )]
    pub(crate) fn unsettled(&self) {
        self.unsettled.inc();
    }

    pub(crate) fn dead_lettered(&self, cause: DeadLetterCause) {
        for (known, counter) in &self.dead_letters {
            if *known == cause {
                counter.inc();
            }
        }
    }
}
