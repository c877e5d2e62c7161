//! `hyperfleet broker dead-letters` as an operator runs it, on a real RabbitMQ.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is a test, which clippy cannot see without the standard harness"
)]

#[path = "../../../broker/tests/behaviour/rabbitmq/server.rs"]
#[expect(
    dead_code,
    reason = "shared with the suite of the brokers, which also restarts it"
)]
mod server;

use std::collections::HashMap;
use std::process::{Command, ExitCode, Output, Stdio};

use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, SubscribeOptions};
use libtest_mimic::{Arguments, Completion, Trial};
use serde_json::{Value, json};

use self::server::Server;

fn main() -> ExitCode {
    let unavailable = Server::unavailable();
    if let Some(reason) = &unavailable {
        eprintln!("skipped: dead letters on RabbitMQ: {reason}");
    }
    let promises = [
        (
            "dead_letters_are_looked_at_replayed_and_removed",
            story as fn(&str),
        ),
        ("a_mistake_is_told_in_one_line", mistakes),
    ];
    let trials = promises.into_iter().map(|(name, promise)| {
        let unavailable = unavailable.clone();
        Trial::ignorable_test(name, move || {
            if let Some(reason) = unavailable {
                return Ok(Completion::ignored_with(reason));
            }
            let server = Server::start();
            promise(server.url());
            Ok(Completion::Completed)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn run(url: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hyperfleet"))
        .args(["broker", "dead-letters"])
        .args(arguments)
        .env("BROKER_TYPE", "rabbitmq")
        .env("BROKER_RABBITMQ_URL", url)
        .env("BROKER_TOPIC", "clusters")
        .env("BROKER_SUBSCRIPTION_ID", "dns")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Exit code, stdout, stderr.
fn told(url: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(url, arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn listed(url: &str) -> Vec<Value> {
    let (code, printed, told) = told(url, &["list", "-o", "json"]);
    assert_eq!(code, Some(0), "{told}");
    let document: Value = serde_json::from_str(&printed).unwrap();
    document["items"].as_array().unwrap().clone()
}

/// Three events of which an adapter gave up; returns those it receives afterwards.
async fn give_up(url: &str) {
    let config = BrokerConfig::from_url(url).unwrap();
    let metrics = Metrics::new(HashMap::new()).unwrap();
    let broker = Broker::connect(&config, metrics).await.unwrap();
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe("clusters", "dns", options).await.unwrap();
    for id in ["one", "two", "three"] {
        let data = json!({"id": format!("cluster-{id}")});
        let event = Event::reconcile("Cluster", "test", data, chrono::Utc::now(), id);
        broker
            .publisher()
            .publish("clusters", &event)
            .await
            .unwrap();
        let delivery = subscriber.next().await.unwrap();
        delivery.dead_letter("no zone\nfor \u{1b}[31mit").await;
    }
    subscriber.close().await;
    broker.close().await;
}

async fn received(url: &str, count: usize) -> Vec<String> {
    let config = BrokerConfig::from_url(url).unwrap();
    let metrics = Metrics::new(HashMap::new()).unwrap();
    let broker = Broker::connect(&config, metrics).await.unwrap();
    let options = SubscribeOptions::default();
    let mut subscriber = broker.subscribe("clusters", "dns", options).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..count {
        let delivery = subscriber.next().await.unwrap();
        ids.push(delivery.event.id.clone());
        delivery.ack().await;
    }
    subscriber.close().await;
    broker.close().await;
    ids
}

fn story(url: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(give_up(url));

    let (code, table, told_) = told(url, &["list"]);
    assert_eq!((code, told_.as_str()), (Some(0), ""));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].starts_with("ID          TIME"), "{table}");
    assert!(
        lines[1].contains("  1           cluster/cluster-one    no zone\\nfor \\u{1b}[31mit"),
        "{table}"
    );
    let (_, table, more) = told(url, &["list", "--limit", "1"]);
    assert_eq!(table.lines().count(), 2);
    assert_eq!(more, "the first 1 are shown, there are more: --limit\n");

    let letters = listed(url);
    let id = letters[1]["id"].as_str().unwrap();
    let facts = ["event_id", "deliveries", "resource", "reason"].map(|key| letters[1][key].clone());
    assert_eq!(
        json!(facts),
        json!(["two", 1, "cluster/cluster-two", "no zone\nfor \u{1b}[31mit"])
    );
    for name in [id, "two"] {
        let (code, shown, _) = told(url, &["show", name]);
        assert_eq!(code, Some(0));
        assert!(
            shown.contains("event       two\n") && shown.contains("\"specversion\": \"1.0\""),
            "{shown}"
        );
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
    let (_, shown, _) = told(url, &["show", id, "-o", "yaml"]);
    assert!(shown.contains("event_id: two\n"), "{shown}");

    let (code, _, closing) = told(url, &["replay", id]);
    assert_eq!(
        (code, closing.as_str()),
        (Some(0), "replayed 1 dead letter to clusters/dns\n")
    );
    assert_eq!(runtime.block_on(received(url, 1)), ["two"]);

    let (code, _, refusal) = told(url, &["discard", "three"]);
    assert_eq!(code, Some(1));
    assert!(refusal.contains("for good: say so with --yes"), "{refusal}");
    let (code, _, closing) = told(url, &["discard", "three", "--yes"]);
    assert_eq!(
        (code, closing.as_str()),
        (Some(0), "removed 1 dead letter of clusters/dns\n")
    );

    let (code, _, closing) = told(url, &["replay", "--all"]);
    assert_eq!(
        (code, closing.as_str()),
        (Some(0), "replayed 1 dead letter to clusters/dns\n")
    );
    assert_eq!(runtime.block_on(received(url, 1)), ["one"]);
    let (code, printed, told) = told(url, &["list"]);
    assert_eq!(
        (code, printed.as_str(), told.as_str()),
        (Some(0), "", "no dead letters in clusters/dns\n")
    );
}

fn mistakes(url: &str) {
    for (arguments, expected) in [
        (
            &["list"] as &[&str],
            "topic `clusters` has no subscription `dns`",
        ),
        (&["replay"], "<ID|--all>"),
        (&["replay", "x", "--all"], "cannot be used with"),
        (
            &["list", "--broker-url", "kafka://h"],
            "scheme `kafka` is unknown",
        ),
        (
            &["list", "--broker-url", "amqp://u:sekret@127.0.0.1:1"],
            "broker is not reachable",
        ),
    ] {
        let (code, _, told) = told(url, arguments);
        assert_ne!(code, Some(0));
        assert!(
            told.contains(expected) && !told.contains("sekret"),
            "{told}"
        );
    }
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(give_up(url));
    for command in ["show", "replay"] {
        let (code, _, told) = told(url, &[command, "nobody"]);
        assert_eq!(code, Some(1));
        assert!(told.contains("there is no dead letter"), "{told}");
    }
}
