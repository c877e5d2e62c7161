//! Taking in what a source saw, and what another replica let go.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use hyperfleet_client::RemoteResource;
use hyperfleet_core::shard::Shards;
use hyperfleet_core::time::Time;

use super::Engine;
use crate::decision::{Known, Next};
use crate::projection::Projection;
use crate::table::{Key, Seen, Stage};
use crate::view::view;

impl Engine {
    pub(super) fn observe(&mut self, resource: &RemoteResource, pass: u32) {
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
            if let Some(changed) = entry.owed_since {
                self.metrics.heard_of(changed, now);
            }
        }
        let stage = entry.stage;
        if !self.is_mine(key) {
            if stage != Stage::InFlight {
                self.table.park(key);
            }
            return;
        }
        match stage {
            // It is decided on when its turn comes, with what is known then.
            Stage::InFlight => {}
            Stage::Queued if before.is_some() => {}
            Stage::Queued | Stage::Armed(_) | Stage::Parked => {
                match self.next(key, now, Some(resource)) {
                    Some(Next::Publish { due, .. }) => self.table.arm(key, due.min(now)),
                    Some(Next::Wait { until, skip }) => {
                        self.metrics.skipped(skip);
                        self.cycle.skipped += 1;
                        self.table.arm(key, until);
                    }
                    None => {}
                }
            }
        }
    }

    /// Whether this replica sends for it.
    pub(super) fn is_mine(&self, key: Key) -> bool {
        let held = self.held;
        held == Shards::ALL
            || self
                .table
                .get(key)
                .is_some_and(|entry| held.contains(entry.id.shard()))
    }

    /// Decides on everything in some shards, as if it were seen for the first time. Costs one look at every resource.
    pub(super) fn decide_anew(&mut self, shards: Shards) {
        let now = self.clock.now();
        for key in self.table.keys_in(shards) {
            let Some(entry) = self.table.get_mut(key) else {
                continue;
            };
            // Who had it meanwhile has sent for what changed since, and adapters have answered, or it is due anyway.
            entry.published = entry.published.filter(|sent| sent.saw(&entry.view));
            if let Some(sent) = &mut entry.published {
                sent.at = sent.at.min(now);
                sent.progress = entry.view.progress;
            }
            if entry.view.reported {
                entry.owed_since = None;
            }
            if matches!(entry.stage, Stage::InFlight | Stage::Queued) {
                continue;
            }
            match self.next(key, now, None) {
                Some(Next::Publish { due, .. }) => self.table.arm(key, due.min(now)),
                Some(Next::Wait { until, .. }) => self.table.arm(key, until),
                None => {}
            }
        }
    }

    /// Decides on a resource, from what a source just gave or from memory.
    pub(super) fn next(&self, key: Key, now: Time, fresh: Option<&RemoteResource>) -> Option<Next> {
        let entry = self.table.get(key)?;
        let known = Known {
            view: &entry.view,
            published: entry.published.as_ref(),
            changed: entry.changed_since_published(),
            spread: entry.id.spread(),
        };
        Some(self.decision.next(&known, now, || match fresh {
            Some(resource) => Cow::Borrowed(&resource.raw),
            None => Cow::Owned(Projection::read(&entry.kept)),
        }))
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
