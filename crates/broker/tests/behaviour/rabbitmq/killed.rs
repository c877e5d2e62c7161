//! Consumers that are killed with a message in hand, as processes of their own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

use hyperfleet_broker::SubscribeOptions;
use tokio::runtime::Runtime;
use tokio::task::spawn_blocking;

use super::{config, connect, url};
use crate::bench::{Case, Promise, assert_quiet, next, take_ids};
use crate::promise;

pub(super) fn promises() -> Vec<Promise> {
    promise![
        a_consumer_killed_mid_event_leaves_it_to_the_next_one,
        a_message_that_kills_every_consumer_ends_as_a_dead_letter,
    ]
}

/// Set for the process that is to be killed: where it consumes, and what.
const VICTIM: &str = "HYPERFLEET_TEST_VICTIM";

/// In a process started to be killed: takes one message, says which, and never settles it.
pub(crate) fn victim() -> Option<ExitCode> {
    let task = std::env::var(VICTIM).ok()?;
    let (topic, url) = task.split_once(' ').unwrap();
    Runtime::new().unwrap().block_on(async {
        let broker = connect(&config(url, |_| {})).await;
        let options = SubscribeOptions::default();
        let mut subscriber = broker.subscribe(topic, "dns", options).await.unwrap();
        let held = next(&mut subscriber).await;
        println!("{} {}", held.event.id, held.attempt);
        std::future::pending::<()>().await;
    });
    Some(ExitCode::SUCCESS)
}

/// Starts one, waits until it has a message, and kills it. Which message, and which delivery of it?
async fn kill_one(topic: &str) -> String {
    let task = format!("{topic} {}", url());
    let killing = spawn_blocking(move || {
        let mut child: Child = Command::new(std::env::current_exe().unwrap())
            .env(VICTIM, task)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let read = BufReader::new(child.stdout.take().unwrap()).read_line(&mut line);
        child.kill().unwrap();
        child.wait().unwrap();
        read.unwrap();
        line.trim().to_owned()
    });
    killing.await.unwrap()
}

async fn a_consumer_killed_mid_event_leaves_it_to_the_next_one(case: Case) {
    case.subscribe("dns").await.close().await;
    case.publish(["a"]).await;
    assert_eq!(kill_one(&case.topic).await, "a 1");
    let mut successor = case.subscribe("dns").await;
    let again = next(&mut successor).await;
    assert_eq!((again.event.id.as_str(), again.attempt), ("a", 2));
    again.ack().await;
    assert_quiet(&mut successor).await;
}

async fn a_message_that_kills_every_consumer_ends_as_a_dead_letter(case: Case) {
    case.subscribe("dns").await.close().await;
    case.publish(["poison"]).await;
    for attempt in 1..=5 {
        assert_eq!(kill_one(&case.topic).await, format!("poison {attempt}"));
    }
    let mut survivor = case.subscribe("dns").await;
    case.publish(["good"]).await;
    assert_eq!(take_ids(&mut survivor, 1).await, ["good"]);
    assert_quiet(&mut survivor).await;
    let dead = case
        .broker
        .list_dead_letters(&case.topic, "dns", 10)
        .await
        .unwrap();
    let [letter] = dead.as_slice() else {
        panic!("expected one dead letter, found {dead:?}");
    };
    assert_eq!(letter.event().unwrap().id, "poison");
    assert_eq!(letter.attempts, 5);
    assert!(letter.reason.contains("its consumer ended"), "{letter:?}");
}
