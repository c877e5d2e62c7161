//! A listener at the broker: which versions of which resources were told of.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, SubscribeOptions, Subscriber};
use tokio::runtime::{Handle, Runtime};

use crate::ledger::Known;
use crate::process::PATIENCE;

const TOPICS: [&str; 2] = [
    "hyperfleet.clusters.changed.v1",
    "hyperfleet.nodepools.changed.v1",
];

/// Listens until it is dropped.
pub struct Events {
    heard: Arc<Mutex<Heard>>,
    broker: Broker,
    runtime: Option<Runtime>,
}

/// What is sent to one topic.
pub struct Listener {
    runtime: Handle,
    heard: Box<dyn Subscriber>,
}

impl Listener {
    /// The next event, if it comes in time.
    pub fn hear(&mut self) -> Result<Event> {
        self.runtime.block_on(async {
            let next = tokio::time::timeout(PATIENCE, self.heard.next()).await?;
            let delivery = next.context("nobody sends any more")?;
            let event = delivery.event.clone();
            delivery.ack().await;
            Ok(event)
        })
    }
}

#[derive(Default)]
struct Heard {
    /// The latest generation of each resource.
    latest: HashMap<String, i64>,
    events: usize,
}

impl Events {
    /// Returns when nothing that is published from then on can be missed.
    pub fn listen(url: &str) -> Result<Events> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let heard = Arc::<Mutex<Heard>>::default();
        let config = BrokerConfig::from_url(url)?;
        let (broker, subscribers) = runtime.block_on(async {
            let broker = Broker::connect(&config, Metrics::new(HashMap::new())?).await?;
            let mut subscribers = Vec::new();
            for topic in TOPICS {
                let options = SubscribeOptions {
                    concurrency: 100,
                    ..SubscribeOptions::default()
                };
                subscribers.push(broker.subscribe(topic, "e2e-history", options).await?);
            }
            anyhow::Ok((broker, subscribers))
        })?;
        for subscriber in subscribers {
            runtime.spawn(write_down(subscriber, Arc::clone(&heard)));
        }
        Ok(Events {
            heard,
            broker,
            runtime: Some(runtime),
        })
    }

    /// Hears what is sent to one more topic, from now on.
    pub fn listen_to(&self, topic: &str) -> Result<Listener> {
        let runtime = self.runtime.as_ref().context("it has ended")?;
        let subscription = format!("e2e-{topic}");
        let options = SubscribeOptions::default();
        let heard = runtime.block_on(self.broker.subscribe(topic, &subscription, options))?;
        Ok(Listener {
            runtime: runtime.handle().clone(),
            heard,
        })
    }

    pub fn publish(&self, topic: &str, event: &Event) -> Result<()> {
        let runtime = self.runtime.as_ref().context("it has ended")?;
        runtime.block_on(self.broker.publisher().publish(topic, event))?;
        Ok(())
    }

    /// How many were heard.
    pub fn count(&self) -> usize {
        self.heard().events
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acknowledged changes that no event has followed: none about that version or a later one.
    pub fn missing(&self, known: &BTreeMap<String, Known>) -> Vec<String> {
        let heard = self.heard();
        let missing = known.iter().filter_map(|(id, one)| {
            // A deletion is a version, too. One that was forced may be over before anybody could be told.
            let wanted = one.generation + i64::from(one.deleted && !one.forced);
            let latest = heard.latest.get(id).copied().unwrap_or_default();
            let told = format!("{}/{} ({id})", one.plural, one.name);
            (latest < wanted).then(|| {
                format!("{told}: generation {wanted} was acknowledged, and the last event was about {latest}")
            })
        });
        missing.collect()
    }
}

async fn write_down(mut subscriber: Box<dyn Subscriber>, heard: Arc<Mutex<Heard>>) {
    while let Some(delivery) = subscriber.next().await {
        let data = &delivery.event.data;
        let id = data["id"].as_str().unwrap_or_default().to_owned();
        let generation = data["generation"].as_i64().unwrap_or_default();
        {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.events += 1;
            let latest = heard.latest.entry(id).or_default();
            *latest = generation.max(*latest);
        }
        delivery.ack().await;
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}
