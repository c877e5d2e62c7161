//! The in-process broker, and what only it can be asked.

use std::time::Duration;

use hyperfleet_broker::config::MemoryConfig;
use hyperfleet_broker::{Broker, MemoryBroker, Metrics, PublishError, SubscribeOptions};
use tokio::time::Instant;

use crate::bench::{Bench, BoxFuture, Case, Fixture, Promise, event, next, take_ids};
use crate::promise;

pub(crate) struct Memory;

/// Small enough to be filled, large enough for the common promises.
const CAPACITY: usize = 1000;

impl Bench for Memory {
    fn broker(&self, metrics: Metrics) -> BoxFuture<'_, Fixture> {
        let config = MemoryConfig {
            capacity: CAPACITY,
            dead_letter_capacity: 10,
            publish_timeout_ms: 5_000,
        };
        let memory = MemoryBroker::new(config, metrics);
        let broker = Broker::from_memory(memory.clone());
        let publish_raw = Box::new(move |topic: String, body: Vec<u8>| {
            let memory = memory.clone();
            Box::pin(async move { memory.publish_raw(&topic, &body).await.unwrap() })
                as BoxFuture<'static, ()>
        });
        Box::pin(async {
            Fixture {
                broker,
                publish_raw,
            }
        })
    }

    fn simulated_time(&self) -> bool {
        true
    }
}

pub(crate) fn promises() -> Vec<Promise> {
    promise![
        a_delayed_message_comes_exactly_at_its_time,
        a_full_subscription_holds_the_publisher_up,
        a_subscription_that_stays_full_fails_the_publish_everywhere,
        a_message_in_work_or_delayed_keeps_its_place,
        the_oldest_dead_letter_makes_room,
        close_gives_up_on_a_consumer_that_never_settles,
    ]
}

async fn a_delayed_message_comes_exactly_at_its_time(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    let delay = Duration::from_secs(3600);
    next(&mut subscriber).await.nack(delay, "later").await;
    let start = Instant::now();
    let again = subscriber.next().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 3600);
    again.ack().await;
}

async fn fill(case: &Case) {
    for n in 0..CAPACITY {
        case.publish([format!("e-{n}").as_str()]).await;
    }
}

async fn a_full_subscription_holds_the_publisher_up(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    fill(&case).await;
    let publisher = case.broker.publisher();
    let topic = case.topic.clone();
    let waiting = tokio::spawn(async move { publisher.publish(&topic, &event("last")).await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    take_ids(&mut subscriber, 1).await;
    waiting.await.unwrap().unwrap();
    let rest = take_ids(&mut subscriber, CAPACITY).await;
    assert_eq!(rest.last().map(String::as_str), Some("last"));
}

async fn a_subscription_that_stays_full_fails_the_publish_everywhere(case: Case) {
    let _full = case.subscribe("dns").await;
    fill(&case).await;
    let mut other = case.subscribe("other").await;
    let error = case
        .broker
        .publisher()
        .publish(&case.topic, &event("x"))
        .await
        .unwrap_err();
    assert!(matches!(error, PublishError::Unconfirmed { .. }) && error.is_retryable());
    assert!(
        error.to_string().contains("full (1000 messages)"),
        "{error}"
    );
    crate::bench::assert_quiet(&mut other).await;
}

async fn a_message_in_work_or_delayed_keeps_its_place(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 2).await;
    fill(&case).await;
    let held = next(&mut subscriber).await;
    next(&mut subscriber)
        .await
        .nack(Duration::from_secs(60), "later")
        .await;
    let publisher = case.broker.publisher();
    assert!(publisher.publish(&case.topic, &event("x")).await.is_err());
    held.ack().await;
    publisher.publish(&case.topic, &event("x")).await.unwrap();
}

async fn the_oldest_dead_letter_makes_room(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    for n in 0..12 {
        case.publish([format!("e-{n}").as_str()]).await;
        next(&mut subscriber).await.dead_letter("no").await;
    }
    let dead = case
        .broker
        .list_dead_letters(&case.topic, "dns", 100)
        .await
        .unwrap();
    assert_eq!(dead.len(), 10);
    assert_eq!(dead[0].event().unwrap().id, "e-2");
}

async fn close_gives_up_on_a_consumer_that_never_settles(case: Case) {
    let options = SubscribeOptions {
        drain_timeout: Duration::from_secs(7),
        ..SubscribeOptions::default()
    };
    let mut subscriber = case.subscribe_with("dns", options).await;
    case.publish(["a"]).await;
    let held = next(&mut subscriber).await;
    let start = Instant::now();
    subscriber.close().await;
    assert_eq!(start.elapsed().as_secs(), 7);
    // What it held is not lost either.
    drop(held);
    let mut successor = case.subscribe("dns").await;
    assert_eq!(take_ids(&mut successor, 1).await, ["a"]);
}
