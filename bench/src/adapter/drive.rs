//! Events in a closed loop: as many under way as the adapter handles at once, the next for each report.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use chrono::Utc;
use futures::{StreamExt as _, TryStreamExt as _};
use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, Publisher};
use serde_json::json;

use super::api::StandIn;
use crate::figures::{Figures, Tally};
use crate::progress::Progress;
use crate::usage::Watched;

/// An event that is not reported on in this time is lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// The cluster of the events that only ask whether anybody listens.
const FIRST: &str = "first";

/// The cluster of the event behind a backlog.
const LAST: &str = "last";

/// How many events of a backlog are on their way to the broker at a time.
const PUBLISHED_AT_ONCE: usize = 200;

pub(super) struct Driver {
    broker: Broker,
    publisher: Arc<dyn Publisher>,
    topic: &'static str,
    prefix: String,
    at_once: usize,
    sent: u64,
}

impl Driver {
    pub(super) async fn connect(
        url: &str,
        topic: &'static str,
        prefix: &str,
        at_once: usize,
    ) -> Result<Driver> {
        let config = BrokerConfig::from_url(url)?;
        let broker = Broker::connect(&config, Metrics::new(HashMap::new())?).await?;
        Ok(Driver {
            publisher: broker.publisher(),
            broker,
            topic,
            prefix: prefix.to_owned(),
            at_once,
            sent: 0,
        })
    }

    /// Sends events until one is reported on: before the adapter has subscribed, they go nowhere.
    pub(super) async fn wait_for_the_adapter(&mut self, api: &mut StandIn) -> Result<()> {
        let started = Instant::now();
        let id = format!("{}-{FIRST}", self.prefix);
        while started.elapsed() < PATIENCE {
            self.publish(&id).await?;
            let heard = tokio::time::timeout(Duration::from_millis(500), api.reports.recv()).await;
            if heard.is_ok() {
                return Ok(());
            }
        }
        anyhow::bail!("the adapter reports nothing")
    }

    /// Sends `events` about `clusters` in turn. A cluster has one event under way at most.
    pub(super) async fn drive(
        &mut self,
        what: &'static str,
        events: u32,
        clusters: u32,
        api: &mut StandIn,
        watched: Watched,
    ) -> Result<Figures> {
        let mut free: VecDeque<u32> = (0..clusters).collect();
        let mut under_way: HashMap<String, (u32, Instant)> = HashMap::new();
        let mut tally = Tally::new()?;
        let mut progress = Progress::new(what, events);
        let (mut left, mut done) = (events, 0);
        let before = watched.read();
        let started = Instant::now();
        while done < events {
            while left > 0 && under_way.len() < self.at_once {
                let Some(cluster) = free.pop_front() else {
                    break;
                };
                let id = format!("{}-{cluster}", self.prefix);
                under_way.insert(id.clone(), (cluster, Instant::now()));
                self.publish(&id).await?;
                left -= 1;
            }
            let reported = tokio::time::timeout(PATIENCE, api.reports.recv());
            let id = reported.await.context("the adapter reports nothing")?;
            let id = id.context("the generator's API ended")?;
            if id.ends_with(FIRST) {
                continue;
            }
            let (cluster, since) = under_way
                .remove(&id)
                .context("a report nobody waited for")?;
            tally.answered(201, true, since.elapsed());
            free.push_back(cluster);
            done += 1;
            progress.step();
        }
        let elapsed = started.elapsed();
        ensure!(under_way.is_empty(), "events were left over");
        let method = format!("{} at once", self.at_once);
        Ok(tally.figures(what, method, elapsed, before.spent()))
    }

    /// Sends `events` about `clusters` in turn, and one about another cluster behind them, while nobody takes them.
    pub(super) async fn pile_up(&mut self, events: u32, clusters: u32) -> Result<()> {
        let turns = 0..events;
        let all: Vec<Event> = turns
            .map(|turn| self.event(&format!("{}-{}", self.prefix, turn % clusters)))
            .collect();
        let (publisher, topic) = (&self.publisher, self.topic);
        futures::stream::iter(all)
            .map(Ok)
            .try_for_each_concurrent(PUBLISHED_AT_ONCE, |event| async move {
                publisher.publish(topic, &event).await
            })
            .await?;
        self.publish(&format!("{}-{LAST}", self.prefix)).await
    }

    /// How long it takes until the event behind the backlog is reported on.
    pub(super) async fn wait_for_the_last(&self, api: &mut StandIn) -> Result<Duration> {
        let started = Instant::now();
        loop {
            let reported = tokio::time::timeout(PATIENCE, api.reports.recv());
            let id = reported.await.context("the adapter reports nothing")?;
            if id.context("the generator's API ended")?.ends_with(LAST) {
                return Ok(started.elapsed());
            }
        }
    }

    async fn publish(&mut self, id: &str) -> Result<()> {
        let event = self.event(id);
        Ok(self.publisher.publish(self.topic, &event).await?)
    }

    fn event(&mut self, id: &str) -> Event {
        self.sent += 1;
        let data = json!({"id": id, "kind": "Cluster", "generation": 1,
            "href": format!("/api/hyperfleet/v1/clusters/{id}")});
        let unique = format!("{}-{}", self.prefix, self.sent);
        Event::reconcile("Cluster", "bench", data, Utc::now(), unique)
    }

    pub(super) async fn close(self) {
        self.broker.close().await;
    }
}
