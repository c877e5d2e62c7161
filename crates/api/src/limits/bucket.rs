//! Budgets that fill up again: a minute's worth at most, one sixtieth of it every second.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Callers that are remembered. Whoever is forgotten begins with a full budget.
const CAPACITY: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Buckets {
    of: Mutex<HashMap<Arc<str>, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Buckets {
    /// Takes one from somebody's budget; else tells in how many seconds there is one. 0 a minute is no limit.
    pub(super) fn take(&self, who: &Arc<str>, a_minute: u32, now: Instant) -> Result<(), u64> {
        if a_minute == 0 {
            return Ok(());
        }
        let most = f64::from(a_minute);
        let a_second = most / MINUTE.as_secs_f64();
        let mut of = self.of.lock();
        if of.len() >= CAPACITY && !of.contains_key(who) {
            // A bucket that had a minute is full, and a full one need not be remembered.
            of.retain(|_, bucket| now.saturating_duration_since(bucket.at) < MINUTE);
            if of.len() >= CAPACITY {
                of.clear();
            }
        }
        let bucket = of.entry(who.clone()).or_insert(Bucket {
            left: most,
            at: now,
        });
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + passed * a_second).min(most);
        bucket.at = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        let seconds = (1.0 - bucket.left) / a_second;
        Err(Duration::from_secs_f64(seconds).as_secs() + 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_budget_is_used_up_and_fills_again() {
        let buckets = Buckets::default();
        let (ada, start) = ("ada".into(), Instant::now());
        for _ in 0..60 {
            assert_eq!(buckets.take(&ada, 60, start), Ok(()));
        }
        assert_eq!(buckets.take(&ada, 60, start), Err(2));
        let later = start + Duration::from_secs(2);
        assert_eq!(buckets.take(&ada, 60, later), Ok(()));
        assert_eq!(buckets.take(&"bob".into(), 60, start), Ok(()));
    }

    #[test]
    fn not_everybody_is_remembered_for_ever() {
        let buckets = Buckets::default();
        let now = Instant::now();
        for number in 0..CAPACITY * 2 {
            let _ = buckets.take(&number.to_string().into(), 1, now);
            assert!(buckets.of.lock().len() <= CAPACITY);
        }
    }

    proptest! {
        #[test]
        fn nobody_gets_more_than_a_full_budget_and_what_flows_in(
            a_minute in 1u32..1000,
            pauses in proptest::collection::vec(0u64..5_000, 1..200),
        ) {
            let buckets = Buckets::default();
            let who: Arc<str> = "ada".into();
            let start = Instant::now();
            let (mut now, mut taken) = (start, 0u32);
            for pause in pauses {
                now += Duration::from_millis(pause);
                if buckets.take(&who, a_minute, now).is_ok() {
                    taken += 1;
                }
                let flown = (now - start).as_secs_f64() * f64::from(a_minute) / 60.0;
                prop_assert!(f64::from(taken) <= f64::from(a_minute) + flown + 0.001);
            }
        }

        #[test]
        fn whoever_waits_as_long_as_told_gets_one(a_minute in 1u32..1000) {
            let buckets = Buckets::default();
            let who: Arc<str> = "ada".into();
            let start = Instant::now();
            let mut seconds = 0;
            while seconds == 0 {
                seconds = buckets.take(&who, a_minute, start).err().unwrap_or(0);
            }
            let then = start + Duration::from_secs(seconds);
            prop_assert_eq!(buckets.take(&who, a_minute, then), Ok(()));
        }
    }
}
