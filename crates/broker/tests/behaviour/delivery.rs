//! Who receives what.

use hyperfleet_broker::SubscribeOptions;
use serde_json::json;
use tokio::time::timeout;

use crate::bench::{Case, PATIENCE, Promise, QUIET, assert_quiet, event, next, take_ids};
use crate::promise;

pub(crate) fn promises() -> Vec<Promise> {
    promise![
        an_event_reaches_every_subscription_unchanged,
        a_large_event_arrives_whole,
        consumers_of_one_subscription_share_its_messages,
        an_acked_message_is_not_delivered_again,
        a_subscription_keeps_its_messages_while_it_has_no_consumer,
        no_more_than_the_allowed_deliveries_are_unsettled_at_a_time,
        a_cancelled_wait_loses_nothing,
        close_waits_for_deliveries_handed_out_and_leaves_the_rest,
        a_closed_subscriber_gives_nothing_more,
        a_subscriber_says_that_it_is_well_until_it_is_closed,
        an_empty_name_is_refused,
    ]
}

async fn an_event_reaches_every_subscription_unchanged(case: Case) {
    let mut dns = case.subscribe("dns").await;
    let mut validation = case.subscribe("validation").await;
    let mut event =
        event("e-1").with_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    event.subject = Some("clusters/ü-1".into());
    event.dataschema = Some("https://example.com/schema".into());
    event.extensions.insert("sequence".into(), "7".into());
    case.broker
        .publisher()
        .publish(&case.topic, &event)
        .await
        .unwrap();
    for subscriber in [&mut dns, &mut validation] {
        let delivery = next(subscriber).await;
        assert_eq!(delivery.event, event);
        assert_eq!(delivery.attempt, 1);
        delivery.ack().await;
    }
    assert_eq!(case.counted("messages_published_total"), 1);
    assert_eq!(case.counted("messages_consumed_total"), 2);
    assert_eq!(case.counted("redeliveries_total"), 0);
}

/// Larger than what a broker may carry in one piece.
async fn a_large_event_arrives_whole(case: Case) {
    let mut dns = case.subscribe_many("dns", 2).await;
    let mut large = event("large");
    large.data = json!({"id": "large", "text": "ü".repeat(100_000)});
    let publisher = case.broker.publisher();
    let small = event("small");
    for event in [&large, &small] {
        publisher.publish(&case.topic, event).await.unwrap();
    }
    let mut events = Vec::new();
    for _ in 0..2 {
        let delivery = next(&mut dns).await;
        events.push(delivery.event.clone());
        delivery.ack().await;
    }
    events.sort_by(|one, other| one.id.cmp(&other.id));
    assert!(events == [large, small], "something else arrived");
}

async fn consumers_of_one_subscription_share_its_messages(case: Case) {
    let mut first = case.subscribe("dns").await;
    let mut second = case.subscribe("dns").await;
    case.publish(["a", "b"]).await;
    // Each holds one unsettled, so each must get one of the two.
    let (one, other) = (next(&mut first).await, next(&mut second).await);
    let mut ids = [one.event.id.clone(), other.event.id.clone()];
    ids.sort();
    assert_eq!(ids, ["a", "b"]);
    one.ack().await;
    other.ack().await;
    assert_quiet(&mut first).await;
}

async fn an_acked_message_is_not_delivered_again(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    next(&mut subscriber).await.ack().await;
    subscriber.close().await;
    let mut successor = case.subscribe("dns").await;
    case.publish(["b"]).await;
    assert_eq!(take_ids(&mut successor, 1).await, ["b"]);
}

async fn a_subscription_keeps_its_messages_while_it_has_no_consumer(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    subscriber.close().await;
    drop(subscriber);
    case.publish(["a", "b"]).await;
    let mut successor = case.subscribe("dns").await;
    assert_eq!(take_ids(&mut successor, 2).await, ["a", "b"]);
}

async fn no_more_than_the_allowed_deliveries_are_unsettled_at_a_time(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 2).await;
    case.publish(["a", "b", "c"]).await;
    let (first, second) = (next(&mut subscriber).await, next(&mut subscriber).await);
    assert_quiet(&mut subscriber).await;
    first.ack().await;
    let third = next(&mut subscriber).await;
    assert_eq!(third.event.id, "c");
    second.ack().await;
    third.ack().await;
}

async fn a_cancelled_wait_loses_nothing(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    assert!(timeout(QUIET, subscriber.next()).await.is_err());
    case.publish(["a", "b", "c"]).await;
    let mut seen = Vec::new();
    let all = async {
        while seen.len() < 3 {
            tokio::select! {
                biased;
                () = tokio::task::yield_now() => {}
                delivery = subscriber.next() => {
                    let delivery = delivery.expect("an open subscriber");
                    seen.push(delivery.event.id.clone());
                    delivery.ack().await;
                }
            }
        }
    };
    timeout(PATIENCE, all).await.expect("all three in time");
    assert_eq!(seen, ["a", "b", "c"]);
}

async fn close_waits_for_deliveries_handed_out_and_leaves_the_rest(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 2).await;
    case.publish(["a", "b", "c", "d"]).await;
    let held = next(&mut subscriber).await;
    let closing = tokio::spawn(async move {
        subscriber.close().await;
        assert!(subscriber.next().await.is_none());
    });
    // The close has begun once this task gives way; it cannot end before the settlement.
    tokio::task::yield_now().await;
    assert!(!closing.is_finished());
    held.ack().await;
    timeout(PATIENCE, closing)
        .await
        .expect("closing in time")
        .unwrap();
    let mut successor = case.subscribe("dns").await;
    let mut rest = take_ids(&mut successor, 3).await;
    rest.sort();
    assert_eq!(rest, ["b", "c", "d"]);
}

async fn a_closed_subscriber_gives_nothing_more(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    subscriber.close().await;
    subscriber.close().await;
    assert!(subscriber.next().await.is_none());
}

async fn a_subscriber_says_that_it_is_well_until_it_is_closed(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    let health = subscriber.health();
    assert_eq!(health.check(), Ok(()));
    subscriber.close().await;
    assert!(health.check().is_err());
}

async fn an_empty_name_is_refused(case: Case) {
    for (topic, subscription) in [("", "dns"), (case.topic.as_str(), "")] {
        let options = SubscribeOptions::default();
        assert!(
            case.broker
                .subscribe(topic, subscription, options)
                .await
                .is_err()
        );
    }
}
