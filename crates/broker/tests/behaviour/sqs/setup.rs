//! Topics and queues that are there, or not.

use std::time::Duration;

use hyperfleet_broker::config::SqsConfig;
use hyperfleet_broker::{BrokerError, PublishError, SubscribeOptions};
use tokio::time::timeout;

use super::{config, connect, raw};
use crate::bench::{Case, PATIENCE, Promise, event, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        nothing_is_created_unless_asked,
        what_others_created_is_used,
        one_plain_queue_needs_no_topic,
        a_topic_with_dots_is_written_as_aws_allows,
        aws_that_cannot_be_reached_is_a_retryable_error,
    ]
}

fn found_only(sqs: &mut SqsConfig) {
    sqs.create_if_missing = false;
}

async fn nothing_is_created_unless_asked(case: Case) {
    let broker = connect(&config(found_only)).await;
    let publisher = broker.publisher();
    let error = publisher.publish(&case.topic, &event("a")).await;
    let error = error.unwrap_err();
    assert!(matches!(error, PublishError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("create_if_missing"), "{error}");
    let options = SubscribeOptions::default();
    let subscribing = broker.subscribe(&case.topic, "dns", options);
    let error = subscribing.await.err().expect("a refusal");
    assert!(matches!(error, BrokerError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("create_if_missing"), "{error}");
}

async fn what_others_created_is_used(case: Case) {
    case.subscribe("dns").await.close().await;
    let broker = connect(&config(found_only)).await;
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe(&case.topic, "dns", options).await.unwrap();
    let publisher = broker.publisher();
    publisher.publish(&case.topic, &event("a")).await.unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}

async fn one_plain_queue_needs_no_topic(case: Case) {
    let (_, sqs) = raw();
    let created = sqs
        .create_queue()
        .queue_name(format!("{}-plain", case.topic));
    let url = created.send().await.unwrap().queue_url.unwrap();
    let broker = connect(&config(|sqs| sqs.queue_url = Some(url))).await;
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe("any", "dns", options).await.unwrap();
    let publisher = broker.publisher();
    publisher.publish("any", &event("a")).await.unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}

async fn a_topic_with_dots_is_written_as_aws_allows(case: Case) {
    let topic = format!("{}.changed.v1", case.topic);
    let options = SubscribeOptions::default();
    let mut subscriber = case.broker.subscribe(&topic, "dns", options).await.unwrap();
    let publisher = case.broker.publisher();
    publisher.publish(&topic, &event("a")).await.unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}

async fn aws_that_cannot_be_reached_is_a_retryable_error(case: Case) {
    let away = |sqs: &mut SqsConfig| {
        sqs.endpoint_url = Some("http://127.0.0.1:1".into());
        sqs.topic_arn = Some("arn:aws:sns:us-east-1:123456789012:t".into());
    };
    let broker = connect(&config(away)).await;
    let publisher = broker.publisher();
    let event = event("a");
    let publishing = timeout(PATIENCE, publisher.publish(&case.topic, &event));
    let error = publishing.await.expect("no publish hangs").unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(publisher.health().await.is_err());
    // A subscriber waits for it, and gives up waiting when the broker is closed.
    let options = SubscribeOptions::default();
    let waiting = {
        let (broker, topic) = (broker.clone(), case.topic.clone());
        tokio::spawn(async move { broker.subscribe(&topic, "dns", options).await.err() })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    broker.close().await;
    let ended = timeout(PATIENCE, waiting).await.expect("to end").unwrap();
    assert_eq!(ended, Some(BrokerError::Closed));
}
