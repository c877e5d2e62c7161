//! Moments in order. A timer that was replaced stays in until its moment; whoever pops it must know.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chrono::DateTime;
use hyperfleet_core::time::Time;

type Timer = (i64, u32, u32, u32);

#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<Timer>>);

impl Timers {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, at: Time, slot: u32, tenant: u32, alarm: u32) {
        self.0.push(Reverse(timer(at, slot, tenant, alarm)));
    }

    /// The earliest timer that has gone off.
    pub(super) fn pop_due(&mut self, now: Time) -> Option<(u32, u32, u32)> {
        let Reverse((at, ..)) = self.0.peek()?;
        if *at > now.timestamp_micros() {
            return None;
        }
        let Reverse((_, slot, tenant, alarm)) = self.0.pop()?;
        Some((slot, tenant, alarm))
    }

    pub(super) fn earliest(&self) -> Option<Time> {
        let Reverse((at, ..)) = self.0.peek()?;
        DateTime::from_timestamp_micros(*at)
    }
}

impl FromIterator<(Time, u32, u32, u32)> for Timers {
    fn from_iter<I: IntoIterator<Item = (Time, u32, u32, u32)>>(timers: I) -> Self {
        let timers = timers.into_iter();
        Timers(
            timers
                .map(|(at, slot, tenant, alarm)| Reverse(timer(at, slot, tenant, alarm)))
                .collect(),
        )
    }
}

/// Rounded up: a timer must not go off before its moment.
fn timer(at: Time, slot: u32, tenant: u32, alarm: u32) -> Timer {
    let rounding = i64::from(!at.timestamp_subsec_nanos().is_multiple_of(1000));
    (at.timestamp_micros() + rounding, slot, tenant, alarm)
}
