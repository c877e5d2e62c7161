//! Events per second through a broker: `throughput URL [EVENTS]`.
//!
//! ```sh
//! dev/rabbitmq run --dir /tmp/mq --port 25672 < <(sleep infinity) &
//! cargo run --release -p hyperfleet-broker --example throughput amqp://127.0.0.1:25672 50000
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, SubscribeOptions};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: throughput URL [EVENTS]")?;
    let count: usize = arguments.next().map_or(Ok(10_000), |n| n.parse())?;
    let config = BrokerConfig::from_url(&url)?;
    let broker = Broker::connect(&config, Metrics::new(Default::default())?).await?;
    let topic = format!("throughput-{}", std::process::id());
    let options = SubscribeOptions {
        concurrency: 100,
        ..SubscribeOptions::default()
    };
    let mut subscriber = broker.subscribe(&topic, "all", options).await?;

    let publisher = broker.publisher();
    let one = |n: usize| {
        let (publisher, topic) = (&publisher, &topic);
        async move {
            let data = json!({"id": n, "kind": "Cluster", "href": "/clusters/x", "generation": 1});
            let id = format!("event-{n}");
            let event = Event::reconcile("Cluster", "throughput", data, chrono::Utc::now(), id);
            publisher.publish(topic, &event).await
        }
    };
    let taking = tokio::spawn(async move {
        let (mut first, mut taken) = (None, 0);
        while taken < count {
            let Some(delivery) = subscriber.next().await else {
                break;
            };
            first.get_or_insert_with(Instant::now);
            delivery.ack().await;
            taken += 1;
        }
        let took = first.map_or(Duration::ZERO, |first| first.elapsed());
        subscriber.close().await;
        took
    });

    for in_flight in [1, 1000] {
        let part = if in_flight == 1 {
            count / 10
        } else {
            count - count / 10
        };
        let start = Instant::now();
        let calls = stream::iter(0..part).map(one).buffer_unordered(in_flight);
        calls.try_collect::<Vec<()>>().await?;
        report(
            &format!("published, {in_flight} at a time"),
            part,
            start.elapsed(),
        );
    }
    report("consumed, 100 at a time", count, taking.await?);
    broker.close().await;
    Ok(())
}

fn report(what: &str, count: usize, took: Duration) {
    let rate = count as f64 / took.as_secs_f64();
    println!("{what}: {count} events in {took:.2?}, {rate:.0} per second");
}
