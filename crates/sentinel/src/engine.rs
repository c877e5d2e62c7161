//! The loop of one kind: takes news in, keeps timers, sends what is due. It waits for nothing but the next of these.

mod intake;
mod outgoing;

use std::time::Duration;

use hyperfleet_core::shard::Shards;
use hyperfleet_core::time::Time;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::backlog::Backlog;
use crate::clock::Clock;
use crate::decision::Decision;
use crate::event::EventForm;
use crate::handle::{Explanation, KindStatus, NextEvent, Question};
use crate::lease::Lease;
use crate::message::{Message, Pass};
use crate::metrics::KindMetrics;
use crate::projection::Projection;
use crate::publish::InFlight;
use crate::rate::Rate;
use crate::table::{Stage, Table};

/// The clock may jump; a timer is late by no more than this.
const LONGEST_SLEEP: Duration = Duration::from_secs(5);

/// The clock was set, rather than late, when it moved by this much more or less than time passed.
const SET: Duration = Duration::from_secs(2);

/// How many messages are taken in before what is due is sent: a burst of changes to one resource is one event.
const BURST: usize = 1024;

pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) decision: Decision,
    pub(crate) form: EventForm,
    pub(crate) projection: Projection,
    pub(crate) table: Table,
    pub(crate) backlog: Backlog,
    pub(crate) in_flight: InFlight,
    pub(crate) rate: Rate,
    /// What this replica may send for.
    pub(crate) lease: watch::Receiver<Lease>,
    /// What it was sending for when it last looked.
    pub(crate) held: Shards,
    /// The clock and the passing of time when the loop last came by.
    pub(crate) noticed: (Time, Instant),
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
        let mut leases = self.lease.clone();
        loop {
            self.look_at_the_clock();
            self.look_at_the_lease();
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
                Ok(()) = leases.changed() => {}
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
                    Stage::Parked => NextEvent::Elsewhere,
                },
            });
        // Whoever asked may have gone; then nobody needs the answer.
        let _ = question.answer.send(explanation);
    }

    fn show(&self) {
        let resources = self.table.len();
        let pending = self.backlog.len() + self.in_flight.len();
        self.metrics.pending(pending, self.backlog.len());
        self.metrics.resources.set(resources as i64);
        self.status.send_if_modified(|status| {
            let before = (status.resources, status.pending);
            (status.resources, status.pending) = (resources, pending);
            before != (resources, pending)
        });
    }

    /// How long nothing can be due.
    fn nap(&self) -> Duration {
        let now = self.clock.now();
        let until = |at: Time| (at - now).to_std().unwrap_or_default();
        let timer = self.table.next_due().map(until);
        // While there is no room, the end of a publish is what is waited for.
        let turn = (!self.backlog.is_empty() && self.in_flight.may_have_room()).then(|| {
            self.in_flight
                .opens_at()
                .map_or_else(|| self.rate.wait(), until)
        });
        let next = timer.into_iter().chain(turn).min();
        next.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP)
    }

    /// Timers follow the clock. When somebody sets it they are made anew, and no event counts as sent in the future.
    fn look_at_the_clock(&mut self) {
        let now = (self.clock.now(), Instant::now());
        let (time, moment) = std::mem::replace(&mut self.noticed, now);
        let passed = chrono::TimeDelta::from_std(now.1 - moment).unwrap_or_default();
        let off = now.0 - time - passed;
        if off.abs().to_std().is_ok_and(|off| off > SET) {
            tracing::warn!(
                subset = self.form.resource_type,
                seconds = off.num_seconds(),
                "the clock was set; what is due when is decided anew"
            );
            self.decide_anew(self.held);
        }
    }

    /// What was gained is decided on; what was lost is noticed when its time comes.
    fn look_at_the_lease(&mut self) {
        let held = self.lease.borrow().at(Instant::now());
        let gained = held.without(self.held);
        self.held = held;
        if !gained.is_empty() {
            tracing::info!(
                subset = self.form.resource_type,
                gained = gained.count(),
                held = held.count(),
                "taking over"
            );
            self.decide_anew(gained);
        }
    }
}
