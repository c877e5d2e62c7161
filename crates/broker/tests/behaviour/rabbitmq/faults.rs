//! Connections that break.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use hyperfleet_broker::{Broker, SubscribeOptions, Subscriber};
use tokio::time::timeout;

use super::proxy::Proxy;
use super::{config, connect, url};
use crate::bench::{Case, PATIENCE, Promise, assert_quiet, event, next, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        a_connection_cut_while_publishing_loses_no_confirmed_event,
        a_consumer_cut_off_gets_its_unsettled_messages_again,
        acks_that_race_with_a_cut_all_end,
        a_killed_consumer_leaves_everything_to_the_next_one,
        a_subscriber_dropped_without_close_gives_its_messages_back,
        a_delayed_message_survives_a_cut_and_still_waits_its_time,
        publishing_fails_at_once_while_the_server_is_away_and_works_when_it_is_back,
        a_server_that_is_away_at_the_start_is_waited_for,
        no_error_shows_the_password,
    ]
}

async fn behind_proxy() -> (Proxy, Broker) {
    let proxy = Proxy::to(url()).await;
    let broker = connect(&config(proxy.url(), |_| {})).await;
    (proxy, broker)
}

async fn subscribe(broker: &Broker, topic: &str, concurrency: usize) -> Box<dyn Subscriber> {
    let options = SubscribeOptions {
        concurrency,
        drain_timeout: Duration::from_millis(100),
        ..SubscribeOptions::default()
    };
    timeout(PATIENCE, broker.subscribe(topic, "dns", options))
        .await
        .unwrap()
        .unwrap()
}

async fn publish_until_taken(broker: &Broker, topic: &str, id: &str) -> u32 {
    let publisher = broker.publisher();
    let mut failures = 0;
    loop {
        match publisher.publish(topic, &event(id)).await {
            Ok(()) => return failures,
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                failures += 1;
                // Not a wait for anything: a caller's own pace.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

async fn a_connection_cut_while_publishing_loses_no_confirmed_event(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 100).await;
    let (proxy, broker) = behind_proxy().await;
    let ids: Vec<_> = (0..600).map(|n| format!("e-{n}")).collect();
    let publishing = async {
        let mut failures = 0;
        for (round, chunk) in ids.chunks(200).enumerate() {
            let calls = chunk
                .iter()
                .map(|id| publish_until_taken(&broker, &case.topic, id));
            let cutting = async {
                for _ in 0..round {
                    tokio::task::yield_now().await;
                }
                proxy.cut();
            };
            let (counts, ()) = tokio::join!(join_all(calls), cutting);
            failures += counts.iter().sum::<u32>();
        }
        failures
    };
    let failures = timeout(PATIENCE, publishing)
        .await
        .expect("publishing in time");
    assert!(failures > 0, "the cuts came too late to be felt");
    let mut seen = BTreeSet::new();
    while seen.len() < ids.len() {
        seen.extend(take_ids(&mut subscriber, 1).await);
    }
}

async fn a_consumer_cut_off_gets_its_unsettled_messages_again(case: Case) {
    let (proxy, broker) = behind_proxy().await;
    let mut subscriber = subscribe(&broker, &case.topic, 2).await;
    let mut health = subscriber.health();
    case.publish(["a", "b", "c"]).await;
    let (first, second) = (next(&mut subscriber).await, next(&mut subscriber).await);
    proxy.cut();
    // Both settlements come too late, and must neither fail nor hang.
    timeout(PATIENCE, first.ack()).await.unwrap();
    timeout(PATIENCE, second.nack(Duration::from_secs(1), "later"))
        .await
        .unwrap();
    let mut seen = BTreeSet::new();
    while seen.len() < 3 {
        let delivery = next(&mut subscriber).await;
        seen.insert(delivery.event.id.clone());
        delivery.ack().await;
    }
    assert_eq!(timeout(PATIENCE, health.wait()).await.unwrap(), Ok(()));
}

/// An ack that never ended would keep its place among those that are handled at once: for ever.
async fn acks_that_race_with_a_cut_all_end(case: Case) {
    const AT_ONCE: u64 = 8;
    let (proxy, broker) = behind_proxy().await;
    let mut subscriber = subscribe(&broker, &case.topic, 8).await;
    for round in 0..12 {
        let ids: Vec<_> = (0..AT_ONCE).map(|n| format!("e-{round}-{n}")).collect();
        case.publish(ids.iter().map(String::as_str)).await;
        let mut acks = Vec::new();
        for place in 0..AT_ONCE {
            let delivery = next(&mut subscriber).await;
            acks.push(tokio::spawn(async move {
                tokio::time::sleep(Duration::from_micros(200 * place)).await;
                delivery.ack().await;
            }));
        }
        tokio::time::sleep(Duration::from_micros(120 * round)).await;
        proxy.cut();
        for ack in acks {
            timeout(PATIENCE, ack).await.expect("an ack ends").unwrap();
        }
    }
}

async fn a_killed_consumer_leaves_everything_to_the_next_one(case: Case) {
    let (proxy, broker) = behind_proxy().await;
    let mut doomed = subscribe(&broker, &case.topic, 3).await;
    case.publish(["a", "b", "c"]).await;
    let held = (next(&mut doomed).await, next(&mut doomed).await);
    // From here on nothing this consumer does reaches the server.
    proxy.down();
    let mut successor = case.subscribe_many("dns", 3).await;
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let delivery = next(&mut successor).await;
        assert_eq!(
            delivery.attempt, 2,
            "a returned message has been delivered before"
        );
        seen.insert(delivery.event.id.clone());
        delivery.ack().await;
    }
    assert_eq!(seen.len(), 3);
    drop(held);
    timeout(PATIENCE, doomed.close())
        .await
        .expect("closing without a server");
    assert_quiet(&mut successor).await;
}

async fn a_subscriber_dropped_without_close_gives_its_messages_back(case: Case) {
    let mut dropped = case.subscribe_many("dns", 2).await;
    case.publish(["a", "b"]).await;
    let held = next(&mut dropped).await;
    drop(dropped);
    let mut successor = case.subscribe("dns").await;
    let mut seen = take_ids(&mut successor, 2).await;
    seen.sort();
    assert_eq!(seen, ["a", "b"]);
    timeout(PATIENCE, held.ack())
        .await
        .expect("a late ack does not hang");
}

async fn a_delayed_message_survives_a_cut_and_still_waits_its_time(case: Case) {
    let (proxy, broker) = behind_proxy().await;
    let mut subscriber = subscribe(&broker, &case.topic, 1).await;
    case.publish(["a"]).await;
    let start = tokio::time::Instant::now();
    let delay = Duration::from_secs(2);
    next(&mut subscriber).await.nack(delay, "later").await;
    // With one message ahead, the next one comes when the server knows that the first is settled;
    // a cut before that would rightly bring the first one again at once.
    case.publish(["b"]).await;
    next(&mut subscriber).await.ack().await;
    proxy.cut();
    let mut again = next(&mut subscriber).await;
    while again.event.id != "a" {
        again.ack().await;
        again = next(&mut subscriber).await;
    }
    assert!(start.elapsed() >= delay, "{:?}", start.elapsed());
    assert!(again.attempt >= 2);
    again.ack().await;
}

async fn publishing_fails_at_once_while_the_server_is_away_and_works_when_it_is_back(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    let (proxy, broker) = behind_proxy().await;
    let publisher = broker.publisher();
    publisher
        .publish(&case.topic, &event("before"))
        .await
        .unwrap();
    proxy.down();
    let error = loop {
        // The first may still be on its way into the dead connection.
        match timeout(PATIENCE, publisher.publish(&case.topic, &event("during")))
            .await
            .unwrap()
        {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert!(error.is_retryable(), "{error}");
    assert!(publisher.health().await.is_err());
    proxy.up();
    let after = publish_until_taken(&broker, &case.topic, "after");
    timeout(PATIENCE, after)
        .await
        .expect("to be connected again");
    assert_eq!(publisher.health().await, Ok(()));
    let mut seen = take_ids(&mut subscriber, 1).await;
    while seen.last().unwrap() != "after" {
        seen.extend(take_ids(&mut subscriber, 1).await);
    }
    assert_eq!(seen[0], "before");
}

async fn a_server_that_is_away_at_the_start_is_waited_for(case: Case) {
    let proxy = Proxy::to(url()).await;
    proxy.down();
    let broker = connect(&config(proxy.url(), |_| {})).await;
    assert!(broker.publisher().health().await.is_err());
    let subscribing = subscribe(&broker, &case.topic, 1);
    tokio::pin!(subscribing);
    assert!(
        timeout(Duration::from_millis(300), &mut subscribing)
            .await
            .is_err()
    );
    proxy.up();
    let mut subscriber = subscribing.await;
    case.publish(["a"]).await;
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}

async fn no_error_shows_the_password(_case: Case) {
    let broker = connect(&config("amqp://me:sekret@127.0.0.1:1/%2f", |_| {})).await;
    let publisher = broker.publisher();
    let health = publisher.health().await.unwrap_err();
    let error = publisher.publish("t", &event("a")).await.unwrap_err();
    let listed = broker.list_dead_letters("t", "s", 1).await.unwrap_err();
    for text in [
        health,
        error.to_string(),
        listed.to_string(),
        format!("{error:?}"),
    ] {
        assert!(
            text.contains("me:***@127.0.0.1:1") && !text.contains("sekret"),
            "{text}"
        );
    }
}
