//! When a resource must be looked at again, and why.
//!
//! ```text
//!   nobody has reported on this generation ──► now
//!   otherwise                              ──► last_updated_time + backoff(ready?)
//!   published before, nothing changed      ──► not before published + backoff
//!   published before, and since then a
//!   report changed what others may wait for ──► published + SETTLE, a bounded number of times
//! ```

use std::fmt;
use std::time::Duration;

use crate::generation::Generation;
use crate::time::Time;

/// Adapters answer an event together. What they say within this time of it is one reason for the next, not one each.
pub const SETTLE: Duration = Duration::from_millis(50);

/// How many events in a row one resource may owe to reports. A chain of adapters needs one or two for each; adapters
/// that take back what they said come to the end of it, and wait for the backoff from then on. What was used comes
/// back one by one, with events that time alone was the reason for.
pub const MOST_PROGRESS: u8 = 32;

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
    /// Differs where what an adapter may wait for differs: the statuses of conditions and adapters, not their words and
    /// not their times.
    pub progress: u64,
}

/// The last event sent for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    pub at: Time,
    pub generation: Generation,
    pub deleting: bool,
    pub updated_time: Time,
    pub progress: u64,
    /// How many events this version owes to reports, less those that have come back.
    pub progressed: u8,
}

impl Published {
    /// An event sent now for what is seen, after another or as the first.
    pub fn after(before: Option<&Published>, view: &View, at: Time) -> Published {
        let progressed = match before.filter(|before| before.saw(view)) {
            None => 0,
            Some(before) if before.progress == view.progress => before.progressed.saturating_sub(1),
            Some(before) => before.progressed.saturating_add(1).min(MOST_PROGRESS),
        };
        Published {
            at,
            generation: view.generation,
            deleting: view.deleting,
            updated_time: view.updated_time,
            progress: view.progress,
            progressed,
        }
    }

    /// Whether reports since then are a reason for another event.
    pub fn is_behind(&self, view: &View) -> bool {
        self.saw(view) && self.progress != view.progress && self.progressed < MOST_PROGRESS
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
    Progress,
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
            Reason::Progress => "status-changed",
            Reason::NotReady => "backoff-expired",
            Reason::Refresh => "max-age-expired",
        }
    }

    /// Whether the owner of the resource did something: that cannot wait.
    pub fn is_urgent(self) -> bool {
        matches!(self, Reason::Created | Reason::Changed | Reason::Deleted)
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
        self.at <= now || self.reason.is_urgent()
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
        Some(last) => {
            let aged = Due {
                at: base.at.max(after(last.at, wait)),
                reason: periodic,
            };
            let told = Due {
                at: after(last.at, SETTLE),
                reason: Reason::Progress,
            };
            match last.is_behind(view) && told.at < aged.at {
                true => told,
                false => aged,
            }
        }
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
            progress: 1,
        }
    }

    fn published(seconds: i64) -> Published {
        Published::after(None, &view(), at(seconds))
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
    fn a_report_that_others_may_wait_for_is_due_when_its_burst_has_settled() {
        let progressed = View {
            progress: 2,
            last_updated_time: at(3),
            ..view()
        };
        let next = due(&progressed, Some(&published(3)), Backoff::default());
        let settled = at(3) + TimeDelta::from_std(SETTLE).unwrap();
        assert_eq!(
            next,
            Due {
                at: settled,
                reason: Reason::Progress
            }
        );
        assert!(
            !next.is_due(at(3)),
            "those who answer together are one reason"
        );
        assert!(next.is_due(settled));
        let seen = Published::after(Some(&published(3)), &progressed, settled);
        let next = due(&progressed, Some(&seen), Backoff::default());
        assert_eq!(next.reason, Reason::NotReady, "told once");
        let impatient = Backoff {
            not_ready: Duration::from_millis(20),
            ..Backoff::default()
        };
        let next = due(&progressed, Some(&published(3)), impatient);
        assert_eq!(next.reason, Reason::NotReady, "the earlier of the two");
    }

    #[test]
    fn without_an_event_before_it_there_is_no_progress() {
        assert_eq!(
            due(&view(), None, Backoff::default()).reason,
            Reason::NotReady
        );
    }

    /// Events about a resource whose status is another one after every event, as long as they come at once.
    fn events_of_a_flapping_one(mut last: Published) -> (u32, Published) {
        let mut events = 0;
        loop {
            let flapped = View {
                progress: last.progress + 1,
                ..view()
            };
            if due(&flapped, Some(&last), Backoff::default()).reason != Reason::Progress {
                return (events, last);
            }
            last = Published::after(Some(&last), &flapped, last.at);
            events += 1;
        }
    }

    #[test]
    fn what_flaps_comes_to_an_end_and_then_costs_no_more_than_its_backoff() {
        let most = u32::from(MOST_PROGRESS);
        let (events, spent) = events_of_a_flapping_one(published(0));
        assert_eq!(events, most);
        assert_eq!(events_of_a_flapping_one(spent).0, 0);
        let still = View {
            progress: spent.progress,
            ..view()
        };
        let rested = Published::after(Some(&spent), &still, at(10));
        assert_eq!(events_of_a_flapping_one(rested).0, 1, "one comes back");
        let changed = View {
            generation: Generation::FIRST.next(),
            ..still
        };
        let anew = Published::after(Some(&spent), &changed, at(10));
        assert_eq!(anew.progressed, 0, "a new version begins anew");
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
