//! Sending what is due, and what comes of it.

use hyperfleet_broker::PublishError;
use hyperfleet_core::due::Published;
use hyperfleet_core::time::Time;
use tokio::time::Instant;

use super::Engine;
use crate::backlog::Since;
use crate::decision::Next;
use crate::metrics::BROKER_ERRORS;
use crate::projection::Projection;
use crate::publish::Sent;
use crate::table::{Entry, Key, Stage};

impl Engine {
    pub(super) fn send_due(&mut self) {
        let now = self.clock.now();
        while let Some(key) = self.table.pop_due(now) {
            let entry = self.table.get(key);
            let since = match entry.is_some_and(Entry::has_news) {
                true => Since::Changed,
                false => Since::Aged,
            };
            self.backlog.push(key, since);
        }
        let moment = Instant::now();
        while self.in_flight.has_room(now) && self.rate.allows(moment) {
            let Some(key) = self.backlog.pop() else {
                return;
            };
            if !self.is_mine(key) {
                self.table.park(key);
                continue;
            }
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
            published: Published::after(entry.published.as_ref(), &entry.view, now),
            digest: entry.digest,
            reason,
            due,
            owed_since: entry.owed_since.take(),
        };
        self.rate.spend();
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

    pub(super) fn settle(&mut self, sent: Sent, result: &Result<(), PublishError>) {
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
        if !self.is_mine(sent.key) {
            self.table.park(sent.key);
            return;
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
        let [broker, event] = BROKER_ERRORS;
        self.metrics
            .broker_error(if retryable { broker } else { event });
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
