//! Whose turn is next: one place for every resource that waits, and never two turns of one resource at once.
//!
//! Events say *look at it*, so the newest of those that wait stands for all of them. What it replaces need not be held:
//! were this process to end now, the newest would come again and lead to the same.

use std::collections::{HashMap, VecDeque};

#[derive(Debug)]
pub(super) struct Turns<T> {
    places: HashMap<String, Place<T>>,
    /// Those that wait and have no turn, oldest first.
    ready: VecDeque<String>,
}

#[derive(Debug)]
struct Place<T> {
    waiting: Option<Waiting<T>>,
    has_turn: bool,
}

#[derive(Debug)]
struct Waiting<T> {
    generation: Option<i64>,
    item: T,
}

impl<T> Turns<T> {
    pub(super) fn new() -> Self {
        Self {
            places: HashMap::new(),
            ready: VecDeque::new(),
        }
    }

    /// How many resources wait or have their turn.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Waits for the next turn of `key`. Returns what need not wait any more: the one that waited, or this one if it is
    /// about an older generation.
    pub(super) fn wait(&mut self, key: String, generation: Option<i64>, item: T) -> Option<T> {
        let mut newest = Waiting { generation, item };
        let Some(place) = self.places.get_mut(&key) else {
            let place = Place {
                waiting: Some(newest),
                has_turn: false,
            };
            self.places.insert(key.clone(), place);
            self.ready.push_back(key);
            return None;
        };
        let Some(waiting) = &mut place.waiting else {
            place.waiting = Some(newest);
            return None;
        };
        if !newest.is_older_than(waiting) {
            std::mem::swap(waiting, &mut newest);
        }
        Some(newest.item)
    }

    /// Gives the next one its turn.
    pub(super) fn begin(&mut self) -> Option<(String, T)> {
        let key = self.ready.pop_front()?;
        let place = self.places.get_mut(&key)?;
        let waiting = place.waiting.take()?;
        place.has_turn = true;
        Some((key, waiting.item))
    }

    /// The turn of `key` is over.
    pub(super) fn end(&mut self, key: String) {
        let Some(place) = self.places.get_mut(&key).filter(|place| place.has_turn) else {
            return;
        };
        place.has_turn = false;
        match place.waiting {
            Some(_) => self.ready.push_back(key),
            None => drop(self.places.remove(&key)),
        }
    }
}

impl<T> Waiting<T> {
    /// A delivery that failed comes again after newer ones.
    fn is_older_than(&self, other: &Self) -> bool {
        matches!((self.generation, other.generation), (Some(this), Some(other)) if this < other)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_stands_for_all_that_wait() {
        let mut turns = Turns::new();
        assert_eq!(turns.wait("a".into(), Some(1), 1), None);
        assert_eq!(turns.wait("a".into(), Some(1), 2), Some(1));
        assert_eq!(turns.wait("a".into(), Some(2), 3), Some(2));
        assert_eq!(turns.wait("a".into(), Some(1), 4), Some(4), "it came late");
        assert_eq!(turns.wait("a".into(), None, 5), Some(3), "nobody knows");
        assert_eq!(turns.begin(), Some(("a".into(), 5)));
        assert_eq!(turns.begin(), None);
    }

    #[test]
    fn one_that_comes_during_a_turn_has_the_next_one() {
        let mut turns = Turns::new();
        turns.wait("a".into(), None, 1);
        turns.begin();
        assert_eq!(turns.wait("a".into(), None, 2), None, "1 is under way");
        turns.wait("b".into(), None, 3);
        assert_eq!(turns.begin(), Some(("b".into(), 3)));
        assert_eq!(turns.begin(), None);
        turns.end("a".into());
        assert_eq!(turns.begin(), Some(("a".into(), 2)));
        turns.end("a".into());
        turns.end("b".into());
        assert!(turns.places.is_empty(), "{turns:?}");
    }

    proptest! {
        /// Every item gets a turn or is replaced by one that came after it; no resource has two turns at once; the last
        /// of every resource gets one.
        #[test]
        fn nothing_is_lost(steps in prop::collection::vec((0_u8..5, 0_u8..4), 0..200)) {
            let mut turns = Turns::new();
            let (mut under_way, mut waits) = (Vec::new(), HashSet::new());
            for (number, (key, action)) in steps.into_iter().enumerate() {
                match action {
                    0 => if let Some((key, item)) = turns.begin() {
                        prop_assert!(!under_way.contains(&key));
                        prop_assert!(waits.remove(&item));
                        under_way.push(key);
                    },
                    1 => if let Some(key) = under_way.pop() {
                        turns.end(key);
                    },
                    _ => {
                        waits.insert(number);
                        if let Some(replaced) = turns.wait(key.to_string(), None, number) {
                            prop_assert!(replaced < number && waits.remove(&replaced));
                        }
                    }
                }
            }
            for key in under_way {
                turns.end(key);
            }
            while let Some((key, item)) = turns.begin() {
                prop_assert!(waits.remove(&item));
                turns.end(key);
            }
            prop_assert!(waits.is_empty() && turns.places.is_empty());
        }
    }
}
