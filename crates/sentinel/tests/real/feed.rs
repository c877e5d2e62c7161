use std::collections::HashMap;
use std::time::Duration;

use hyperfleet_broker::config::MemoryConfig;
use hyperfleet_broker::{Broker, Event, MemoryBroker, Metrics, SubscribeOptions, Subscriber};
use hyperfleet_client::{Client, ClientConfig};
use hyperfleet_runtime::GoDuration;
use hyperfleet_sentinel::{Clock, Handle, Options, Sentinel};
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::api::{Server, registry};

struct World {
    store: Store,
    server: Server,
    client: Client,
    handle: Handle,
    events: Box<dyn Subscriber>,
    cancel: CancellationToken,
}

impl World {
    async fn new(change: impl FnOnce(&mut Options)) -> World {
        let store = TestDatabase::new().await.store;
        let server = Server::start(&store, 0).await;
        World::on(store, server, change).await
    }

    async fn on(store: Store, server: Server, change: impl FnOnce(&mut Options)) -> World {
        let url = format!("http://{}", server.address);
        let mut options = Options::for_kinds(&url, ["clusters"]);
        // Long enough that every event of a test has another cause.
        options.backoff_not_ready = GoDuration::from_mins(60);
        change(&mut options);
        let memory = MemoryBroker::new(
            MemoryConfig::default(),
            Metrics::new(HashMap::new()).unwrap(),
        );
        let broker = Broker::from_memory(memory);
        let topic = "hyperfleet.clusters.changed.v1";
        let subscribe = SubscribeOptions {
            concurrency: 1000,
            ..SubscribeOptions::default()
        };
        let events = broker.subscribe(topic, "test", subscribe).await.unwrap();
        let metrics = registry().component("sentinel", "sentinel").unwrap();
        let client = options.client().unwrap();
        let sentinel = Sentinel::new(
            &options,
            client,
            broker.publisher(),
            &metrics,
            Clock::system(),
        )
        .unwrap();
        let handle = sentinel.handle();
        let cancel = CancellationToken::new();
        tokio::spawn(sentinel.run(cancel.clone()));
        World {
            store,
            server,
            client: Client::new(ClientConfig::new(&url)).unwrap(),
            handle,
            events,
            cancel,
        }
    }

    async fn followed(&self) {
        for _ in 0..3000 {
            if self.handle.status()[0].feed {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the feed is not followed: {:?}", self.handle.status());
    }

    async fn create(&self, name: &str) -> String {
        let body = json!({"kind": "Cluster", "name": name, "spec": {}});
        self.client.create("clusters", &body).await.unwrap().id
    }

    async fn event(&mut self) -> Event {
        let next = tokio::time::timeout(Duration::from_secs(60), self.events.next());
        let delivery = next.await.expect("an event within a minute").unwrap();
        let event = delivery.event.clone();
        delivery.ack().await;
        event
    }

    async fn told(&mut self) -> (String, String) {
        let data = self.event().await.data;
        let text = |name: &str| data[name].as_str().unwrap().to_owned();
        (text("id"), text("reason"))
    }
}

fn said(id: &str, reason: &str) -> (String, String) {
    (id.to_owned(), reason.to_owned())
}

async fn delete(world: &World, id: &str) {
    let url = format!("/clusters/{id}");
    let call = hyperfleet_client::Call::new(hyperfleet_client::Method::DELETE, url);
    world.client.call(call).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_and_what_changes_has_its_event() {
    let store = TestDatabase::new().await.store;
    let server = Server::start(&store, 0).await;
    let url = format!("http://{}", server.address);
    let before = Client::new(ClientConfig::new(&url)).unwrap();
    let body = json!({"kind": "Cluster", "name": "before", "spec": {}});
    let old = before.create("clusters", &body).await.unwrap().id;
    let mut world = World::on(store, server, |_| {}).await;
    assert_eq!(world.told().await, said(&old, "created"));
    world.followed().await;

    let new = world.create("new").await;
    assert_eq!(world.told().await, said(&new, "created"));
    let patch =
        hyperfleet_client::Call::new(hyperfleet_client::Method::PATCH, format!("/clusters/{new}"))
            .body(json!({"spec": {"nodes": 3}}).to_string());
    world.client.call(patch).await.unwrap();
    let event = world.event().await;
    assert_eq!(event.data["reason"], "generation-changed");
    assert_eq!(event.data["generation"], 2);
    delete(&world, &new).await;
    assert_eq!(world.told().await, said(&new, "deleted"));
    world.cancel.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_parent_has_an_event_when_its_last_child_is_gone() {
    let mut world = World::new(|_| {}).await;
    world.followed().await;
    let cluster = world.create("parent").await;
    world.told().await;
    let pools = format!("/clusters/{cluster}/nodepools");
    let pool = hyperfleet_client::Call::new(hyperfleet_client::Method::POST, &pools)
        .body(json!({"kind": "NodePool", "name": "pool", "spec": {}}).to_string());
    let pool: Value = world.client.call(pool).await.unwrap().json().unwrap();
    delete(&world, &cluster).await;
    assert_eq!(world.told().await, said(&cluster, "deleted"));
    let last = json!({"adapter": "validation", "observed_generation": 2, "conditions": [
        {"type": "Available", "status": "False"}, {"type": "Applied", "status": "False"},
        {"type": "Health", "status": "True"}, {"type": "Finalized", "status": "True"},
    ]});
    let id = pool["id"].as_str().unwrap();
    world.client.report("nodepools", id, &last).await.unwrap();
    assert_eq!(
        world.told().await,
        said(&cluster, "deleted"),
        "at once, not after an hour"
    );
    world.cancel.cancel();
}

/// A report of the one required adapter, as it would be while a Job runs and after it.
fn report(available: &str, message: &str) -> Value {
    json!({"adapter": "validation", "observed_generation": 1, "conditions": [
        {"type": "Available", "status": available, "reason": "Job", "message": message},
        {"type": "Applied", "status": "True"}, {"type": "Health", "status": "True"},
    ]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_has_its_event_if_it_changed_what_others_may_wait_for() {
    let mut world = World::new(|_| {}).await;
    world.followed().await;
    let id = world.create("chained").await;
    assert_eq!(world.told().await, said(&id, "created"));
    let reports = async |world: &World, reports: &[(&str, &str)]| {
        for (available, message) in reports {
            let report = report(available, message);
            world.client.report("clusters", &id, &report).await.unwrap();
        }
    };
    let running = [
        ("False", "it runs"),
        ("False", "it runs"),
        ("False", "still"),
    ];
    reports(&world, &running).await;
    assert_eq!(world.told().await, said(&id, "status-changed"));
    reports(&world, &[("True", "it is done"), ("True", "it is done")]).await;
    assert_eq!(world.told().await, said(&id, "status-changed"));
    let next = world.create("next").await;
    assert_eq!(
        world.told().await,
        said(&next, "created"),
        "the same again, and other words, are no reason"
    );
    world.cancel.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_restarts_is_followed_from_where_it_was() {
    let mut world = World::new(|_| {}).await;
    world.followed().await;
    let one = world.create("one").await;
    assert_eq!(world.told().await, said(&one, "created"));
    let passes = world.handle.status()[0].passes;
    let port = world.server.stop().await;
    // Changed while nobody serves: through another API on the same database.
    let other = Server::start(&world.store, 0).await;
    let client = Client::new(ClientConfig::new(format!("http://{}", other.address))).unwrap();
    let body = json!({"kind": "Cluster", "name": "meanwhile", "spec": {}});
    let two = client.create("clusters", &body).await.unwrap().id;
    world.server = Server::start(&world.store, port).await;
    assert_eq!(world.told().await, said(&two, "created"));
    assert_eq!(
        world.handle.status()[0].passes,
        passes,
        "resumed, not read again"
    );
    world.cancel.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_selected_any_longer_is_let_go() {
    let mut world = World::new(|options| {
        options.resource_selector =
            serde_json::from_value(json!([{"label": "shard", "value": "1"}])).unwrap();
    })
    .await;
    world.followed().await;
    world.create("other-shard").await;
    let body = json!({"kind": "Cluster", "name": "mine", "spec": {}, "labels": {"shard": "1"}});
    let mine = world.client.create("clusters", &body).await.unwrap().id;
    assert_eq!(world.told().await, said(&mine, "created"));
    let patch = hyperfleet_client::Call::new(
        hyperfleet_client::Method::PATCH,
        format!("/clusters/{mine}"),
    )
    .body(json!({"labels": {"shard": "2"}}).to_string());
    world.client.call(patch).await.unwrap();
    for _ in 0..3000 {
        if world.handle.explain("clusters", &mine).await.is_none() {
            world.cancel.cancel();
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is still watched");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_pass_beside_the_feed_changes_nothing_that_the_feed_told() {
    let mut world = World::new(|options| {
        options.full_pass_interval = GoDuration::from_millis(50);
    })
    .await;
    world.followed().await;
    let id = world.create("steady").await;
    assert_eq!(world.told().await, said(&id, "created"));
    let passes = world.handle.status()[0].passes;
    for _ in 0..3000 {
        if world.handle.status()[0].passes > passes + 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(world.handle.status()[0].passes > passes + 3);
    let two = world.create("two").await;
    assert_eq!(
        world.told().await,
        said(&two, "created"),
        "no event was repeated in between"
    );
    world.cancel.cancel();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_feed_the_list_is_read_again_and_again() {
    let mut world = World::new(|options| {
        options.feed = false;
        options.poll_interval = GoDuration::from_millis(50);
    })
    .await;
    let id = world.create("polled").await;
    assert_eq!(world.told().await, said(&id, "created"));
    assert!(!world.handle.status()[0].feed);
    world.cancel.cancel();
}
