//! A Sentinel with everything around it, and time that moves only when the test says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use hyperfleet_broker::config::MemoryConfig;
use hyperfleet_broker::{Broker, Event, MemoryBroker, Metrics, SubscribeOptions};
use hyperfleet_core::time::Time;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_sentinel::{Clock, Handle, Options, Registrar, Sentinel, SentinelError};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::publisher::Moody;

pub(crate) struct World {
    pub(crate) publisher: Arc<Moody>,
    pub(crate) handle: Handle,
    pub(crate) registry: MetricsRegistry,
    pub(crate) cancel: CancellationToken,
    pub(crate) task: JoinHandle<Result<(), SentinelError>>,
    events: Arc<Mutex<Vec<(f64, Event)>>>,
    start: Instant,
    /// Time does not run by itself as long as a blocking task does.
    _still: std::sync::mpsc::Sender<()>,
}

/// The time tests begin at.
pub(crate) fn begin() -> Time {
    "2026-01-01T12:00:00Z"
        .parse::<chrono::DateTime<Utc>>()
        .unwrap()
}

pub(crate) fn at(seconds: f64) -> Time {
    begin() + TimeDelta::milliseconds(millis(seconds) as i64)
}

fn millis(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

/// A cluster created at the beginning that nobody has reported on.
pub(crate) fn cluster(id: &str) -> Value {
    json!({
        "id": id, "kind": "Cluster", "name": id, "href": format!("/api/hyperfleet/v1/clusters/{id}"),
        "generation": 1, "labels": {}, "created_time": at(0.0), "updated_time": at(0.0),
        "status": {"phase": "Pending", "conditions": [
            {"type": "Reconciled", "status": "False", "observed_generation": 1, "last_updated_time": at(0.0)},
        ]},
    })
}

/// The same after a report.
pub(crate) fn reported(mut cluster: Value, phase: &str, seconds: f64) -> Value {
    let ready = if phase == "Ready" { "True" } else { "False" };
    cluster["status"] = json!({"phase": phase, "conditions": [
        {"type": "Reconciled", "status": ready, "observed_generation": cluster["generation"],
         "last_updated_time": at(seconds)},
    ]});
    cluster
}

/// The same after its owner changed it.
pub(crate) fn changed(mut cluster: Value, generation: i64, seconds: f64) -> Value {
    cluster["generation"] = json!(generation);
    cluster["updated_time"] = json!(at(seconds));
    cluster["status"]["conditions"][0]["last_updated_time"] = json!(at(seconds));
    cluster["status"]["conditions"][0]["status"] = json!("False");
    cluster
}

pub(crate) fn options(url: &str) -> Options {
    let mut options = Options::for_kinds(url, []);
    options.resource_type = Some("clusters".to_owned());
    // Exact moments, unless a test is about them.
    options.jitter = 0.0;
    options
}

impl World {
    pub(crate) async fn of(api: Api) -> World {
        World::with(api, |_| {}).await
    }

    /// Waits for the first pass, unless the API is away.
    pub(crate) async fn with(api: Api, change: impl FnOnce(&mut Options)) -> World {
        World::with_registrar(api, change, None).await
    }

    /// With replicas that meet elsewhere.
    pub(crate) async fn with_registrar(
        api: Api,
        change: impl FnOnce(&mut Options),
        registrar: Option<Arc<dyn Registrar>>,
    ) -> World {
        let (still, ended) = std::sync::mpsc::channel();
        tokio::task::spawn_blocking(move || {
            let _: Result<(), _> = ended.recv();
        });
        let mut options = options(&api.serve().await);
        change(&mut options);
        let memory = MemoryBroker::new(
            MemoryConfig::default(),
            Metrics::new(HashMap::new()).unwrap(),
        );
        let broker = Broker::from_memory(memory);
        let publisher = Moody::new(broker.publisher());
        let build = Build {
            version: "1".to_owned(),
            commit: String::new(),
        };
        let registry = MetricsRegistry::new(build).unwrap();
        let start = Instant::now();
        let clock = Clock::new(move || begin() + TimeDelta::from_std(start.elapsed()).unwrap());
        let metrics = registry.component("sentinel", "sentinel").unwrap();
        let client = options.client().unwrap();
        let mut sentinel =
            Sentinel::new(&options, client, publisher.clone(), &metrics, clock).unwrap();
        if let Some(registrar) = registrar {
            sentinel = sentinel.with_registrar(&registrar);
        }
        let events = Arc::default();
        for topic in [
            "hyperfleet.clusters.changed.v1",
            "hyperfleet.nodepools.changed.v1",
        ] {
            collect(&broker, topic, Arc::clone(&events), start).await;
        }
        let handle = sentinel.handle();
        let cancel = CancellationToken::new();
        let task = tokio::spawn(sentinel.run(cancel.clone()));
        World {
            publisher,
            handle,
            registry,
            cancel,
            task,
            events,
            start,
            _still: still,
        }
    }

    /// Lets everybody work until the condition holds.
    pub(crate) async fn until(&self, what: &str, mut holds: impl FnMut(&World) -> bool) {
        let started = std::time::Instant::now();
        while !holds(self) {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "still not: {what}; {:?}",
                self.handle.status()
            );
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn synced(&self) {
        self.passes(1).await;
        self.until("nothing pending", |world| {
            world.handle.status().iter().all(|kind| kind.pending == 0)
        })
        .await;
        self.let_work().await;
    }

    pub(crate) async fn passes(&self, count: u32) {
        self.until("passes", |world| {
            world
                .handle
                .status()
                .iter()
                .all(|kind| kind.passes >= count)
        })
        .await;
    }

    /// Lets everybody work for a while without time passing.
    pub(crate) async fn let_work(&self) {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    /// Lets time pass, in steps short enough that everything happens at its time.
    pub(crate) async fn advance(&self, seconds: f64) {
        let target = self.millis() + millis(seconds);
        while self.millis() < target {
            let boundary = self.millis() / 500 * 500 + 500;
            self.step(boundary.min(target) - self.millis()).await;
        }
    }

    /// Lets time pass at once: what was due in between happens at the end.
    pub(crate) async fn jump(&self, seconds: f64) {
        self.step(millis(seconds)).await;
    }

    async fn step(&self, millis: u64) {
        tokio::time::advance(Duration::from_millis(millis)).await;
        self.let_work().await;
    }

    fn millis(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    pub(crate) fn events(&self) -> Vec<(f64, Event)> {
        self.events.lock().unwrap().clone()
    }

    /// When and why, rounded to tenths of a second.
    pub(crate) fn log(&self) -> Vec<(f64, String)> {
        let events = self.events();
        let line = |(at, event): &(f64, Event)| {
            (
                (at * 10.0).floor() / 10.0,
                event.data["reason"].as_str().unwrap_or_default().to_owned(),
            )
        };
        events.iter().map(line).collect()
    }

    pub(crate) async fn metrics(&self) -> String {
        self.registry.scrape().await.unwrap()
    }

    pub(crate) async fn stop(self) {
        self.cancel.cancel();
        self.task.await.unwrap().unwrap();
    }

    /// Ends it at once: it would wait for others to take over.
    pub(crate) fn abandon(self) {
        self.task.abort();
    }
}

async fn collect(
    broker: &Broker,
    topic: &str,
    events: Arc<Mutex<Vec<(f64, Event)>>>,
    start: Instant,
) {
    let options = SubscribeOptions {
        concurrency: 1000,
        ..SubscribeOptions::default()
    };
    let mut subscriber = broker.subscribe(topic, "test", options).await.unwrap();
    tokio::spawn(async move {
        while let Some(delivery) = subscriber.next().await {
            let event = delivery.event.clone();
            delivery.ack().await;
            events
                .lock()
                .unwrap()
                .push((start.elapsed().as_secs_f64(), event));
        }
    });
}
