//! Exact timers: one per object and purpose.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Purpose {
    /// Pods of a job, or a pod by itself, finish.
    Finish,
    /// A pod becomes ready.
    Ready,
    /// A finished job's time to live is over.
    Expire,
}

#[derive(Debug, Default)]
pub(super) struct Timers {
    queue: BTreeSet<(Instant, String, Purpose)>,
    armed: HashMap<(String, Purpose), Instant>,
}

impl Timers {
    /// Arms, or moves, the timer of an object.
    pub(super) fn arm(&mut self, uid: &str, purpose: Purpose, at: Instant) {
        self.disarm(uid, purpose);
        self.armed.insert((uid.to_owned(), purpose), at);
        self.queue.insert((at, uid.to_owned(), purpose));
    }

    pub(super) fn disarm(&mut self, uid: &str, purpose: Purpose) {
        if let Some(at) = self.armed.remove(&(uid.to_owned(), purpose)) {
            self.queue.remove(&(at, uid.to_owned(), purpose));
        }
    }

    pub(super) fn forget(&mut self, uid: &str) {
        for purpose in [Purpose::Finish, Purpose::Ready, Purpose::Expire] {
            self.disarm(uid, purpose);
        }
    }

    pub(super) fn is_armed(&self, uid: &str, purpose: Purpose) -> bool {
        self.armed.contains_key(&(uid.to_owned(), purpose))
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.queue.first().map(|(at, _, _)| *at)
    }

    pub(super) fn take_due(&mut self) -> Option<(String, Purpose)> {
        if self.next()? > Instant::now() {
            return None;
        }
        let (_, uid, purpose) = self.queue.pop_first()?;
        self.armed.remove(&(uid.clone(), purpose));
        Some((uid, purpose))
    }
}

/// When `delay` after a recorded wall-clock time is, on the monotonic clock. A clock that jumped counts as no time gone.
pub(super) fn after(recorded: Option<DateTime<Utc>>, delay: Duration) -> Instant {
    let gone = recorded
        .and_then(|at| (Utc::now() - at).to_std().ok())
        .unwrap_or_default();
    // Recorded times are whole seconds; within the first one nothing can be said, so the full delay is waited.
    let gone = if gone < Duration::from_secs(2) {
        Duration::ZERO
    } else {
        gone
    };
    Instant::now() + delay.saturating_sub(gone)
}
