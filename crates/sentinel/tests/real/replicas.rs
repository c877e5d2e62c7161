use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{TimeDelta, Utc};
use hyperfleet_runtime::health::Health;
use hyperfleet_sentinel::{Clock, Replicas};
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;

use crate::api::Server;
use crate::history::{History, Recorder, until};
use crate::owner::Owner;
use crate::replica::{Replica, options};

/// An API for the replicas, and another one for who changes things.
struct World {
    store: Store,
    server: Server,
    history: Arc<History>,
    owner: Owner,
    started: usize,
}

impl World {
    async fn new() -> World {
        let store = TestDatabase::new().await.store;
        let history = Arc::<History>::default();
        let owners = Server::start(&store, 0).await;
        World {
            server: Server::start(&store, 0).await,
            owner: Owner::new(owners.client(), Arc::clone(&history)),
            store,
            history,
            started: 0,
        }
    }

    fn replica(&mut self) -> Replica {
        self.replica_with(Clock::system())
    }

    fn replica_with(&mut self, clock: Clock) -> Replica {
        self.started += 1;
        let recorder = Recorder {
            history: Arc::clone(&self.history),
            by: self.started,
        };
        Replica::start_with(&options(&self.server.url()), Arc::new(recorder), clock)
    }
}

/// Waits until these hold everything among them, in fair shares.
async fn settled(replicas: &[&Replica]) {
    let fair = 64_u32.div_ceil(u32::try_from(replicas.len()).unwrap());
    until("fair shares", || {
        let shards: Vec<u32> = replicas.iter().map(|replica| replica.shards()).collect();
        shards.iter().sum::<u32>() == 64
            && shards.iter().all(|shards| *shards <= fair)
            && replicas.iter().all(|replica| replica.followed())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_share_the_work_and_send_nothing_twice() {
    let mut world = World::new().await;
    let (one, two, three) = (world.replica(), world.replica(), world.replica());
    settled(&[&one, &two, &three]).await;
    world.owner.acts(120).await;
    world.history.complete().await;
    world.history.no_storm(1);
    assert_eq!(world.history.tellers(), 3, "everybody worked");
    for replica in [one, two, three] {
        replica.stop().await;
    }
    assert_eq!(world.store.sentinels().await.unwrap(), [], "all have left");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_a_replica_dies_another_sends_what_it_did_not() {
    let mut world = World::new().await;
    let (one, two) = (world.replica(), world.replica());
    settled(&[&one, &two]).await;
    world.owner.acts(40).await;
    one.kill().await;
    world.owner.acts(40).await;
    world.history.complete().await;
    settled(&[&two]).await;
    // The survivor does not know what the dead one sent: once more for what nobody has reported on.
    world.history.no_storm(2);
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_come_and_go_and_every_change_has_its_event() {
    let mut world = World::new().await;
    let one = world.replica();
    settled(&[&one]).await;
    world.owner.acts(30).await;
    let two = world.replica();
    world.owner.acts(30).await;
    settled(&[&one, &two]).await;
    let leaving = tokio::spawn(one.stop());
    world.owner.acts(30).await;
    leaving.await.unwrap();
    let three = world.replica();
    world.owner.acts(30).await;
    settled(&[&two, &three]).await;
    world.history.complete().await;
    // A version can change hands three times, and each new holder may send it once.
    world.history.no_storm(4);
    for replica in [two, three] {
        replica.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_api_nobody_sends_and_with_it_everybody_goes_on() {
    let mut world = World::new().await;
    let (one, two) = (world.replica(), world.replica());
    settled(&[&one, &two]).await;
    let health = Health::new();
    one.handle.register_checks(&health);
    health.started();
    world.owner.acts(30).await;
    let port = world.server.stop().await;
    until("leases that cannot be renewed", || {
        let away = |replica: &Replica| replica.handle.status()[0].lease_error.is_some();
        away(&one) && away(&two)
    })
    .await;
    assert!(!health.readiness().await.is_ready());
    world.owner.acts(30).await;
    world.server = Server::start(&world.store, port).await;
    world.history.complete().await;
    settled(&[&one, &two]).await;
    world.history.no_storm(2);
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_jumps_takes_nobody_out_of_the_lease() {
    let mut world = World::new().await;
    let offset = Arc::new(AtomicI64::new(0));
    let moved = Arc::clone(&offset);
    let one = world.replica_with(Clock::new(move || {
        Utc::now() + TimeDelta::seconds(moved.load(Ordering::SeqCst))
    }));
    let two = world.replica();
    settled(&[&one, &two]).await;
    for seconds in [1800, -1800, 0] {
        offset.store(seconds, Ordering::SeqCst);
        world.owner.acts(20).await;
        world.history.complete().await;
        settled(&[&one, &two]).await;
    }
    // Half an hour ahead is less than the backoff: nothing is old enough to be sent again.
    world.history.no_storm(2);
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_that_watch_the_same_without_sharing_are_reported() {
    let world = World::new().await;
    let start = |name: &str, region: Option<&str>, replicas: Replicas| {
        let mut options = options(&world.server.url());
        options.sentinel.name = name.to_owned();
        options.sentinel.replicas = replicas;
        if let Some(region) = region {
            let selector = serde_json::json!([{"label": "region", "value": region}]);
            options.resource_selector = serde_json::from_value(selector).unwrap();
        }
        let history = Arc::clone(&world.history);
        Replica::start(&options, Arc::new(Recorder { history, by: 0 }))
    };
    let us = start("us", Some("us"), Replicas::Api);
    let eu = start("eu", Some("eu"), Replicas::Single);
    until("both to be there", || us.followed() && eu.followed()).await;
    assert_eq!(us.handle.status()[0].overlaps, [""; 0]);
    let all = start("all", None, Replicas::Single);
    let sees = |replica: &Replica, others: &[&str]| replica.handle.status()[0].overlaps == others;
    until("everybody to see whom it overlaps", || {
        sees(&us, &["all (all)"])
            && sees(&eu, &["all (all)"])
            && sees(&all, &["us (region:us)", "eu (region:eu)"])
    })
    .await;
    assert_eq!((us.shards(), all.shards()), (64, 64), "they go on");
    let health = Health::new();
    us.handle.register_checks(&health);
    health.started();
    let readiness = health.readiness().await;
    let note = &readiness.notes["sentinels"];
    assert!(note.ends_with("; overlaps with all (all)"), "{note}");
    let metrics = us.registry.scrape().await.unwrap();
    let line = "hyperfleet_sentinel_overlapping_sentinels{component=\"sentinel\",resource_selector=\"region:us\",resource_type=\"clusters\",version=\"test\"} 1";
    assert!(metrics.contains(line), "{metrics}");
    all.stop().await;
    until("it to be forgotten", || sees(&us, &[]) && sees(&eu, &[])).await;
    us.stop().await;
    eu.stop().await;
}
