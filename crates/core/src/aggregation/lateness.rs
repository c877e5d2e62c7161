//! Adapters that should have spoken by now.

use chrono::TimeDelta;

use super::rule::{Words, computed};
use super::{Rules, Subject};
use crate::adapter_status::AdapterStatus;
use crate::condition::{ConditionStatus, ResourceCondition, types};
use crate::identity::AdapterName;
use crate::phase::Phase;
use crate::time::Time;

/// A length of time, and how it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) length: TimeDelta,
    pub(super) text: String,
}

/// What the clock may do to a resource: `defaultBehavior` and `policies` of an AggregationConfig.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policies {
    /// What a required adapter that has not reported on this generation counts as.
    pub(super) missing_adapter: Phase,
    /// After which it counts as failed.
    pub(super) timeout: Option<Wait>,
    /// After which a report says nothing about the present.
    pub(super) stale_threshold: Option<Wait>,
    /// The phase of a resource with such a report; `None` leaves it to the rules.
    pub(super) stale_action: Option<Phase>,
}

impl Default for Policies {
    fn default() -> Policies {
        Policies {
            missing_adapter: Phase::Pending,
            timeout: None,
            stale_threshold: None,
            stale_action: Some(Phase::Degraded),
        }
    }
}

impl Policies {
    pub(super) fn watch_the_clock(&self) -> bool {
        self.timeout.is_some() || self.stale_threshold.is_some()
    }
}

/// Who is late at one moment, and when that may change without a report.
#[derive(Debug, Default)]
pub(crate) struct Lateness<'a> {
    /// Configured adapters whose last report is too old, sorted.
    stale: Vec<&'a AdapterName>,
    /// Required adapters without a report on this generation, sorted.
    missing: Vec<&'a AdapterName>,
    /// Whether they have been missing for too long.
    overdue: bool,
    pub(super) recheck: Option<Time>,
}

impl<'a> Lateness<'a> {
    pub(super) fn of(
        subject: &Subject<'_>,
        reports: &[&AdapterStatus],
        rules: &'a Rules,
        now: Time,
    ) -> Lateness<'a> {
        let mut lateness = Lateness::default();
        let find = |name: &AdapterName| reports.iter().find(|report| report.adapter == *name);
        for name in rules.required() {
            let current = |report: &&&AdapterStatus| {
                report.observed_generation == subject.generation() && report.available().is_some()
            };
            if find(name).filter(current).is_none() {
                lateness.missing.push(name);
            }
        }
        if let Some(timeout) = &rules.policies.timeout
            && !lateness.missing.is_empty()
        {
            lateness.overdue = lateness.is_past(subject.updated_time(), timeout, now);
        }
        if let Some(threshold) = &rules.policies.stale_threshold {
            for name in rules.required().iter().chain(rules.optional()) {
                if let Some(report) = find(name)
                    && lateness.is_past(report.last_report_time, threshold, now)
                {
                    lateness.stale.push(name);
                }
            }
        }
        lateness.missing.sort_unstable();
        lateness.stale.sort_unstable();
        lateness
    }

    /// Whether the wait is over; if not, it is worth looking again when it is.
    fn is_past(&mut self, since: Time, wait: &Wait, now: Time) -> bool {
        let Some(end) = since.checked_add_signed(wait.length) else {
            return false;
        };
        if end > now {
            self.recheck = Some(self.recheck.map_or(end, |earlier| earlier.min(end)));
        }
        end <= now
    }

    pub(super) fn is_stale(&self, adapter: &AdapterName) -> bool {
        self.stale.contains(&adapter)
    }

    /// The phase that lateness asks for, if it asks for this one.
    pub(crate) fn asks_for(&self, phase: Phase, rules: &Rules) -> bool {
        let policies = &rules.policies;
        (!self.stale.is_empty() && policies.stale_action == Some(phase))
            || (!self.missing.is_empty() && policies.missing_adapter == phase)
            || (self.overdue && phase == Phase::Failed)
    }

    /// `AdaptersReporting`, for kinds whose configuration looks at the clock.
    pub(super) fn condition(
        &self,
        subject: &Subject<'_>,
        rules: &Rules,
        before: &[ResourceCondition],
        now: Time,
    ) -> Option<ResourceCondition> {
        if !rules.policies.watch_the_clock() {
            return None;
        }
        let mut late = Vec::new();
        let mut reason = "AdaptersReporting";
        if let (Some(threshold), [_, ..]) = (&rules.policies.stale_threshold, &*self.stale) {
            reason = "AdaptersStale";
            let (text, names) = (&threshold.text, listed(&self.stale));
            late.push(format!("No report within {text} from [{names}]"));
        }
        if let (Some(timeout), true) = (&rules.policies.timeout, self.overdue) {
            reason = "AdaptersOverdue";
            let (text, names) = (&timeout.text, listed(&self.missing));
            let generation = subject.generation();
            late.push(format!(
                "No report on generation {generation} within {text} from required adapters [{names}]"
            ));
        }
        let status = ConditionStatus::from(late.is_empty());
        let message = match late.is_empty() {
            true => "Adapters report in time".to_owned(),
            false => late.join(". "),
        };
        let words = Words {
            reason: reason.to_owned(),
            message,
        };
        Some(computed(
            types::ADAPTERS_REPORTING,
            status,
            words,
            subject,
            before,
            now,
        ))
    }
}

fn listed(names: &[&AdapterName]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(", ")
}
