//! How many resources a filter finds, remembered for a moment: a caller who turns pages asks the same again and again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use uuid::Uuid;

use crate::list::ResourceFilter;
use crate::sight::Sight;

/// The longest a number is told without being counted again.
const LIFETIME: Duration = Duration::from_secs(1);
/// What takes no longer than this is counted again after every write of this process, so that a caller who writes and
/// lists finds what was written.
const QUICK: Duration = Duration::from_millis(50);
/// The most filters remembered.
const CAPACITY: usize = 1024;

/// What a filter finds depends on all of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Filter {
    kind: Option<String>,
    owner: Option<Uuid>,
    search: Option<String>,
    reference: Option<(String, String)>,
    sight: Option<Arc<Sight>>,
}

impl Filter {
    pub(crate) fn new(filter: &ResourceFilter<'_>, sight: Option<Arc<Sight>>) -> Filter {
        Filter {
            kind: filter.kind.map(str::to_owned),
            owner: filter.owner.id(),
            search: filter.search.map(ToString::to_string),
            reference: filter
                .reference
                .map(|(kind, id)| (kind.to_owned(), id.to_owned())),
            sight,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    total: u64,
    at: Instant,
    took: Duration,
    writes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Totals {
    known: Mutex<HashMap<Filter, Counted>>,
    writes: AtomicU64,
}

impl Totals {
    /// This process wrote something.
    pub(crate) fn written(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// To be taken before counting: what is written meanwhile may not be in the count.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn get(&self, filter: &Filter, now: Instant) -> Option<u64> {
        let counted = *self.known.lock().get(filter)?;
        let current = counted.took > QUICK || counted.writes == self.writes();
        (current && counted.is_fresh(now)).then_some(counted.total)
    }

    pub(crate) fn put(
        &self,
        filter: Filter,
        total: u64,
        writes: u64,
        began: Instant,
        now: Instant,
    ) {
        let mut known = self.known.lock();
        if known.len() >= CAPACITY {
            known.retain(|_, counted| counted.is_fresh(now));
        }
        if known.len() >= CAPACITY {
            known.clear();
        }
        let counted = Counted {
            total,
            at: now,
            took: now.saturating_duration_since(began),
            writes,
        };
        known.insert(filter, counted);
    }
}

impl Counted {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < LIFETIME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(kind: &str) -> Filter {
        Filter {
            kind: Some(kind.to_owned()),
            owner: None,
            search: None,
            reference: None,
            sight: None,
        }
    }

    #[test]
    fn a_total_is_remembered_for_a_second() {
        let totals = Totals::default();
        let start = Instant::now();
        totals.put(filter("A"), 7, totals.writes(), start, start);
        let at = |millis| start + Duration::from_millis(millis);
        assert_eq!(totals.get(&filter("A"), at(999)), Some(7));
        assert_eq!(totals.get(&filter("A"), at(1000)), None);
        assert_eq!(totals.get(&filter("B"), start), None);
    }

    #[test]
    fn a_write_makes_quick_counts_old_and_spares_slow_ones() {
        let totals = Totals::default();
        let start = Instant::now();
        let later = start + QUICK + QUICK;
        totals.put(filter("quick"), 1, totals.writes(), start, start);
        totals.put(filter("slow"), 2, totals.writes(), start, later);
        totals.written();
        assert_eq!(totals.get(&filter("quick"), later), None);
        assert_eq!(totals.get(&filter("slow"), later), Some(2));
    }

    #[test]
    fn not_everything_is_remembered_for_ever() {
        let totals = Totals::default();
        let now = Instant::now();
        for number in 0..3 * CAPACITY {
            totals.put(filter(&number.to_string()), 0, 0, now, now);
            assert!(totals.known.lock().len() <= CAPACITY);
        }
    }
}
