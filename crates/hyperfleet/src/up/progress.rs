//! How far resources are, adapter by adapter: reports come in, lines for people come out.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hyperfleet_core::phase::IN_PROGRESS_REASONS;
use serde_json::Value;

/// Some resources on their way to Ready.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    resources: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    /// `cluster/demo`
    label: String,
    phase: String,
    since: Duration,
    adapters: BTreeMap<String, Row>,
}

/// One adapter's view of one resource, and since when it is so.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    state: State,
    reason: String,
    message: String,
    since: Duration,
}

/// In the order in which rows are shown: what is done first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Available,
    Failed,
    Unhealthy,
    Working,
    Waiting,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            State::Available => "available",
            State::Failed => "failed",
            State::Unhealthy => "unhealthy",
            State::Working => "working",
            State::Waiting => "waiting",
        })
    }
}

impl Progress {
    /// Begins to watch a resource; the adapters that will report on it are waited for.
    pub(crate) fn watch(&mut self, label: String, adapters: &[String]) -> usize {
        let waiting = || Row {
            state: State::Waiting,
            reason: String::new(),
            message: String::new(),
            since: Duration::ZERO,
        };
        self.resources.push(Watched {
            label,
            phase: String::new(),
            since: Duration::ZERO,
            adapters: adapters
                .iter()
                .map(|name| (name.clone(), waiting()))
                .collect(),
        });
        self.resources.len() - 1
    }

    /// Takes in what is known about a resource, and tells what is new, a line each.
    pub(crate) fn observe(
        &mut self,
        index: usize,
        at: Duration,
        phase: &str,
        statuses: &Value,
    ) -> Vec<String> {
        let Some(watched) = self.resources.get_mut(index) else {
            return Vec::new();
        };
        let mut news = Vec::new();
        let reports = statuses["adapter_statuses"].as_array();
        for report in reports.into_iter().flatten() {
            let Some(name) = report["adapter"].as_str() else {
                continue;
            };
            let mut row = Row::of(report, at);
            match watched.adapters.get(name) {
                Some(known) if known.says_the_same(&row) => row.since = known.since,
                _ => news.push(format!(
                    "{}  {:<18} {:<20} {row}",
                    seconds(at),
                    watched.label,
                    name
                )),
            }
            watched.adapters.insert(name.to_owned(), row);
        }
        if watched.phase != phase {
            phase.clone_into(&mut watched.phase);
            watched.since = at;
            news.push(format!("{}  {:<18} {phase}", seconds(at), watched.label));
        }
        news
    }

    pub(crate) fn all_ready(&self) -> bool {
        self.resources.iter().all(|one| one.phase == "Ready")
    }

    /// The whole picture: a line for each resource and for each adapter.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for watched in &self.resources {
            let since = seconds(watched.since);
            lines.push(format!("{since}  {:<22} {}", watched.label, watched.phase));
            let mut rows: Vec<(&String, &Row)> = watched.adapters.iter().collect();
            rows.sort_by_key(|(name, row)| (row.state, row.since, name.as_str()));
            for (name, row) in rows {
                lines.push(format!("{}    {name:<20} {row}", seconds(row.since)));
            }
        }
        lines
    }
}

impl Row {
    fn of(report: &Value, at: Duration) -> Row {
        let condition = |kind: &str| {
            let conditions = report["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.find(|condition| condition["type"] == kind)
        };
        let holds = |kind: &str| condition(kind).is_some_and(|found| found["status"] == "True");
        let available = condition("Available");
        let text = |key: &str| {
            let text = available.and_then(|found| found[key].as_str());
            text.unwrap_or_default().to_owned()
        };
        let (reason, message) = (text("reason"), text("message"));
        let state = if !holds("Health") {
            State::Unhealthy
        } else if holds("Available") {
            State::Available
        } else if !holds("Applied") {
            State::Waiting
        } else if IN_PROGRESS_REASONS.contains(&reason.as_str()) {
            State::Working
        } else {
            State::Failed
        };
        Row {
            state,
            reason,
            message,
            since: at,
        }
    }

    /// What exactly is waited for changes often, and is no news.
    fn says_the_same(&self, other: &Row) -> bool {
        (self.state, &self.reason) == (other.state, &other.reason)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.reason.as_str(), self.message.as_str()) {
            ("", _) => write!(f, "{}", self.state),
            (reason, "") => write!(f, "{:<10} {reason}", self.state),
            (reason, message) => write!(f, "{:<10} {reason}: {message}", self.state),
        }
    }
}

fn seconds(at: Duration) -> String {
    format!("{:>6.1}s", at.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(adapter: &str, applied: &str, available: (&str, &str), health: &str) -> Value {
        json!({"adapter": adapter, "conditions": [
            {"type": "Applied", "status": applied},
            {"type": "Available", "status": available.0, "reason": available.1, "message": "so it is"},
            {"type": "Health", "status": health},
        ]})
    }

    #[test]
    fn only_what_changed_is_told_and_what_is_done_is_shown_first() {
        let mut progress = Progress::default();
        let names = ["dns", "landing-zone", "validation"].map(str::to_owned);
        let cluster = progress.watch("cluster/demo".to_owned(), &names);
        let at = Duration::from_millis;
        let first = json!({"adapter_statuses": [
            report("landing-zone", "True", ("True", "AllResourcesAvailable"), "True"),
            report("validation", "True", ("False", "JobRunning"), "True"),
        ]});
        let news = progress.observe(cluster, at(200), "Provisioning", &first);
        assert_eq!(news.len(), 3, "{news:?}");
        assert_eq!(
            progress.observe(cluster, at(300), "Provisioning", &first),
            Vec::<String>::new()
        );
        let second = json!({"adapter_statuses": [
            report("validation", "True", ("False", "JobFailed"), "True"),
            report("dns", "False", ("False", "TemplateError"), "False"),
        ]});
        progress.observe(cluster, at(400), "Degraded", &second);
        let lines = progress.lines();
        let states: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split_whitespace().nth(2))
            .collect();
        assert_eq!(states, ["Degraded", "available", "failed", "unhealthy"]);
        assert!(!progress.all_ready());
        progress.observe(cluster, at(500), "Ready", &second);
        assert!(progress.all_ready());
    }
}
