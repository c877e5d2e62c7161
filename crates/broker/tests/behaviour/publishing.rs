//! What a publisher may rely on.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use hyperfleet_broker::PublishError;

use crate::bench::{Case, Promise, event, take_ids};
use crate::promise;

/// Several times what a broker takes in one call, or a subscriber at once. The simulated SNS takes longer for each event
/// the more there are.
const AT_ONCE: usize = 300;

pub(crate) fn promises() -> Vec<Promise> {
    promise![
        events_published_at_once_all_arrive,
        an_event_nobody_subscribed_to_is_counted_and_no_error,
        an_event_that_is_none_is_refused_for_good,
        a_closed_publisher_refuses_and_the_others_go_on,
        a_publisher_says_that_it_is_well,
    ]
}

async fn events_published_at_once_all_arrive(case: Case) {
    let mut subscriber = case.subscribe_many("dns", 50).await;
    let publisher = case.broker.publisher();
    let events: Vec<_> = (0..AT_ONCE).map(|n| event(&format!("e-{n}"))).collect();
    let calls = events
        .iter()
        .map(|event| publisher.publish(&case.topic, event));
    try_join_all(calls).await.unwrap();
    let ids = take_ids(&mut subscriber, AT_ONCE).await;
    let ids: BTreeSet<_> = ids.into_iter().collect();
    assert_eq!(ids.len(), AT_ONCE);
    assert_eq!(case.counted("messages_published_total"), AT_ONCE as u64);
}

async fn an_event_nobody_subscribed_to_is_counted_and_no_error(case: Case) {
    case.publish(["a"]).await;
    assert_eq!(case.counted("messages_unroutable_total"), 1);
    let mut subscriber = case.subscribe("dns").await;
    case.publish(["b"]).await;
    assert_eq!(take_ids(&mut subscriber, 1).await, ["b"]);
}

async fn an_event_that_is_none_is_refused_for_good(case: Case) {
    let error = case
        .broker
        .publisher()
        .publish(&case.topic, &event(""))
        .await
        .unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    assert!(error.to_string().contains("`id` is empty"), "{error}");
    assert_eq!(case.counted("errors_total"), 1);
}

async fn a_closed_publisher_refuses_and_the_others_go_on(case: Case) {
    let publisher = case.broker.publisher();
    publisher.close().await;
    publisher.close().await;
    assert!(publisher.health().await.is_err());
    let result = publisher.publish(&case.topic, &event("a")).await;
    assert_eq!(result, Err(PublishError::Closed));
    // Others of the same broker go on.
    case.publish(["b"]).await;
}

async fn a_publisher_says_that_it_is_well(case: Case) {
    assert_eq!(case.broker.publisher().health().await, Ok(()));
}
