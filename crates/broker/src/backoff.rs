//! How long to wait before trying a server again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(15);

/// Doubles from [`FIRST`] to [`LONGEST`]; half of each wait is chance, so that the clients of a
/// restarted server do not all come at once.
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { next: FIRST }
    }

    pub(crate) fn next(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(LONGEST);
        jitter(wait, fastrand::f64())
    }
}

/// `chance` is from 0 to 1.
fn jitter(wait: Duration, chance: f64) -> Duration {
    wait.mul_f64(0.5 + chance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_limit_and_keep_at_least_half_their_length() {
        let mut backoff = Backoff::new();
        let mut full = FIRST;
        for _ in 0..20 {
            let wait = backoff.next();
            assert!(wait >= full / 2 && wait <= full, "{wait:?} of {full:?}");
            full = (full * 2).min(LONGEST);
        }
        assert_eq!(full, LONGEST);
        assert_eq!(jitter(LONGEST, 0.0), LONGEST / 2);
        assert_eq!(jitter(LONGEST, 1.0), LONGEST);
    }
}
