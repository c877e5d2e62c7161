//! Events taken, handled side by side, and settled.
//!
//! ```text
//!  Subscriber ─► queue by resource ─► at most max_concurrency runs ─► ack │ nack │ dead letter
//!                  └─ a newer event for a resource that waits takes its place; the older one is acknowledged
//! ```

mod turns;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use futures::FutureExt as _;
use hyperfleet_broker::{Delivery, Event, Subscriber};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use self::turns::Turns;
use crate::event::Subject;
use crate::pipeline::{Engine, Outcome};

/// How events are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeOptions {
    /// Resources worked on at the same time.
    pub max_concurrency: usize,
    /// How long one event may take.
    pub event_timeout: Duration,
    /// How long running events may take to finish when told to stop.
    pub drain_timeout: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_concurrency: 10,
            event_timeout: Duration::from_secs(120),
            drain_timeout: Duration::from_secs(20),
        }
    }
}

/// The wait before a delivery that met an outage comes again, by how often it came already.
fn delay(attempt: u32) -> Duration {
    Duration::from_secs(1 << attempt.clamp(1, 6)).min(Duration::from_secs(60))
}

/// Takes events until told to stop, or until the subscriber ends.
pub async fn serve(
    engine: Arc<Engine>,
    subscriber: &mut dyn Subscriber,
    options: ServeOptions,
    stop: CancellationToken,
) {
    let mut dispatcher = Dispatcher {
        engine,
        options,
        turns: Turns::new(),
        running: HashMap::new(),
        runs: JoinSet::new(),
    };
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(ended) = dispatcher.runs.join_next_with_id() => dispatcher.ended(ended),
            delivery = subscriber.next() => match delivery {
                Some(delivery) => dispatcher.take(delivery),
                None => break,
            },
        }
        dispatcher.start();
        dispatcher.show();
    }
    dispatcher.drain().await;
    subscriber.close().await;
}

struct Dispatcher {
    engine: Arc<Engine>,
    options: ServeOptions,
    /// Deliveries not yet worked on.
    turns: Turns<Delivery>,
    /// Deliveries being worked on, with their resource.
    running: HashMap<Id, (String, Delivery)>,
    runs: JoinSet<Outcome>,
}

impl Dispatcher {
    fn take(&mut self, delivery: Delivery) {
        if let Some(metrics) = &self.engine.metrics {
            metrics.consumed();
        }
        let subject = match Subject::of(&delivery.event) {
            Ok(subject) => subject,
            Err(malformed) => {
                let reason = malformed.to_string();
                tracing::warn!(event_id = delivery.event.id, reason, "event is parked");
                self.settle(delivery, Outcome::Malformed(reason));
                return;
            }
        };
        let (key, generation) = (subject.key(), subject.generation);
        if let Some(replaced) = self.turns.wait(key, generation, delivery) {
            self.count("superseded");
            begin(replaced.ack());
        }
    }

    fn start(&mut self) {
        while self.runs.len() < self.options.max_concurrency.max(1) {
            let Some((key, delivery)) = self.turns.begin() else {
                return;
            };
            let engine = Arc::clone(&self.engine);
            let event = delivery.event.clone();
            let attempt = delivery.attempt;
            let limit = self.options.event_timeout;
            let run = async move { handle(&engine, &event, attempt, limit).await };
            let task = self.runs.spawn(run);
            self.running.insert(task.id(), (key, delivery));
        }
    }

    fn ended(&mut self, ended: Result<(Id, Outcome), JoinError>) {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => {
                let reason = format!("handling the event broke off: {error}");
                tracing::error!(reason);
                (
                    error.id(),
                    Outcome::Retry {
                        reason,
                        after: None,
                    },
                )
            }
        };
        if let Some((key, delivery)) = self.running.remove(&id) {
            self.turns.end(key);
            self.settle(delivery, outcome);
        }
    }

    fn settle(&self, delivery: Delivery, outcome: Outcome) {
        match outcome {
            Outcome::Done(_) => {
                self.count("ack");
                begin(delivery.ack());
            }
            Outcome::Retry { reason, after } => {
                self.count("nack");
                let delay = after.unwrap_or_else(|| delay(delivery.attempt));
                begin(delivery.nack(delay, &reason));
            }
            Outcome::Malformed(reason) => {
                self.count("dead_letter");
                begin(delivery.dead_letter(&reason));
            }
        }
    }

    /// Finishes what runs; what only waits goes back to the broker as it is dropped.
    async fn drain(&mut self) {
        let end = Instant::now() + self.options.drain_timeout;
        while !self.runs.is_empty() {
            let rest = end.saturating_duration_since(Instant::now());
            match timeout(rest, self.runs.join_next_with_id()).await {
                Ok(Some(ended)) => self.ended(ended),
                Ok(None) => break,
                Err(_) => {
                    tracing::warn!(
                        events = self.runs.len(),
                        "events did not finish in time and will be delivered again"
                    );
                    self.runs.shutdown().await;
                }
            }
        }
        self.turns = Turns::new();
        self.running.clear();
    }

    fn show(&self) {
        if let Some(metrics) = &self.engine.metrics {
            metrics.tracked(self.turns.len());
        }
    }

    fn count(&self, how: &str) {
        if let Some(metrics) = &self.engine.metrics {
            metrics.settled(how);
        }
    }
}

/// Settles a delivery without waiting for the end of it: a broker that is slow to take one back holds up nothing else.
fn begin(settling: impl Future<Output = ()>) {
    // What has begun is carried out by the broker's side; `close` waits for it.
    let _done = settling.now_or_never();
}

async fn handle(engine: &Engine, event: &Event, attempt: u32, limit: Duration) -> Outcome {
    let adapter = engine.identity.name.as_str();
    let span = tracing::info_span!("event", adapter, event_id = event.id, attempt);
    if let Some(parent) = event.traceparent() {
        hyperfleet_runtime::trace::set_parent(&span, parent);
    }
    if let Some(metrics) = &engine.metrics {
        metrics.started();
    }
    let started = Instant::now();
    let run = engine.handle(event, Utc::now()).instrument(span.clone());
    let (outcome, fault, skipped) = match timeout(limit, run).await {
        Ok(run) => (run.outcome, run.fault, run.skipped),
        Err(_) => {
            let reason = format!("the event was not done after {limit:?}");
            engine
                .report_timeout(event, &reason)
                .instrument(span.clone())
                .await;
            (
                Outcome::Retry {
                    reason,
                    after: None,
                },
                None,
                None,
            )
        }
    };
    let took = started.elapsed();
    if let Some(metrics) = &engine.metrics {
        metrics.finished(&outcome, took);
    }
    let _in_span = span.enter();
    let resource_id = event.data["id"].as_str().unwrap_or_default();
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match (&outcome, fault) {
        (Outcome::Done(status), None) => {
            tracing::info!(resource_id, duration_ms, ?status, skipped, "event handled");
        }
        (Outcome::Done(_), Some(fault)) => tracing::warn!(
            resource_id,
            duration_ms,
            phase = fault.phase,
            step = fault.step,
            reason = fault.reason,
            error = fault.message,
            "event failed and was reported"
        ),
        (Outcome::Retry { reason, .. }, _) => {
            tracing::warn!(
                resource_id,
                duration_ms,
                error = reason,
                "event comes again"
            );
        }
        (Outcome::Malformed(reason), _) => {
            tracing::warn!(resource_id, duration_ms, error = reason, "event is parked");
        }
    }
    outcome
}
