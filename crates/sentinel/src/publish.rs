//! Events on their way: many at once, but not more than a bound, and fewer while the broker is away.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hyperfleet_broker::{Event, PublishError, Publisher};
use hyperfleet_client::{Backoff, Retry};
use hyperfleet_core::due::Published;
use hyperfleet_core::time::Time;
use tokio::task::{Id, JoinSet};
use tracing::{Instrument, Span};

use crate::decision::later;
use crate::table::Key;

/// How long to stay away from a resource whose event fails.
const PAUSE: Retry = Retry {
    attempts: u32::MAX,
    backoff: Backoff::Exponential,
    base_delay: Duration::from_secs(1),
    max_delay: Duration::from_secs(30),
};

/// The same of a broker that fails. Not longer: one event now and then troubles nobody, and when it is back everything
/// waits for this.
const BROKER_PAUSE: Retry = Retry {
    max_delay: Duration::from_secs(5),
    ..PAUSE
};

/// What was sent, about what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) key: Key,
    pub(crate) published: Published,
    pub(crate) digest: u64,
    pub(crate) reason: &'static str,
    /// When it was due.
    pub(crate) due: Time,
    /// When its owner changed it, if that is why it was sent.
    pub(crate) owed_since: Option<Time>,
}

/// Publishes under way.
pub(crate) struct InFlight {
    publisher: Arc<dyn Publisher>,
    topic: Arc<str>,
    most: usize,
    tasks: JoinSet<Result<(), PublishError>>,
    sent: HashMap<Id, Sent>,
    /// Failures of the broker, not of an event, since the last success.
    failures: u32,
    closed_until: Option<Time>,
}

impl InFlight {
    pub(crate) fn new(publisher: Arc<dyn Publisher>, topic: &str, most: usize) -> InFlight {
        InFlight {
            publisher,
            topic: topic.into(),
            most,
            tasks: JoinSet::new(),
            sent: HashMap::new(),
            failures: 0,
            closed_until: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether another event may be sent. After a failure one event at a time finds out whether the broker is back.
    pub(crate) fn has_room(&self, now: Time) -> bool {
        self.may_have_room() && self.closed_until.is_none_or(|until| until <= now)
    }

    /// Whether room is a matter of time, rather than of a publish that has to end.
    pub(crate) fn may_have_room(&self) -> bool {
        let most = if self.failures == 0 { self.most } else { 1 };
        self.tasks.len() < most
    }

    /// When to ask again, while the broker is left alone.
    pub(crate) fn opens_at(&self) -> Option<Time> {
        self.closed_until
    }

    pub(crate) fn send(&mut self, sent: Sent, event: Event, span: Span) {
        let (publisher, topic) = (Arc::clone(&self.publisher), Arc::clone(&self.topic));
        let publish = async move {
            let result = publisher.publish(&topic, &event).await;
            if result.is_ok() {
                tracing::debug!(topic = %topic, event_id = event.id, "Published event");
            }
            result
        };
        let task = self.tasks.spawn(publish.instrument(span));
        self.sent.insert(task.id(), sent);
    }

    /// The next publish that ended; waits for ever while there is none.
    pub(crate) async fn settled(&mut self) -> (Sent, Result<(), PublishError>) {
        loop {
            let (id, result) = match self.tasks.join_next_with_id().await {
                Some(Ok(outcome)) => outcome,
                // A publisher that panics is a bug, but no reason to forget the event.
                Some(Err(error)) => (error.id(), Err(self.unknown(&error.to_string()))),
                None => std::future::pending().await,
            };
            if let Some(sent) = self.sent.remove(&id) {
                return (sent, result);
            }
        }
    }

    fn unknown(&self, reason: &str) -> PublishError {
        PublishError::Unconfirmed {
            topic: self.topic.to_string(),
            reason: reason.to_owned(),
        }
    }

    /// Takes note of an outcome. After a failure, says when to send the same again.
    pub(crate) fn outcome(
        &mut self,
        result: &Result<(), PublishError>,
        failures_of_resource: u32,
        now: Time,
    ) -> Option<Time> {
        match result {
            Ok(()) => {
                if self.failures > 0 {
                    tracing::info!(topic = %self.topic, "the broker takes events again");
                }
                self.failures = 0;
                self.closed_until = None;
                None
            }
            Err(error) if error.is_retryable() => {
                self.failures = self.failures.saturating_add(1);
                let until = later(now, BROKER_PAUSE.delay(self.failures, fastrand::f64()));
                self.closed_until = Some(until);
                Some(until)
            }
            Err(_) => {
                let pause = PAUSE.delay(failures_of_resource, fastrand::f64());
                Some(later(now, pause))
            }
        }
    }

    /// Waits for what is under way, and says what came of it.
    pub(crate) async fn finish(mut self) -> usize {
        let mut failed = 0;
        while let Some(outcome) = self.tasks.join_next().await {
            failed += usize::from(!matches!(outcome, Ok(Ok(()))));
        }
        failed
    }
}
