//! The loop of one kind: takes news in, keeps timers, sends what is due. It waits for nothing but the next of these.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use hyperfleet_broker::PublishError;
use hyperfleet_client::RemoteResource;
use hyperfleet_core::due::Published;
use hyperfleet_core::time::Time;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::decision::{Decision, Known, Next};
use crate::event::EventForm;
use crate::handle::{Explanation, KindStatus, NextEvent, Question};
use crate::message::{Message, Pass};
use crate::metrics::KindMetrics;
use crate::projection::Projection;
use crate::publish::{InFlight, Sent};
use crate::table::{Entry, Key, Seen, Stage, Table};
use crate::view::view;

/// The clock may jump; a timer is late by no more than this.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

/// How many messages are taken in before what is due is sent: a burst of changes to one resource is one event.
const BURST: usize = 1024;

pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) decision: Decision,
    pub(crate) form: EventForm,
    pub(crate) projection: Projection,
    pub(crate) table: Table,
    pub(crate) queue: VecDeque<Key>,
    pub(crate) in_flight: InFlight,
    pub(crate) metrics: KindMetrics,
    pub(crate) status: watch::Sender<KindStatus>,
    pub(crate) cycle: Cycle,
}

/// What happened since the last complete pass.
#[derive(Debug, Default)]
pub(crate) struct Cycle {
    published: usize,
    skipped: usize,
}

impl Engine {
    /// Runs until cancelled, then until the events under way are settled.
    pub(crate) async fn run(
        mut self,
        mut news: mpsc::Receiver<Message>,
        mut questions: mpsc::Receiver<Question>,
        cancel: CancellationToken,
    ) {
        let mut burst = Vec::with_capacity(BURST);
        loop {
            self.send_due();
            self.show();
            let nap = self.nap();
            tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                (sent, result) = self.in_flight.settled() => self.settle(sent, &result),
                count = news.recv_many(&mut burst, BURST) => {
                    if count == 0 {
                        break;
                    }
                    for message in burst.drain(..) {
                        self.take_in(message);
                    }
                }
                Some(question) = questions.recv() => self.answer(question),
                () = tokio::time::sleep(nap) => {}
            }
        }
        let failed = self.in_flight.finish().await;
        if failed > 0 {
            tracing::warn!(
                subset = self.form.resource_type,
                failed,
                "events were not confirmed before the end; the next start sends them again"
            );
        }
    }

    fn take_in(&mut self, message: Message) {
        match message {
            Message::Observed { resource, pass } => {
                // The feed told of it while this pass was under way: what the pass saw may be older.
                let known = self.table.find(&resource.id);
                let told = known.and_then(|key| self.table.get(key));
                if told.is_none_or(|entry| entry.pass != pass) {
                    self.observe(&resource, pass);
                }
            }
            Message::Changed { resource, pass } => {
                self.observe(&resource, pass);
                self.heard();
            }
            Message::Gone { id } => {
                if let Some(key) = self.table.find(&id) {
                    self.table.remove(key);
                }
                self.heard();
            }
            Message::Heard => self.heard(),
            Message::Passed(pass) => self.pass(pass),
            Message::ApiAway { reason, error_type } => {
                self.metrics.api_error(error_type);
                self.status
                    .send_modify(|status| status.api_error = Some(reason));
            }
        }
    }

    fn heard(&mut self) {
        self.metrics.heard(self.clock.now());
        self.status.send_if_modified(|status| {
            let news = !status.feed || status.api_error.is_some();
            status.feed = true;
            status.api_error = None;
            news
        });
    }

    fn observe(&mut self, resource: &RemoteResource, pass: u32) {
        let now = self.clock.now();
        let known = self.table.find(&resource.id);
        let before = known
            .and_then(|key| self.table.get(key))
            .map(|entry| (entry.view.generation, entry.view.deleting));
        let view = view(resource);
        let kept = self.projection.keep(&resource.raw);
        let key = self.table.observe(
            &resource.id,
            Seen {
                view,
                digest: digest(&kept, resource),
                kept,
                pass,
            },
        );
        let synced = self.status.borrow().passes > 0;
        let Some(entry) = self.table.get_mut(key) else {
            return;
        };
        // What was there before the first pass was complete is no news, and its age no latency.
        if synced && before != Some((view.generation, view.deleting)) {
            entry.owed_since = resource.deleted_time.or(resource.updated_time);
        }
        match entry.stage {
            // It is decided on when its turn comes, with what is known then.
            Stage::InFlight => {}
            Stage::Queued if before.is_some() => {}
            Stage::Queued | Stage::Armed(_) => match self.next(key, now, Some(resource)) {
                Some(Next::Publish { due, .. }) => self.table.arm(key, due.min(now)),
                Some(Next::Wait { until, skip }) => {
                    self.metrics.skipped(skip);
                    self.cycle.skipped += 1;
                    self.table.arm(key, until);
                }
                None => {}
            },
        }
    }

    /// A resource is gone when two complete passes did not show it: a removal elsewhere can shift
    /// one between two pages of one pass.
    fn pass(&mut self, pass: Pass) {
        let gone = self.table.remove_older(pass.number.saturating_sub(1));
        if gone > 0 {
            tracing::debug!(subset = self.form.resource_type, gone, "resources are gone");
        }
        self.metrics.passed(pass.took, pass.finished);
        self.status.send_modify(|status| {
            status.passes += 1;
            status.api_error = None;
        });
        let Cycle { published, skipped } = std::mem::take(&mut self.cycle);
        let (subset, total) = (self.form.resource_type.as_str(), pass.fetched);
        let duration = pass.took.as_secs_f64();
        if published > 0 {
            tracing::info!(
                subset,
                "Trigger cycle completed total={total} published={published} skipped={skipped} duration={duration:.3}s"
            );
        } else {
            tracing::debug!(
                subset,
                "Trigger cycle completed total={total} published=0 skipped={skipped} duration={duration:.3}s"
            );
        }
    }

    /// Decides on a resource, from what a source just gave or from memory.
    fn next(&self, key: Key, now: Time, fresh: Option<&RemoteResource>) -> Option<Next> {
        let entry = self.table.get(key)?;
        let known = Known {
            view: &entry.view,
            published: entry.published.as_ref(),
            changed: entry.changed_since_published(),
        };
        Some(self.decision.next(&known, now, || match fresh {
            Some(resource) => Cow::Borrowed(&resource.raw),
            None => Cow::Owned(Projection::read(&entry.kept)),
        }))
    }

    fn send_due(&mut self) {
        let now = self.clock.now();
        while let Some(key) = self.table.pop_due(now) {
            self.queue.push_back(key);
        }
        while self.in_flight.has_room(now) {
            let Some(key) = self.queue.pop_front() else {
                return;
            };
            match self.next(key, now, None) {
                Some(Next::Publish { reason, due }) => self.send(key, reason, due, now),
                // It changed while it waited.
                Some(Next::Wait { until, .. }) => self.table.arm(key, until),
                None => {}
            }
        }
    }

    fn send(&mut self, key: Key, reason: &'static str, due: Time, now: Time) {
        let Some(entry) = self.table.get_mut(key) else {
            return;
        };
        entry.stage = Stage::InFlight;
        let sent = Sent {
            key,
            published: Published::now(&entry.view, now),
            digest: entry.digest,
            reason,
            due,
            owed_since: entry.owed_since.take(),
        };
        let resource = Projection::read(&entry.kept);
        let span = tracing::info_span!(
            "sentinel.publish",
            subset = self.form.resource_type,
            resource_id = %entry.id,
            decision_reason = reason
        );
        let event = span.in_scope(|| self.form.build(&resource, reason, now));
        self.in_flight.send(sent, event, span);
    }

    fn settle(&mut self, sent: Sent, result: &Result<(), PublishError>) {
        let now = self.clock.now();
        let failures = match self.table.get_mut(sent.key) {
            Some(entry) => {
                entry.note(&sent, result.is_ok());
                entry.failures
            }
            None => 1,
        };
        let again = self.in_flight.outcome(result, failures, now);
        match result {
            Ok(()) => {
                self.cycle.published += 1;
                self.metrics
                    .published(sent.reason, sent.due, sent.owed_since, now);
            }
            Err(error) => self.complain(sent.key, error),
        }
        match again {
            Some(later) => self.table.arm(sent.key, later),
            None => match self.next(sent.key, now, None) {
                Some(Next::Publish { due, .. }) => self.table.arm(sent.key, due.min(now)),
                Some(Next::Wait { until, .. }) => self.table.arm(sent.key, until),
                None => {}
            },
        }
    }

    fn complain(&self, key: Key, error: &PublishError) {
        let retryable = error.is_retryable();
        self.metrics.broker_error(if retryable {
            "publish_error"
        } else {
            "event_error"
        });
        let id = self
            .table
            .get(key)
            .map(|entry| entry.id.to_string())
            .unwrap_or_default();
        tracing::error!(
            subset = self.form.resource_type,
            resource_id = id,
            %error,
            "Failed to publish event; it will be sent again"
        );
    }

    fn answer(&self, question: Question) {
        let explanation = self
            .table
            .find(&question.id)
            .and_then(|key| self.table.get(key))
            .map(|entry| Explanation {
                view: entry.view,
                published: entry.published,
                next: match entry.stage {
                    Stage::Armed(at) => NextEvent::At(at),
                    Stage::Queued => NextEvent::Queued,
                    Stage::InFlight => NextEvent::InFlight,
                },
            });
        // Whoever asked may have gone; then nobody needs the answer.
        let _ = question.answer.send(explanation);
    }

    fn show(&self) {
        let resources = self.table.len();
        let pending = self.queue.len() + self.in_flight.len();
        self.metrics.pending.set(pending as i64);
        self.metrics.resources.set(resources as i64);
        self.status.send_if_modified(|status| {
            let before = (status.resources, status.pending);
            (status.resources, status.pending) = (resources, pending);
            before != (resources, pending)
        });
    }

    /// How long nothing can be due.
    fn nap(&self) -> Duration {
        let waiting = (!self.queue.is_empty())
            .then(|| self.in_flight.opens_at())
            .flatten();
        let next = self.table.next_due().into_iter().chain(waiting).min();
        next.map_or(LONGEST_SLEEP, |at| {
            let left = (at - self.clock.now()).to_std().unwrap_or_default();
            left.min(LONGEST_SLEEP)
        })
    }
}

impl Entry {
    fn note(&mut self, sent: &Sent, confirmed: bool) {
        if confirmed {
            self.published = Some(sent.published);
            self.published_digest = sent.digest;
            self.failures = 0;
        } else {
            self.failures = self.failures.saturating_add(1);
            // The change is still owed, since when it was.
            self.owed_since = sent.owed_since.or(self.owed_since);
        }
    }
}

/// Two versions of a resource differ in this, also where what is kept does not.
fn digest(kept: &[u8], resource: &RemoteResource) -> u64 {
    let mut hasher = DefaultHasher::new();
    kept.hash(&mut hasher);
    resource.generation.hash(&mut hasher);
    for condition in &resource.status.conditions {
        (
            &condition.kind,
            &condition.status,
            condition.last_updated_time,
        )
            .hash(&mut hasher);
    }
    hasher.finish()
}
