//! Every resource of one kind, in as few bytes as the decision and the event allow, and its timer.
//!
//! Finding, adding and re-arming one resource costs the logarithm of the fleet; only a complete
//! pass of polling looks at all of them.

mod id;
mod timers;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use hyperfleet_core::due::{Published, View};
use hyperfleet_core::shard::Shards;
use hyperfleet_core::time::Time;

pub(crate) use id::Id;
use timers::Timers;

/// Where a resource stands in the table. Becomes invalid when the resource goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    slot: u32,
    /// Distinguishes the resource from a later one in the same slot.
    tenant: u32,
}

/// What is known about one resource.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) view: View,
    /// When its owner changed what is wanted; set while an event for that is owed.
    pub(crate) owed_since: Option<Time>,
    pub(crate) published: Option<Published>,
    /// Tells versions of the resource apart.
    pub(crate) digest: u64,
    /// The digest it had when it was last sent.
    pub(crate) published_digest: u64,
    /// What an event or an expression may need.
    pub(crate) kept: Box<[u8]>,
    /// The last pass it was seen in.
    pub(crate) pass: u32,
    /// Publishes that failed since the last one that did not.
    pub(crate) failures: u32,
    pub(crate) stage: Stage,
    tenant: u32,
    alarm: u32,
}

/// What happens with a resource next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its timer runs.
    Armed(Time),
    /// It waits for its turn to be sent.
    Queued,
    /// An event is on its way to the broker.
    InFlight,
    /// Another replica takes care of it.
    Parked,
}

impl Entry {
    pub(crate) fn changed_since_published(&self) -> bool {
        self.digest != self.published_digest
    }

    /// Whether more than its age is a reason for an event.
    pub(crate) fn has_news(&self) -> bool {
        let behind = |sent: &Published| sent.is_behind(&self.view);
        self.owed_since.is_some() || self.published.as_ref().is_some_and(behind)
    }
}

/// What a source saw of a resource, before the table knows it.
pub(crate) struct Seen {
    pub(crate) view: View,
    pub(crate) digest: u64,
    pub(crate) kept: Box<[u8]>,
    pub(crate) pass: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    by_id: HashMap<Id, u32>,
    timers: Timers,
    tenants: u32,
}

impl Table {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn find(&self, id: &str) -> Option<Key> {
        let slot = *self.by_id.get(&Id::new(id))?;
        let tenant = self.slots[slot as usize].as_ref()?.tenant;
        Some(Key { slot, tenant })
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Entry> {
        self.slots
            .get(key.slot as usize)?
            .as_ref()
            .filter(|entry| entry.tenant == key.tenant)
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut Entry> {
        self.slots
            .get_mut(key.slot as usize)?
            .as_mut()
            .filter(|entry| entry.tenant == key.tenant)
    }

    /// Takes in what was seen, whether or not the resource is known.
    pub(crate) fn observe(&mut self, id: &str, seen: Seen) -> Key {
        if let Some(key) = self.find(id)
            && let Some(entry) = self.get_mut(key)
        {
            entry.view = seen.view;
            entry.digest = seen.digest;
            entry.kept = seen.kept;
            entry.pass = seen.pass;
            return key;
        }
        self.tenants = self.tenants.wrapping_add(1);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let id = Id::new(id);
        self.by_id.insert(id.clone(), slot);
        self.slots[slot as usize] = Some(Entry {
            id,
            view: seen.view,
            owed_since: None,
            published: None,
            digest: seen.digest,
            published_digest: 0,
            kept: seen.kept,
            pass: seen.pass,
            failures: 0,
            stage: Stage::Queued,
            tenant: self.tenants,
            alarm: 0,
        });
        Key {
            slot,
            tenant: self.tenants,
        }
    }

    pub(crate) fn remove(&mut self, key: Key) {
        if self.get(key).is_none() {
            return;
        }
        if let Some(entry) = self.slots[key.slot as usize].take() {
            self.by_id.remove(&entry.id);
            self.free.push(key.slot);
        }
    }

    /// Removes those that were last seen before `pass`, and says how many.
    pub(crate) fn remove_older(&mut self, pass: u32) -> usize {
        let gone: Vec<Key> = (0..)
            .zip(&self.slots)
            .filter_map(|(slot, entry)| {
                let entry = entry.as_ref().filter(|entry| entry.pass < pass)?;
                Some(Key {
                    slot,
                    tenant: entry.tenant,
                })
            })
            .collect();
        for key in &gone {
            self.remove(*key);
        }
        gone.len()
    }

    /// Sets the timer of a resource; the one before is void.
    pub(crate) fn arm(&mut self, key: Key, at: Time) {
        let Some(entry) = self.get_mut(key) else {
            return;
        };
        entry.stage = Stage::Armed(at);
        entry.alarm = entry.alarm.wrapping_add(1);
        let alarm = entry.alarm;
        self.timers.push(at, key.slot, key.tenant, alarm);
        if self.timers.len() > 2 * self.len() + 1024 {
            self.drop_void_timers();
        }
    }

    /// Leaves a resource to another replica: its timer is void.
    pub(crate) fn park(&mut self, key: Key) {
        if let Some(entry) = self.get_mut(key) {
            entry.stage = Stage::Parked;
        }
    }

    /// Everything in some shards.
    pub(crate) fn keys_in(&self, shards: Shards) -> Vec<Key> {
        let all = (0..).zip(&self.slots);
        all.filter_map(|(slot, entry)| {
            let entry = entry.as_ref()?;
            let wanted = shards == Shards::ALL || shards.contains(entry.id.shard());
            wanted.then_some(Key {
                slot,
                tenant: entry.tenant,
            })
        })
        .collect()
    }

    /// The next resource whose time has come; its timer is then over.
    pub(crate) fn pop_due(&mut self, now: Time) -> Option<Key> {
        while let Some((slot, tenant, alarm)) = self.timers.pop_due(now) {
            let key = Key { slot, tenant };
            if let Some(entry) = self.get_mut(key)
                && entry.alarm == alarm
                && matches!(entry.stage, Stage::Armed(_))
            {
                entry.stage = Stage::Queued;
                return Some(key);
            }
        }
        None
    }

    /// No timer goes off before this.
    pub(crate) fn next_due(&self) -> Option<Time> {
        self.timers.earliest()
    }

    fn drop_void_timers(&mut self) {
        let live = (0..).zip(&self.slots).filter_map(|(slot, entry)| {
            let entry = entry.as_ref()?;
            match entry.stage {
                Stage::Armed(at) => Some((at, slot, entry.tenant, entry.alarm)),
                Stage::Queued | Stage::InFlight | Stage::Parked => None,
            }
        });
        self.timers = live.collect();
    }
}
