//! Requests per second, with a burst, and so many at a time.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// Requests under way at a time. Each has a connection, and a connection to an API server takes about 70 KiB; more of
/// them would not be answered sooner.
const AT_A_TIME: usize = 32;

/// A token bucket as one moving instant: when the bucket would be empty of debt.
#[derive(Debug)]
pub(super) struct Limiter {
    interval: Duration,
    burst: Duration,
    next: Mutex<Instant>,
    free: Semaphore,
}

impl Limiter {
    pub(super) fn new(qps: f64, burst: u32) -> Self {
        let interval = Duration::from_secs_f64(1.0 / qps.max(0.001));
        Self {
            interval,
            burst: interval * burst.max(1),
            next: Mutex::new(Instant::now()),
            free: Semaphore::new(AT_A_TIME),
        }
    }

    /// Returns when the next request may be sent; it is under way as long as the permit is held. First come, first
    /// served.
    pub(super) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed, so there always is one.
        let permit = self.free.acquire().await.ok();
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
        permit
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

    #[tokio::test(start_paused = true)]
    async fn one_more_than_may_be_under_way_waits_for_another_to_end() {
        let limiter = Limiter::new(1_000_000.0, 1_000);
        let mut under_way = Vec::new();
        for _ in 0..AT_A_TIME {
            under_way.push(limiter.acquire().await);
        }
        let soon = Duration::from_secs(1);
        let one_more = tokio::time::timeout(soon, limiter.acquire()).await;
        assert!(one_more.is_err());
        under_way.pop();
        assert!(tokio::time::timeout(soon, limiter.acquire()).await.is_ok());
    }
}
