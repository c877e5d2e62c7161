//! When a resource must be looked at again, and why.
//!
//! ```text
//!   nobody has reported on this generation ──► now
//!   otherwise                              ──► last_updated_time + backoff(ready?)
//!   published before, nothing changed      ──► not before published + backoff
//! ```

use std::fmt;
use std::time::Duration;

use crate::condition::types;
use crate::generation::Generation;
use crate::phase::Phase;
use crate::resource::Resource;
use crate::time::Time;

/// How long to wait between two looks at the same resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub not_ready: Duration,
    pub ready: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff {
            not_ready: Duration::from_secs(10),
            ready: Duration::from_secs(30 * 60),
        }
    }
}

/// What the decision looks at: a few words per resource, so that a Sentinel can hold a whole fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub generation: Generation,
    pub deleting: bool,
    pub ready: bool,
    /// When the resource last changed. Also moves when the last child of a resource that is being deleted goes.
    pub updated_time: Time,
    /// Whether any required adapter has reported since then.
    pub reported: bool,
    pub last_updated_time: Time,
}

impl View {
    pub fn of(resource: &Resource) -> View {
        let (ready, last_updated_time) = match resource.condition(types::RECONCILED) {
            Some(reconciled) => (
                reconciled.status.is_true() && resource.status.phase == Phase::Ready,
                reconciled.last_updated_time,
            ),
            None => (
                resource.status.phase == Phase::Ready,
                resource.status.last_updated_time,
            ),
        };
        View {
            generation: resource.generation,
            deleting: resource.is_deleting(),
            ready,
            updated_time: resource.updated_time,
            reported: last_updated_time > resource.updated_time,
            last_updated_time,
        }
    }
}

/// The last event sent for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    pub at: Time,
    pub generation: Generation,
    pub deleting: bool,
    pub updated_time: Time,
}

impl Published {
    /// An event sent now for what is seen.
    pub fn now(view: &View, at: Time) -> Published {
        Published {
            at,
            generation: view.generation,
            deleting: view.deleting,
            updated_time: view.updated_time,
        }
    }

    /// Whether the resource is what it was when the event was sent, apart from what was reported.
    pub fn saw(&self, view: &View) -> bool {
        (self.generation, self.deleting, self.updated_time)
            == (view.generation, view.deleting, view.updated_time)
    }
}

/// Why an event is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    Created,
    Changed,
    Deleted,
    NotReady,
    Refresh,
}

impl Reason {
    /// Stable: a value of the event's `reason` and of a metric label.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Created => "created",
            Reason::Changed => "generation-changed",
            Reason::Deleted => "deleted",
            Reason::NotReady => "backoff-expired",
            Reason::Refresh => "max-age-expired",
        }
    }

    /// Whether time alone is the reason; everything else is somebody's doing and cannot wait.
    pub fn is_periodic(self) -> bool {
        matches!(self, Reason::NotReady | Reason::Refresh)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When the next event for a resource is due. In the past means now, and so does a change: the clock it was stamped by
/// may be ahead of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    pub at: Time,
    pub reason: Reason,
}

impl Due {
    pub fn is_due(self, now: Time) -> bool {
        self.at <= now || !self.reason.is_periodic()
    }
}

/// When to send the next event, given what the resource looks like and what was last sent.
pub fn due(view: &View, published: Option<&Published>, backoff: Backoff) -> Due {
    let wait = if view.ready {
        backoff.ready
    } else {
        backoff.not_ready
    };
    let unseen = |generation: Generation| match (view.deleting, generation) {
        (true, _) => Reason::Deleted,
        (false, Generation::FIRST) => Reason::Created,
        (false, _) => Reason::Changed,
    };
    let periodic = if view.ready {
        Reason::Refresh
    } else {
        Reason::NotReady
    };
    let base = if view.reported {
        Due {
            at: after(view.last_updated_time, wait),
            reason: periodic,
        }
    } else {
        Due {
            at: view.last_updated_time,
            reason: unseen(view.generation),
        }
    };
    match published {
        None => base,
        Some(last) if !last.saw(view) => Due {
            at: last.at,
            reason: unseen(view.generation),
        },
        Some(last) => Due {
            at: base.at.max(after(last.at, wait)),
            reason: periodic,
        },
    }
}

/// Far in the future rather than an overflow.
fn after(time: Time, wait: Duration) -> Time {
    chrono::TimeDelta::from_std(wait)
        .ok()
        .and_then(|wait| time.checked_add_signed(wait))
        .unwrap_or(Time::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn at(seconds: i64) -> Time {
        Time::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + seconds)
    }

    fn view() -> View {
        View {
            generation: Generation::FIRST,
            deleting: false,
            ready: false,
            updated_time: at(-5),
            reported: true,
            last_updated_time: at(0),
        }
    }

    fn published(seconds: i64) -> Published {
        Published::now(&view(), at(seconds))
    }

    #[test]
    fn what_nobody_has_reported_on_is_due_at_once() {
        let new = View {
            reported: false,
            ..view()
        };
        assert_eq!(
            due(&new, None, Backoff::default()),
            Due {
                at: at(0),
                reason: Reason::Created
            }
        );
        let updated = View {
            generation: Generation::FIRST.next(),
            ..new
        };
        assert_eq!(
            due(&updated, None, Backoff::default()).reason,
            Reason::Changed
        );
        let deleted = View {
            deleting: true,
            ..updated
        };
        assert_eq!(
            due(&deleted, None, Backoff::default()).reason,
            Reason::Deleted
        );
    }

    #[test]
    fn what_is_not_ready_is_due_10_seconds_after_the_oldest_report() {
        let due = due(&view(), None, Backoff::default());
        assert_eq!(
            due,
            Due {
                at: at(10),
                reason: Reason::NotReady
            }
        );
        assert!(!due.is_due(at(9)));
        assert!(due.is_due(at(10)), "at the very moment, not after it");
    }

    #[test]
    fn what_is_ready_is_refreshed_every_half_hour() {
        let ready = View {
            ready: true,
            ..view()
        };
        assert_eq!(
            due(&ready, None, Backoff::default()),
            Due {
                at: at(1800),
                reason: Reason::Refresh
            }
        );
    }

    #[test]
    fn an_event_is_not_repeated_before_its_backoff_even_if_no_adapter_answers() {
        let silent = View {
            reported: false,
            ..view()
        };
        assert_eq!(
            due(&silent, Some(&published(3)), Backoff::default()).at,
            at(13)
        );
    }

    #[test]
    fn a_change_after_the_event_is_due_at_once() {
        let changed = View {
            generation: Generation::FIRST.next(),
            reported: false,
            last_updated_time: at(5),
            ..view()
        };
        assert!(due(&changed, Some(&published(4)), Backoff::default()).is_due(at(5)));
        let deleted = View {
            deleting: true,
            ..view()
        };
        assert!(due(&deleted, Some(&published(4)), Backoff::default()).is_due(at(4)));
        let childless = View {
            updated_time: at(3),
            ..view()
        };
        assert!(due(&childless, Some(&published(2)), Backoff::default()).is_due(at(3)));
    }

    #[test]
    fn a_change_stamped_by_a_clock_that_is_ahead_does_not_wait_for_it() {
        let new = View {
            reported: false,
            ..view()
        };
        let created = due(&new, None, Backoff::default());
        assert!(created.is_due(at(-3600)), "{created:?}");
        let reported = due(&view(), None, Backoff::default());
        assert!(!reported.is_due(at(9)), "a report is waited for");
    }

    #[test]
    fn a_report_after_the_event_postpones_the_next_one() {
        let reported = View {
            last_updated_time: at(8),
            ..view()
        };
        assert_eq!(
            due(&reported, Some(&published(3)), Backoff::default()).at,
            at(18)
        );
    }

    #[test]
    fn an_absurd_backoff_is_the_far_future() {
        let backoff = Backoff {
            not_ready: Duration::MAX,
            ready: Duration::MAX,
        };
        assert_eq!(due(&view(), None, backoff).at, Time::MAX_UTC);
    }
}
