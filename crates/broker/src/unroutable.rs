//! Events published while nobody subscribed: counted always, logged now and then.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::metrics::Metrics;

/// A Sentinel that starts before its adapters has a whole fleet to say; once a minute is enough.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Unroutable {
    warned: Mutex<Option<Instant>>,
}

impl Unroutable {
    pub(crate) fn dropped(&self, topic: &str, metrics: &Metrics) {
        metrics.unroutable(topic);
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.is_none_or(|last| last.elapsed() >= BETWEEN_WARNINGS) {
            *warned = Some(Instant::now());
            tracing::warn!(
                topic,
                "events are dropped: the topic has no subscription yet (counted in \
                 hyperfleet_broker_messages_unroutable_total)"
            );
        }
    }
}
