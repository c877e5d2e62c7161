//! Requests per second, with a burst.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A token bucket as one moving instant: when the bucket would be empty of debt.
#[derive(Debug)]
pub(super) struct Limiter {
    interval: Duration,
    burst: Duration,
    next: Mutex<Instant>,
}

impl Limiter {
    pub(super) fn new(qps: f64, burst: u32) -> Self {
        let interval = Duration::from_secs_f64(1.0 / qps.max(0.001));
        Self {
            interval,
            burst: interval * burst.max(1),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Returns when the next request may be sent. First come, first served.
    pub(super) async fn acquire(&self) {
        let at = {
            let mut next = self.next.lock().unwrap_or_else(|held| held.into_inner());
            let now = Instant::now();
            *next = (*next).max(now) + self.interval;
            // Up to `burst` of debt is free.
            next.checked_sub(self.burst).filter(|at| *at > now)
        };
        if let Some(at) = at {
            sleep_until(at).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let limiter = Limiter::new(10.0, 5);
        let start = Instant::now();
        for _ in 0..5 {
            limiter.acquire().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..10 {
            limiter.acquire().await;
        }
        let waited = start.elapsed().as_millis();
        assert!((990..=1010).contains(&waited), "{waited} ms");
    }
}
