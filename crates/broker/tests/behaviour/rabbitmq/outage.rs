//! A server that goes away and comes back, with everything durable still there.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hyperfleet_broker::{Broker, SubscribeOptions, Subscriber};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::server::Server;
use super::{config, connect};
use crate::bench::{Case, PATIENCE, Promise, event, next};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        a_restart_of_the_server_loses_nothing,
        a_server_stopped_and_restarted_under_publishing_delivers_all_it_confirmed,
        connections_closed_by_the_server_are_made_again,
    ]
}

/// A server takes a while to start.
const LONG: Duration = Duration::from_secs(180);

/// A server that may be harmed, by one trial at a time.
static SERVER: Mutex<Option<Server>> = Mutex::const_new(None);

/// Nothing may outlive the tests.
pub(super) fn stop() {
    *SERVER.blocking_lock() = None;
}

/// Work on the server that takes its time.
async fn with_server(
    server: &mut Option<Server>,
    work: impl FnOnce(&mut Server) + Send + 'static,
) -> String {
    let before = server.take();
    let working = spawn_blocking(move || {
        let mut server = before.unwrap_or_else(Server::start);
        work(&mut server);
        server
    });
    server.insert(working.await.unwrap()).url().to_owned()
}

async fn publish(broker: &Broker, topic: &str, ids: &[&str]) {
    for id in ids {
        broker.publisher().publish(topic, &event(id)).await.unwrap();
    }
}

async fn publish_when_connected(broker: &Broker, topic: &str, id: &str) {
    let publishing = async {
        while broker.publisher().publish(topic, &event(id)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, publishing).await.unwrap();
}

async fn take(subscriber: &mut Box<dyn Subscriber>, ids: &[&str]) {
    let mut left: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    while !left.is_empty() {
        let delivery = next(subscriber).await;
        left.remove(&delivery.event.id);
        delivery.ack().await;
    }
}

async fn a_restart_of_the_server_loses_nothing(case: Case) {
    let topic = case.topic.as_str();
    let mut server = SERVER.lock().await;
    let url = with_server(&mut server, |_| {}).await;
    let broker = connect(&config(&url, |_| {})).await;
    let options = SubscribeOptions {
        concurrency: 3,
        ..SubscribeOptions::default()
    };
    let mut subscriber = broker.subscribe(topic, "dns", options).await.unwrap();
    let mut health = subscriber.health();

    publish(
        &broker,
        topic,
        &["dead", "delayed", "held", "waiting-1", "waiting-2"],
    )
    .await;
    next(&mut subscriber).await.dead_letter("no").await;
    next(&mut subscriber)
        .await
        .nack(Duration::from_secs(3), "later")
        .await;
    let held = next(&mut subscriber).await;
    assert_eq!(held.event.id, "held");

    with_server(&mut server, Server::stop).await;
    held.ack().await;
    let error = broker
        .publisher()
        .publish(topic, &event("x"))
        .await
        .unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(broker.publisher().health().await.is_err());
    assert!(health.check().is_err());

    with_server(&mut server, Server::start_again).await;
    timeout(LONG, health.wait()).await.unwrap().unwrap();
    // The two connections come back each in its own time.
    let publishing = async {
        while broker
            .publisher()
            .publish(topic, &event("after"))
            .await
            .is_err()
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(PATIENCE, publishing).await.unwrap();
    take(
        &mut subscriber,
        &["delayed", "held", "waiting-1", "waiting-2", "after"],
    )
    .await;
    let dead = broker.list_dead_letters(topic, "dns", 10).await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].event().unwrap().id, "dead");
    subscriber.close().await;
    broker.close().await;
}

/// What was confirmed, what failed, in order; stops when told.
async fn publish_without_pause(
    broker: Broker,
    topic: String,
    name: &'static str,
    stop: CancellationToken,
) -> (Vec<String>, Vec<String>) {
    let publisher = broker.publisher();
    let (mut confirmed, mut failed) = (Vec::new(), Vec::new());
    for n in 0.. {
        if stop.is_cancelled() {
            break;
        }
        let id = format!("{name}-{n}");
        let event = event(&id);
        let publishing = publisher.publish(&topic, &event);
        match timeout(PATIENCE, publishing)
            .await
            .expect("no publish hangs")
        {
            Ok(()) => confirmed.push(id),
            Err(error) => {
                assert!(error.is_retryable(), "{error}");
                failed.push(id);
                // A caller's own pace while the server is away.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    (confirmed, failed)
}

async fn a_server_stopped_and_restarted_under_publishing_delivers_all_it_confirmed(case: Case) {
    let topic = case.topic.as_str();
    let mut server = SERVER.lock().await;
    let url = with_server(&mut server, |_| {}).await;
    let broker = connect(&config(&url, |_| {})).await;
    let options = SubscribeOptions {
        concurrency: 50,
        ..SubscribeOptions::default()
    };
    let mut subscriber = broker.subscribe(topic, "dns", options).await.unwrap();
    let stop = CancellationToken::new();
    let publishers = ["x", "y", "z"].map(|name| {
        let (broker, topic) = (broker.clone(), topic.to_owned());
        tokio::spawn(publish_without_pause(broker, topic, name, stop.clone()))
    });
    // Work goes on while the server is taken away and given back.
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let outage = async {
        with_server(&mut server, Server::stop).await;
        with_server(&mut server, Server::start_again).await;
        publish_when_connected(&broker, topic, "back").await;
    };
    tokio::pin!(outage);
    loop {
        tokio::select! {
            biased;
            () = &mut outage => break,
            delivery = subscriber.next() => {
                let delivery = delivery.expect("an open subscriber");
                *seen.entry(delivery.event.id.clone()).or_default() += 1;
                delivery.ack().await;
            }
        }
    }
    stop.cancel();
    let (mut confirmed, mut failed) = (BTreeSet::new(), 0);
    for publisher in publishers {
        let (taken, refused) = publisher.await.unwrap();
        confirmed.extend(taken);
        failed += refused.len();
    }
    assert!(failed > 0, "the outage was not felt");
    while !confirmed.iter().all(|id| seen.contains_key(id)) {
        let delivery = next(&mut subscriber).await;
        *seen.entry(delivery.event.id.clone()).or_default() += 1;
        delivery.ack().await;
    }
    // What was in hand when the server went comes once more, nothing else does.
    let doubled = seen.values().filter(|times| **times > 1).count();
    assert!(
        doubled <= 50 && seen.values().all(|times| *times <= 2),
        "{doubled} doubled"
    );
    assert_eq!(broker.list_dead_letters(topic, "dns", 10).await, Ok(vec![]));
    subscriber.close().await;
    broker.close().await;
}

async fn connections_closed_by_the_server_are_made_again(case: Case) {
    let topic = case.topic.as_str();
    let mut server = SERVER.lock().await;
    let url = with_server(&mut server, |_| {}).await;
    let broker = connect(&config(&url, |_| {})).await;
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe(topic, "dns", options).await.unwrap();
    let (publisher, health) = (broker.publisher(), subscriber.health());
    publish(&broker, topic, &["held"]).await;
    let held = next(&mut subscriber).await;
    with_server(&mut server, |server| {
        server.control(&["close_all_connections", "maintenance"]);
    })
    .await;
    held.ack().await;
    publish_when_connected(&broker, topic, "after").await;
    take(&mut subscriber, &["held", "after"]).await;
    assert_eq!((publisher.health().await, health.check()), (Ok(()), Ok(())));
    subscriber.close().await;
    broker.close().await;
}
