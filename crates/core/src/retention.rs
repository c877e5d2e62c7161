//! Which old versions of an object go.

use chrono::TimeDelta;

use crate::time::Time;

/// How many old versions are kept, and for how long. Either rule alone is enough to remove one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// The most old versions that are kept; the oldest go first.
    pub history_limit: Option<u32>,
    /// Old versions that were created longer ago than this go.
    pub ttl: Option<TimeDelta>,
}

impl Retention {
    /// Which of the old versions go, by position, the oldest first. The version that counts is not one of them.
    ///
    /// A version whose time of creation is not known is never too old, and counts as the newest: what is not known is
    /// no reason to delete.
    pub fn expired(&self, created: &[Option<Time>], now: Time) -> Vec<usize> {
        let mut oldest_first: Vec<usize> = (0..created.len()).collect();
        oldest_first.sort_by_key(|index| (created[*index].is_none(), created[*index], *index));
        let over = match self.history_limit {
            Some(limit) => created.len().saturating_sub(limit as usize),
            None => 0,
        };
        let is_old = |index: usize| match (created[index], self.ttl) {
            (Some(created), Some(ttl)) => now - created > ttl,
            _ => false,
        };
        oldest_first
            .into_iter()
            .enumerate()
            .filter(|(age, index)| (*age < over && created[*index].is_some()) || is_old(*index))
            .map(|(_, index)| index)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hour(hour: i64) -> Option<Time> {
        Some(Time::UNIX_EPOCH + TimeDelta::hours(hour))
    }

    fn keep(history_limit: Option<u32>, ttl_hours: Option<i64>) -> Retention {
        Retention {
            history_limit,
            ttl: ttl_hours.map(TimeDelta::hours),
        }
    }

    fn at(hours: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    #[test]
    fn the_oldest_go_first_when_there_are_too_many() {
        let created = [hour(3), hour(1), hour(2)];
        assert_eq!(keep(Some(1), None).expired(&created, at(9)), [1, 2]);
        assert_eq!(keep(Some(0), None).expired(&created, at(9)), [1, 2, 0]);
        assert_eq!(keep(Some(3), None).expired(&created, at(9)), [0_usize; 0]);
    }

    #[test]
    fn either_rule_is_enough() {
        let created = [hour(3), hour(1), hour(2)];
        assert_eq!(keep(None, Some(7)).expired(&created, at(9)), [1]);
        assert_eq!(keep(Some(1), Some(5)).expired(&created, at(9)), [1, 2, 0]);
        assert_eq!(keep(None, None).expired(&created, at(9)), [0_usize; 0]);
    }

    #[test]
    fn what_has_no_time_of_creation_stays() {
        let created = [None, hour(1)];
        assert_eq!(keep(Some(0), Some(1)).expired(&created, at(9)), [1]);
    }

    proptest! {
        #[test]
        fn at_most_the_limit_stays_and_everything_that_goes_is_older_than_what_stays_or_too_old(
            hours in prop::collection::vec(0_i64..100, 0..12),
            limit in prop::option::of(0_u32..8),
            ttl in prop::option::of(0_i64..100),
        ) {
            let created: Vec<Option<Time>> = hours.iter().map(|hours| hour(*hours)).collect();
            let goes = keep(limit, ttl).expired(&created, at(100));
            let stays: Vec<usize> = (0..created.len()).filter(|index| !goes.contains(index)).collect();
            if let Some(limit) = limit {
                prop_assert!(stays.len() <= limit as usize);
            }
            for index in &stays {
                prop_assert!(ttl.is_none_or(|ttl| 100 - hours[*index] <= ttl));
            }
            for gone in &goes {
                let old = ttl.is_some_and(|ttl| 100 - hours[*gone] > ttl);
                let oldest = stays.iter().all(|kept| hours[*gone] <= hours[*kept]);
                prop_assert!(old || (oldest && limit.is_some()));
            }
        }
    }
}
