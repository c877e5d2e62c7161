//! Topics and subscriptions that are there, or not.

use std::time::Duration;

use hyperfleet_broker::config::PubSubConfig;
use hyperfleet_broker::{BrokerError, PublishError, SubscribeOptions};
use tokio::time::timeout;

use super::{config, connect, project, raw_admin};
use crate::bench::{Case, PATIENCE, Promise, event, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        nothing_is_created_unless_asked,
        what_others_created_is_used,
        a_subscription_is_created_as_configured,
        a_subscription_of_another_topic_is_refused,
        pubsub_that_cannot_be_reached_is_a_retryable_error,
    ]
}

fn found_only(pubsub: &mut PubSubConfig) {
    pubsub.create_topic_if_missing = false;
    pubsub.create_subscription_if_missing = false;
}

async fn nothing_is_created_unless_asked(case: Case) {
    let broker = connect(&config(project(), found_only)).await;
    let event = event("a");
    let publisher = broker.publisher();
    let publishing = timeout(PATIENCE, publisher.publish(&case.topic, &event));
    let error = publishing.await.expect("no publish hangs").unwrap_err();
    assert!(matches!(error, PublishError::Refused { .. }), "{error}");
    let options = SubscribeOptions::default();
    let subscribing = broker.subscribe(&case.topic, "dns", options);
    let error = subscribing.await.err().expect("a refusal");
    assert!(matches!(error, BrokerError::Refused { .. }), "{error}");
    assert!(
        error.to_string().contains("create_subscription_if_missing"),
        "{error}"
    );
}

async fn what_others_created_is_used(case: Case) {
    let project = project();
    let (topics, subscriptions) = raw_admin().await;
    for (topic, subscription) in [
        (case.topic.as_str(), "dns"),
        ("dns-retry", "dns-retry"),
        ("dns-dlq", "dns-dlq"),
    ] {
        let topic = format!("projects/{project}/topics/{topic}");
        let subscription = format!("projects/{project}/subscriptions/{subscription}");
        topics.create_topic().set_name(&topic).send().await.unwrap();
        let creating = subscriptions.create_subscription().set_name(subscription);
        creating.set_topic(topic).send().await.unwrap();
    }
    let broker = connect(&config(project, found_only)).await;
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe(&case.topic, "dns", options).await.unwrap();
    let publisher = broker.publisher();
    publisher.publish(&case.topic, &event("a")).await.unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}

async fn a_subscription_is_created_as_configured(case: Case) {
    let project = project();
    let settings = config(project.clone(), |pubsub| {
        pubsub.ack_deadline_seconds = Some(90);
        pubsub.message_retention_duration = Some(Duration::from_secs(86_400).into());
        pubsub.dead_letter_max_attempts = Some(7);
    });
    let broker = connect(&settings).await;
    let options = SubscribeOptions::default();
    let subscribed = broker.subscribe(&case.topic, "dns", options).await;
    subscribed.unwrap().close().await;
    let (_, subscriptions) = raw_admin().await;
    let asking = subscriptions.get_subscription();
    let name = format!("projects/{project}/subscriptions/dns");
    let found = asking.set_subscription(name).send().await.unwrap();
    assert_eq!(found.ack_deadline_seconds, 90);
    assert_eq!(found.message_retention_duration.unwrap().seconds(), 86_400);
    let policy = found.dead_letter_policy.unwrap();
    assert_eq!(policy.max_delivery_attempts, 7);
    assert!(policy.dead_letter_topic.ends_with("/topics/dns-dlq"));
}

async fn a_subscription_of_another_topic_is_refused(case: Case) {
    case.subscribe("dns").await.close().await;
    let other = format!("{}-other", case.topic);
    let options = SubscribeOptions::default();
    let subscribing = case.broker.subscribe(&other, "dns", options);
    let error = subscribing.await.err().expect("a refusal");
    assert!(error.to_string().contains("not of"), "{error}");
}

async fn pubsub_that_cannot_be_reached_is_a_retryable_error(case: Case) {
    let away = |pubsub: &mut PubSubConfig| {
        found_only(pubsub);
        pubsub.emulator_host = Some("127.0.0.1:1".into());
    };
    let broker = connect(&config(project(), away)).await;
    let publisher = broker.publisher();
    let event = event("a");
    let publishing = timeout(PATIENCE, publisher.publish(&case.topic, &event));
    let error = publishing.await.expect("no publish hangs").unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(publisher.health().await.is_err());
}
