//! Messages that somebody works on, or worked on until the end.

use std::time::Duration;

use hyperfleet_broker::{SubscribeOptions, Subscriber};
use tokio::time::{Instant, timeout};

use super::{config, connect, raw};
use crate::bench::{Case, Promise, next, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        a_message_in_work_stays_hidden_for_as_long_as_it_takes,
        a_message_whose_consumer_is_gone_comes_back_when_its_time_is_over,
        a_message_that_was_received_too_often_is_a_dead_letter,
        a_message_that_sqs_gave_up_on_is_listed_and_replayed,
    ]
}

/// A subscriber whose messages are hidden for three seconds at a time.
async fn hasty(case: &Case) -> Box<dyn Subscriber> {
    let broker = connect(&config(|sqs| sqs.visibility_timeout_seconds = 3)).await;
    let options = SubscribeOptions::default();
    broker.subscribe(&case.topic, "dns", options).await.unwrap()
}

async fn a_message_in_work_stays_hidden_for_as_long_as_it_takes(case: Case) {
    let mut subscriber = hasty(&case).await;
    let mut other = hasty(&case).await;
    case.publish(["a"]).await;
    let started = Instant::now();
    let held = tokio::select! {
        held = next(&mut subscriber) => held,
        held = next(&mut other) => held,
    };
    // Twice the time it would be hidden without us.
    let rest = Duration::from_secs(6).saturating_sub(started.elapsed());
    let again = timeout(rest, async {
        tokio::select! {
            again = subscriber.next() => again,
            again = other.next() => again,
        }
    });
    assert!(
        again.await.is_err(),
        "it came again while somebody worked on it"
    );
    held.ack().await;
}

async fn a_message_whose_consumer_is_gone_comes_back_when_its_time_is_over(case: Case) {
    case.subscribe("dns").await.close().await;
    case.publish(["a"]).await;
    let (_, sqs) = raw();
    let queue = sqs
        .get_queue_url()
        .queue_name(format!("{}-dns", case.topic));
    let queue = queue.send().await.unwrap().queue_url.unwrap();
    // Received by somebody who never says a word about it.
    let receiving = sqs.receive_message().queue_url(queue).visibility_timeout(2);
    let received = receiving.send().await.unwrap();
    assert_eq!(received.messages().len(), 1);
    let mut successor = case.subscribe("dns").await;
    let again = next(&mut successor).await;
    assert_eq!((again.event.id.as_str(), again.attempt), ("a", 2));
    again.ack().await;
}

async fn a_message_that_was_received_too_often_is_a_dead_letter(case: Case) {
    case.subscribe("dns").await.close().await;
    case.publish(["poison", "good"]).await;
    let (_, sqs) = raw();
    let queue = sqs
        .get_queue_url()
        .queue_name(format!("{}-dns", case.topic));
    let queue = queue.send().await.unwrap().queue_url.unwrap();
    for _ in 0..5 {
        let receiving = sqs.receive_message().queue_url(&queue);
        let received = receiving.max_number_of_messages(1).visibility_timeout(0);
        assert_eq!(received.send().await.unwrap().messages().len(), 1);
    }
    let mut survivor = case.subscribe("dns").await;
    assert_eq!(take_ids(&mut survivor, 1).await, ["good"]);
    let dead = case.broker.list_dead_letters(&case.topic, "dns", 10);
    let dead = dead.await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!(
        (dead[0].event().unwrap().id.as_str(), dead[0].attempts),
        ("poison", 5)
    );
    assert!(dead[0].reason.contains("its consumer ended"), "{dead:?}");
}

async fn a_message_that_sqs_gave_up_on_is_listed_and_replayed(case: Case) {
    use hyperfleet_broker::{Fate, Selection};
    case.subscribe("dns").await.close().await;
    let (_, sqs) = raw();
    // As a redrive leaves it: the body, and nothing that says why.
    let dead = sqs
        .get_queue_url()
        .queue_name(format!("{}-dns-dead", case.topic));
    let dead = dead.send().await.unwrap().queue_url.unwrap();
    let body = crate::bench::event("a").encode().unwrap();
    let body = String::from_utf8(body).unwrap();
    sqs.send_message()
        .queue_url(dead)
        .message_body(body)
        .send()
        .await
        .unwrap();
    let listed = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].reason.contains("SQS gave up"), "{listed:?}");
    assert!(listed[0].time.is_some());
    let name = Selection::Named(listed[0].id.clone());
    let mut nothing = |_: &_| {};
    let replaying =
        case.broker
            .clear_dead_letters(&case.topic, "dns", &name, Fate::Replay, &mut nothing);
    assert_eq!(replaying.await, Ok(1));
    let mut subscriber = case.subscribe("dns").await;
    assert_eq!(take_ids(&mut subscriber, 1).await, ["a"]);
}
