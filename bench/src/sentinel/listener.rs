//! A consumer that notes when events came, and changes to note them for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use hdrhistogram::Histogram;
use http::Method;
use hyperfleet_broker::{Broker, BrokerConfig, Metrics, SubscribeOptions};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::fleet;
use super::stage::Stage;
use crate::cli::{Mode, SentinelArgs};
use crate::connection::{Call, Connection, Endpoint};

const TOPIC: &str = "hyperfleet.clusters.changed.v1";

pub(super) struct Heard {
    pub(super) id: String,
    pub(super) generation: i64,
    pub(super) reason: String,
    pub(super) at: DateTime<Utc>,
}

pub(super) struct Listener {
    broker: Broker,
    events: mpsc::Receiver<Heard>,
}

impl Listener {
    pub(super) async fn start(url: &str) -> Result<Listener> {
        let config = BrokerConfig::from_url(url)?;
        let broker = Broker::connect(&config, Metrics::new(HashMap::new())?).await?;
        let options = SubscribeOptions {
            concurrency: 1000,
            ..SubscribeOptions::default()
        };
        let mut subscriber = broker.subscribe(TOPIC, "bench", options).await?;
        let (tell, events) = mpsc::channel(1 << 20);
        tokio::spawn(async move {
            while let Some(delivery) = subscriber.next().await {
                let at = Utc::now();
                let data = &delivery.event.data;
                let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
                let heard = Heard {
                    id: text("id"),
                    generation: data["generation"].as_i64().unwrap_or_default(),
                    reason: text("reason"),
                    at,
                };
                delivery.ack().await;
                if tell.send(heard).await.is_err() {
                    return;
                }
            }
        });
        Ok(Listener { broker, events })
    }

    /// The next event, or nothing for a while.
    pub(super) async fn next(&mut self, patience: Duration) -> Option<Heard> {
        let next = tokio::time::timeout(patience, self.events.recv());
        next.await.ok().flatten()
    }

    pub(super) async fn stop(self) {
        self.broker.close().await;
    }
}

/// From the API's time stamp of a change, taken before its commit, to its event in the hands of a consumer.
#[derive(Debug, Serialize)]
pub(super) struct Latencies {
    changes: usize,
    heard: u64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl Latencies {
    pub(super) fn line(&self) -> String {
        format!(
            "p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms ({} of {} heard)",
            self.p50_ms, self.p99_ms, self.max_ms, self.heard, self.changes
        )
    }
}

/// Changes clusters at a steady pace and waits for their events. `pass` is about how long it takes to read the list.
pub(super) async fn changes(
    args: &SentinelArgs,
    stage: &mut Stage,
    pass: Duration,
) -> Result<Latencies> {
    let rate = args.changes_per_second;
    let count = rate * u32::try_from(args.duration.get().as_secs()).unwrap_or(u32::MAX);
    let ids = fleet::some(stage, count.min(args.clusters / 2)).await?;
    let endpoint = Endpoint::parse(&format!("http://127.0.0.1:{}", stage.api_port), &[])?;
    let mut connection = Connection::new(Arc::new(endpoint));
    let mut pace = tokio::time::interval(Duration::from_secs(1) / rate);
    let mut stamped: HashMap<(String, i64), DateTime<Utc>> = HashMap::new();
    for id in &ids {
        pace.tick().await;
        let body = json!({"spec": {"nodes": fastrand::u32(..)}}).to_string();
        let patch = Call::new(Method::PATCH, format!("/clusters/{id}"), body);
        let answer = connection.send(patch).await?;
        ensure!(
            answer.status == 200,
            "a change was refused: {}",
            answer.status
        );
        let changed: Value = serde_json::from_slice(&answer.body)?;
        let time = changed["updated_time"]
            .as_str()
            .context("no updated_time")?;
        let generation = changed["generation"].as_i64().unwrap_or_default();
        stamped.insert((id.clone(), generation), time.parse()?);
    }
    let patience = match args.mode {
        Mode::Feed => Duration::from_secs(10),
        Mode::Poll => pass * 2 + Duration::from_secs(60),
    };
    let changes = stamped.len();
    let mut micros = Histogram::<u64>::new_with_bounds(1, 7_200_000_000, 3)?;
    while !stamped.is_empty() {
        let Some(heard) = stage.listener.next(patience).await else {
            break;
        };
        if let Some(changed) = stamped.remove(&(heard.id, heard.generation)) {
            let took = (heard.at - changed).num_microseconds().unwrap_or(i64::MAX);
            micros.saturating_record(u64::try_from(took.max(1))?);
        }
    }
    let millis = |quantile: f64| micros.value_at_quantile(quantile) as f64 / 1000.0;
    Ok(Latencies {
        changes,
        heard: micros.len(),
        p50_ms: millis(0.5),
        p99_ms: millis(0.99),
        max_ms: micros.max() as f64 / 1000.0,
    })
}
