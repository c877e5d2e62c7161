//! How fast events may go out: what was held up by an outage does not come as a flood.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket that fills at a rate and holds one second of it.
#[derive(Debug)]
pub(crate) struct Rate {
    per_second: f64,
    tokens: f64,
    filled: Instant,
}

impl Rate {
    /// Zero is no limit.
    pub(crate) fn new(per_second: u32, now: Instant) -> Rate {
        let per_second = match per_second {
            0 => f64::INFINITY,
            limit => f64::from(limit),
        };
        Rate {
            per_second,
            tokens: per_second,
            filled: now,
        }
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.filled = now;
        self.tokens = (self.tokens + passed * self.per_second).min(self.per_second.max(1.0));
    }

    /// Whether another event may go out.
    pub(crate) fn allows(&mut self, now: Instant) -> bool {
        if self.per_second.is_infinite() {
            return true;
        }
        self.fill(now);
        self.tokens >= 1.0
    }

    /// One went out.
    pub(crate) fn spend(&mut self) {
        self.tokens -= 1.0;
    }

    /// How long until there is one.
    pub(crate) fn wait(&self) -> Duration {
        if self.per_second.is_infinite() || self.tokens >= 1.0 {
            return Duration::ZERO;
        }
        Duration::from_secs_f64((1.0 - self.tokens) / self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many are taken in a time, asking every millisecond.
    fn taken(rate: &mut Rate, from: Instant, time: Duration) -> usize {
        let steps = u32::try_from(time.as_millis()).unwrap();
        (0..steps)
            .flat_map(|step| std::iter::repeat_n(from + Duration::from_millis(step.into()), 100))
            .filter(|now| {
                let allowed = rate.allows(*now);
                if allowed {
                    rate.spend();
                }
                allowed
            })
            .count()
    }

    #[test]
    fn after_one_second_of_burst_it_is_the_rate() {
        let start = Instant::now();
        let mut rate = Rate::new(1000, start);
        assert_eq!(taken(&mut rate, start, Duration::from_millis(1)), 100);
        let first = taken(&mut rate, start, Duration::from_secs(1));
        assert!((1850..=1950).contains(&first), "{first}");
        let next = taken(
            &mut rate,
            start + Duration::from_secs(1),
            Duration::from_secs(1),
        );
        assert!((990..=1010).contains(&next), "{next}");
        assert!(rate.wait() <= Duration::from_millis(1) && rate.wait() > Duration::ZERO);
    }

    #[test]
    fn zero_is_no_limit() {
        let mut rate = Rate::new(0, Instant::now());
        for _ in 0..100_000 {
            assert!(rate.allows(Instant::now()));
            rate.spend();
        }
        assert_eq!(rate.wait(), Duration::ZERO);
    }
}
