//! Living with Go services on the same exchange and queue.

use std::time::Duration;

use futures::StreamExt as _;
use hyperfleet_broker::config::ExchangeType;
use hyperfleet_broker::{BrokerError, PublishError, SubscribeOptions};
use lapin::options::{BasicConsumeOptions, ExchangeDeclareOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, ExchangeKind};
use tokio::time::timeout;

use super::{config, connect, raw_channel, url};
use crate::bench::{Case, PATIENCE, Promise, event, next, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        exchange_and_queue_are_as_go_components_declare_them,
        a_foreign_consumer_only_ever_sees_string_headers,
        an_exchange_of_another_type_is_a_refusal_that_harms_no_other_topic,
        a_routing_key_on_a_topic_exchange_reaches_our_subscribers,
        the_empty_topic_and_an_endless_one_are_refused,
        events_arrive_without_publisher_confirms_too,
    ]
}

async fn exchange_and_queue_are_as_go_components_declare_them(case: Case) {
    let _subscriber = case.subscribe("dns").await;
    let (_connection, channel) = raw_channel().await;
    // A declaration with anything different would be refused.
    let exchange = ExchangeDeclareOptions {
        durable: true,
        ..Default::default()
    };
    let topic = case.topic.as_str();
    channel
        .exchange_declare(
            topic.into(),
            ExchangeKind::Fanout,
            exchange,
            FieldTable::default(),
        )
        .await
        .unwrap();
    let queue = format!("{topic}-dns");
    channel
        .queue_declare(
            queue.into(),
            QueueDeclareOptions::durable(),
            FieldTable::default(),
        )
        .await
        .unwrap();
}

fn header_names(properties: &BasicProperties) -> Vec<String> {
    let headers = properties.headers().clone().unwrap();
    let string = |value: &AMQPValue| matches!(value, AMQPValue::LongString(_));
    assert!(headers.inner().values().all(string), "{headers:?}");
    headers.inner().keys().map(ToString::to_string).collect()
}

/// Our subscriber holds one message all the time, so what it gives back goes to the other consumer.
async fn a_foreign_consumer_only_ever_sees_string_headers(case: Case) {
    let mut ours = case.subscribe("dns").await;
    case.publish(["delayed"]).await;
    next(&mut ours)
        .await
        .nack(Duration::from_secs(2), "later")
        .await;
    case.publish(["direct"]).await;
    let mut held = next(&mut ours).await;
    while held.event.id != "direct" {
        held.nack(Duration::from_secs(2), "later").await;
        held = next(&mut ours).await;
    }
    case.publish(["new"]).await;
    // One with a header that is no string, as a server with dead-lettering would leave it.
    case.publish_raw(&event("foreign").encode().unwrap()).await;

    let (_connection, channel) = raw_channel().await;
    let queue = format!("{}-dns", case.topic);
    let options = BasicConsumeOptions {
        no_ack: true,
        ..Default::default()
    };
    let consuming = channel.basic_consume(queue.into(), "".into(), options, FieldTable::default());
    let mut theirs = consuming.await.unwrap();
    let mut held = Some(held);
    let mut seen = Vec::new();
    while seen.len() < 4 {
        let message = timeout(PATIENCE, theirs.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let id = hyperfleet_broker::Event::decode(&message.data).unwrap().id;
        if id != "foreign" {
            let names = header_names(&message.properties);
            let expected: &[&str] = match id.as_str() {
                "new" => &["_watermill_message_uuid"],
                _ => &["_watermill_message_uuid", "hyperfleet-attempt"],
            };
            assert_eq!(names, expected, "headers of {id}");
        }
        seen.push(id);
        if let Some(held) = held.take() {
            held.nack(Duration::ZERO, "yours").await;
        }
    }
    seen.sort();
    assert_eq!(seen, ["delayed", "direct", "foreign", "new"]);
}

async fn an_exchange_of_another_type_is_a_refusal_that_harms_no_other_topic(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    let topic_exchange = config(url(), |c| c.exchange_type = ExchangeType::Topic);
    let other = connect(&topic_exchange).await;
    let publisher = other.publisher();
    let error = publisher
        .publish(&case.topic, &event("a"))
        .await
        .unwrap_err();
    assert!(matches!(error, PublishError::Refused { .. }), "{error}");
    assert!(
        error.to_string().contains("inequivalent arg 'type'"),
        "{error}"
    );
    let subscribing = other.subscribe(&case.topic, "new", SubscribeOptions::default());
    let error = subscribing.await.err().expect("a refusal");
    assert!(matches!(error, BrokerError::Refused { .. }), "{error}");
    // The same connections still serve what is right.
    publisher
        .publish(&format!("{}-x", case.topic), &event("b"))
        .await
        .unwrap();
    assert_eq!(publisher.health().await, Ok(()));
    case.publish(["c"]).await;
    assert_eq!(take_ids(&mut subscriber, 1).await, ["c"]);
}

async fn a_routing_key_on_a_topic_exchange_reaches_our_subscribers(case: Case) {
    let config = config(url(), |c| {
        c.exchange_type = ExchangeType::Topic;
        c.routing_key = "clusters.changed".into();
        c.queue = Some(format!("{}-base", case.topic));
        c.consumer_tag = Some("one".into());
        c.prefetch_count = 7;
    });
    let broker = connect(&config).await;
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe(&case.topic, "dns", options).await.unwrap();
    broker
        .publisher()
        .publish(&case.topic, &event("a"))
        .await
        .unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
    let (_connection, channel) = raw_channel().await;
    let queue = format!("{}-base-dns", case.topic);
    let passive = QueueDeclareOptions::durable().passive();
    channel
        .queue_declare(queue.into(), passive, FieldTable::default())
        .await
        .unwrap();
}

async fn the_empty_topic_and_an_endless_one_are_refused(case: Case) {
    for topic in ["", &"x".repeat(300)] {
        let error = case
            .broker
            .publisher()
            .publish(topic, &event("a"))
            .await
            .unwrap_err();
        assert!(matches!(error, PublishError::Refused { .. }), "{error}");
        let subscribing = case
            .broker
            .subscribe(topic, "dns", SubscribeOptions::default());
        assert!(subscribing.await.is_err());
    }
}

async fn events_arrive_without_publisher_confirms_too(case: Case) {
    let mut subscriber = case.subscribe("dns").await;
    let broker = connect(&config(url(), |c| c.publisher_confirm = false)).await;
    broker
        .publisher()
        .publish(&case.topic, &event("a"))
        .await
        .unwrap();
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}
