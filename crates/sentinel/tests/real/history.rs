//! What was changed, what was told, and whether the second follows from the first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use hyperfleet_broker::{Event, PublishError, Publisher};

/// A version of a resource: its id and its generation.
pub(crate) type Version = (String, i64);

#[derive(Default)]
pub(crate) struct History {
    changes: Mutex<Vec<(Version, Instant)>>,
    told: Mutex<Vec<Told>>,
}

#[derive(Clone)]
struct Told {
    version: Version,
    reason: String,
    by: usize,
    at: Instant,
    sent: Option<DateTime<Utc>>,
}

impl History {
    pub(crate) fn changed(&self, id: &str, generation: i64) {
        let change = ((id.to_owned(), generation), Instant::now());
        self.changes.lock().unwrap().push(change);
    }

    pub(crate) fn told(&self, by: usize, event: &Event) {
        let told = Told {
            version: (
                event.data["id"].as_str().unwrap().to_owned(),
                event.data["generation"].as_i64().unwrap(),
            ),
            reason: event.data["reason"].as_str().unwrap().to_owned(),
            by,
            at: Instant::now(),
            sent: event.time,
        };
        self.told.lock().unwrap().push(told);
    }

    /// Changes that no event has followed: none about that version or a later one of the resource.
    pub(crate) fn missing(&self) -> Vec<Version> {
        let mut latest: BTreeMap<String, i64> = BTreeMap::new();
        for told in self.told.lock().unwrap().iter() {
            let known = latest.entry(told.version.0.clone()).or_default();
            *known = told.version.1.max(*known);
        }
        let changes = self.changes.lock().unwrap();
        let versions = changes.iter().map(|(version, _)| version.clone());
        versions
            .filter(|(id, generation)| latest.get(id).is_none_or(|latest| latest < generation))
            .collect()
    }

    /// Waits until every change was followed by an event.
    pub(crate) async fn complete(&self) {
        until("every change to be followed by an event", || {
            self.missing().is_empty()
        })
        .await;
    }

    /// How many changes, how many events, and how many events the most talked-about version had, with all of them.
    pub(crate) fn summary(&self) -> (usize, usize, usize, String) {
        let told = self.told.lock().unwrap();
        let mut per_version: BTreeMap<&Version, Vec<&Told>> = BTreeMap::new();
        for told in told.iter() {
            per_version.entry(&told.version).or_default().push(told);
        }
        let most = per_version.values().max_by_key(|events| events.len());
        let shown = most.map(|events| {
            let first = events[0].at;
            events
                .iter()
                .map(|told| format!("{} by {} after {:?}", told.reason, told.by, told.at - first))
                .collect::<Vec<_>>()
                .join(", ")
        });
        let changes = self.changes.lock().unwrap().len();
        let most = most.map_or(0, Vec::len);
        (changes, told.len(), most, shown.unwrap_or_default())
    }

    /// How many of the tellers have told something.
    pub(crate) fn tellers(&self) -> usize {
        let told = self.told.lock().unwrap();
        let mut tellers: Vec<usize> = told.iter().map(|told| told.by).collect();
        tellers.sort_unstable();
        tellers.dedup();
        tellers.len()
    }

    /// The most events that were sent within one second, by the times they carry: when they arrive depends on who
    /// receives them.
    pub(crate) fn busiest_second(&self) -> usize {
        let told = self.told.lock().unwrap();
        let mut sent: Vec<DateTime<Utc>> = told.iter().filter_map(|told| told.sent).collect();
        sent.sort_unstable();
        let within = |first: &DateTime<Utc>| {
            let end = *first + TimeDelta::seconds(1);
            sent.partition_point(|time| *time < end) - sent.partition_point(|time| time < first)
        };
        sent.iter().map(within).max().unwrap_or(0)
    }

    /// Fails when a version had more events than that.
    pub(crate) fn no_storm(&self, most_per_version: usize) {
        let (changes, events, most, shown) = self.summary();
        println!("{changes} changes, {events} events, at most {most} for one version");
        assert!(most <= most_per_version, "{most} events: {shown}");
    }
}

/// Writes down what one replica publishes.
pub(crate) struct Recorder {
    pub(crate) history: Arc<History>,
    pub(crate) by: usize,
}

#[async_trait]
impl Publisher for Recorder {
    async fn publish(&self, _: &str, event: &Event) -> Result<(), PublishError> {
        self.history.told(self.by, event);
        Ok(())
    }

    async fn health(&self) -> Result<(), String> {
        Ok(())
    }

    async fn close(&self) {}
}

/// Waits for a condition, for two minutes at most.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "still waiting for {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
