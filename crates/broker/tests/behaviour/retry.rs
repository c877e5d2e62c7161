//! What happens to a message that was not acked.

use std::time::Duration;

use tokio::time::Instant;

use crate::bench::{Case, Promise, assert_quiet, next, take_ids};
use crate::promise;

pub(crate) fn promises() -> Vec<Promise> {
    promise![
        a_nacked_message_comes_back_with_its_delivery_counted,
        a_delayed_message_comes_not_before_its_time_and_holds_nobody_up,
        delays_of_different_length_end_in_their_own_order,
        a_delivery_dropped_unsettled_comes_back,
        a_delayed_message_outlives_its_consumer,
        a_message_that_fails_on_its_fifth_delivery_is_given_up,
    ]
}

async fn a_nacked_message_comes_back_with_its_delivery_counted(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    for attempt in 1..=3 {
        let delivery = next(&mut subscriber).await;
        assert_eq!(
            (delivery.event.id.as_str(), delivery.attempt),
            ("a", attempt)
        );
        delivery.nack(Duration::ZERO, "not yet").await;
    }
    next(&mut subscriber).await.ack().await;
    assert_quiet(&mut subscriber).await;
    assert_eq!(case.counted("redeliveries_total"), 3);
}

async fn a_delayed_message_comes_not_before_its_time_and_holds_nobody_up(case: Case) {
    let delay = Duration::from_millis(1500);
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["slow"]).await;
    let delivery = next(&mut subscriber).await;
    let nacked = Instant::now();
    delivery.nack(delay, "the API is down").await;
    case.publish(["quick"]).await;
    let ids = take_ids(&mut subscriber, 2).await;
    assert!(nacked.elapsed() >= delay, "{:?}", nacked.elapsed());
    assert_eq!(ids, ["quick", "slow"]);
}

async fn delays_of_different_length_end_in_their_own_order(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 3).await;
    case.publish(["long", "short", "none"]).await;
    // Far enough apart for brokers that look at their clocks once a second.
    for millis in [5000, 2500, 0] {
        let delivery = next(&mut subscriber).await;
        delivery.nack(Duration::from_millis(millis), "later").await;
    }
    assert_eq!(
        take_ids(&mut subscriber, 3).await,
        ["none", "short", "long"]
    );
}

async fn a_delivery_dropped_unsettled_comes_back(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    drop(next(&mut subscriber).await);
    let again = next(&mut subscriber).await;
    assert_eq!(again.attempt, 2);
    again.ack().await;
}

async fn a_delayed_message_outlives_its_consumer(case: Case) {
    let delay = Duration::from_millis(1000);
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    let nacked = Instant::now();
    next(&mut subscriber).await.nack(delay, "later").await;
    subscriber.close().await;
    drop(subscriber);
    let mut successor = case.subscribe("dns").await;
    let again = next(&mut successor).await;
    assert_eq!((again.event.id.as_str(), again.attempt), ("a", 2));
    assert!(nacked.elapsed() >= delay);
    again.ack().await;
}

async fn a_message_that_fails_on_its_fifth_delivery_is_given_up(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["a"]).await;
    for _ in 1..=5 {
        next(&mut subscriber)
            .await
            .nack(Duration::ZERO, "quota exceeded")
            .await;
    }
    assert_quiet(&mut subscriber).await;
    let dead = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    let [letter] = dead.as_slice() else {
        panic!("expected one dead letter, found {dead:?}");
    };
    assert_eq!(letter.event().unwrap().id, "a");
    assert_eq!(letter.reason, "quota exceeded (delivery 5 of 5)");
    assert_eq!(letter.attempts, 5);
    assert!(letter.time.is_some());
    assert_eq!(case.counted("dead_letters_total"), 1);
}
