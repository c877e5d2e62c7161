//! Resources that were read or written lately, so that the next report need not read them again.
//!
//! A report that finds its resource here is judged on it, and stored only if the resource is still at that revision.
//! That is a round trip saved if nobody else wrote in between, and one more if somebody did, so memory is used only
//! while it tends to be right: with one API it nearly always is, with several that share the reports it is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hashlink::LinkedHashMap;
use hyperfleet_core::free::{self, FreeObject};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::author::Stored;

/// How long after it was read from the database a resource counts as known. A hand that writes past every revision, or
/// puts a backup in place, is noticed after so long.
const TRUSTED: Duration = Duration::from_secs(5 * 60);

/// How often memory must be right after it was wrong once, and at most. So it goes unused where it is wrong more often
/// than one time in five.
const DOUBT: u32 = 4;
const MOST_DOUBT: u32 = 64;

/// A resource with its reports, as it is at a revision.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) revision: i64,
    pub(super) stored: Arc<Stored>,
    /// So long after it was read, as opposed to worked out from what was written.
    until: Instant,
}

impl Known {
    pub(super) fn read_now((revision, stored): (i64, Stored)) -> Known {
        Known {
            revision,
            stored: Arc::new(stored),
            until: Instant::now() + TRUSTED,
        }
    }
}

/// What is known, least recently used first. Whoever uses something takes it out, and puts it back as it has become.
#[derive(Debug)]
pub(super) struct Memory {
    most_bytes: usize,
    state: Mutex<State>,
    /// How often it must be right before it is used again.
    doubt: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    bytes: usize,
    entries: LinkedHashMap<Uuid, Entry>,
}

#[derive(Debug)]
struct Entry {
    known: Known,
    bytes: usize,
}

impl Memory {
    pub(super) fn new(most_bytes: usize) -> Memory {
        Memory {
            most_bytes,
            state: Mutex::default(),
            doubt: AtomicU32::new(0),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    pub(super) fn can_be_trusted(&self) -> bool {
        self.doubt.load(Ordering::Relaxed) == 0
    }

    /// Whether what was known turned out to be right.
    pub(super) fn was(&self, right: bool) {
        let learn = |doubt: u32| match right {
            true => doubt.checked_sub(1),
            false => Some((doubt + DOUBT).min(MOST_DOUBT)),
        };
        // Nothing is learnt from what was expected.
        let _ = self
            .doubt
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, learn);
    }

    pub(super) fn take(&self, id: Uuid) -> Option<Known> {
        let mut state = self.state.lock();
        let entry = state.entries.remove(&id)?;
        state.bytes -= entry.bytes;
        drop(state);
        Some(entry.known).filter(|known| Instant::now() < known.until)
    }

    /// Forgets what has not been used for longest if there is too much.
    pub(super) fn put(&self, known: Known) {
        let id = known.stored.resource.id.0;
        let bytes = size(&known.stored);
        let mut forgotten = Vec::new();
        let mut state = self.state.lock();
        let newer = |entry: &Entry| entry.known.revision > known.revision;
        if bytes > self.most_bytes || state.entries.get(&id).is_some_and(newer) {
            return;
        }
        state.bytes += bytes;
        let replaced = state.entries.insert(id, Entry { known, bytes });
        state.bytes -= replaced.as_ref().map_or(0, |entry| entry.bytes);
        forgotten.extend(replaced);
        while state.bytes > self.most_bytes {
            let Some((_, entry)) = state.entries.pop_front() else {
                break;
            };
            state.bytes -= entry.bytes;
            forgotten.push(entry);
        }
        // Not under the lock.
        drop(state);
        drop(forgotten);
    }
}

/// About how much memory it takes.
fn size(stored: &Stored) -> usize {
    // Beside the texts of each.
    const RESOURCE: usize = 1024;
    const REPORT: usize = 256;
    const CONDITION: usize = 160;
    const LABEL: usize = 128;
    let condition = |reason: &Option<String>, message: &Option<String>| {
        let texts = [reason, message].into_iter().flatten();
        CONDITION + texts.map(String::len).sum::<usize>()
    };
    let resource = &stored.resource;
    let conditions = resource.status.conditions.iter();
    let conditions = conditions.map(|one| condition(&one.reason, &one.message));
    let reports = stored.reports.iter().map(|report| {
        let conditions = report.conditions.iter();
        let conditions = conditions.map(|one| condition(&one.reason, &one.message));
        let metadata = report.metadata.as_ref().map_or(0, FreeObject::size);
        REPORT + conditions.sum::<usize>() + report.data.size() + metadata
    });
    let labels = LABEL * (resource.labels.len() + resource.tenancy.len());
    RESOURCE
        + conditions.sum::<usize>()
        + reports.sum::<usize>()
        + labels
        + free::size(&resource.spec)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AT: &str = "2026-01-01T00:00:00Z";

    fn known(number: u128, revision: i64, message: &str) -> Known {
        let resource = json!({
            "id": Uuid::from_u128(number), "kind": "Cluster", "name": "c", "href": "/", "spec": {"a": [{"b": "c"}]},
            "generation": 1, "created_time": AT, "updated_time": AT, "created_by": "me", "updated_by": "me",
            "status": {"phase": "Pending", "phaseDescription": "", "conditions": [], "adapters": [],
                       "last_updated_time": AT, "last_transition_time": AT},
        });
        let report = json!({
            "adapter": "a", "observed_generation": 1, "created_time": AT, "last_report_time": AT,
            "conditions": [{"type": "Available", "status": "True", "message": message, "last_transition_time": AT}],
        });
        let stored = Stored {
            resource: serde_json::from_value(resource).unwrap(),
            reports: vec![serde_json::from_value(report).unwrap()],
            has_children: false,
        };
        Known::read_now((revision, stored))
    }

    fn revision(memory: &Memory, number: u128) -> Option<i64> {
        Some(memory.take(Uuid::from_u128(number))?.revision)
    }

    #[test]
    fn whoever_takes_something_has_it_alone() {
        let memory = Memory::new(1 << 20);
        memory.put(known(1, 7, ""));
        assert_eq!(revision(&memory, 1), Some(7));
        assert_eq!(revision(&memory, 1), None);
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn what_was_used_last_stays_when_there_is_too_much() {
        let one = size(&known(1, 1, "").stored);
        let memory = Memory::new(one * 3 + one / 2);
        for number in 1..=3 {
            memory.put(known(number, 1, ""));
        }
        memory.put(memory.take(Uuid::from_u128(1)).unwrap());
        memory.put(known(4, 1, ""));
        assert_eq!(memory.bytes(), one * 3);
        let left = (1..=4).filter(|number| revision(&memory, *number).is_some());
        assert_eq!(left.collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!(memory.bytes(), 0);
    }

    #[test]
    fn what_is_larger_than_all_there_may_be_is_not_kept_and_drives_nothing_out() {
        let one = size(&known(1, 1, "").stored);
        let memory = Memory::new(one * 2);
        memory.put(known(1, 1, ""));
        memory.put(known(2, 1, &"x".repeat(one * 2)));
        assert_eq!(revision(&memory, 2), None);
        assert_eq!(revision(&memory, 1), Some(1));
        let none = Memory::new(0);
        none.put(known(1, 1, ""));
        assert_eq!(revision(&none, 1), None);
    }

    #[test]
    fn a_newer_revision_replaces_an_older_one_and_not_the_other_way_round() {
        let memory = Memory::new(1 << 20);
        for revision in [5, 7, 6] {
            memory.put(known(1, revision, ""));
        }
        assert_eq!(memory.bytes(), size(&known(1, 1, "").stored));
        assert_eq!(revision(&memory, 1), Some(7));
    }

    #[test]
    fn what_was_read_long_ago_is_not_known_any_more() {
        let memory = Memory::new(1 << 20);
        let mut old = known(1, 1, "");
        old.until = Instant::now();
        memory.put(old);
        assert_eq!(revision(&memory, 1), None);
    }

    #[test]
    fn memory_that_is_wrong_too_often_is_not_used() {
        let memory = Memory::new(1 << 20);
        let used = |wrong_of_ten: u32| {
            let each = (0..1000_u32).map(|number| {
                let used = memory.can_be_trusted();
                // Spread out evenly.
                memory.was((number * wrong_of_ten) % 10 >= wrong_of_ten);
                used
            });
            each.filter(|used| *used).count()
        };
        assert_eq!(used(0), 1000);
        assert!(used(1) > 400, "right nine times of ten");
        assert!(used(5) < 20, "two that share the reports");
        assert!(used(0) > 900, "alone again");
    }
}
