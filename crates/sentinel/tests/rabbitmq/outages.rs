use std::collections::HashMap;
use std::sync::Arc;

use hyperfleet_broker::{Broker, BrokerConfig, Metrics, SubscribeOptions};
use hyperfleet_runtime::health::Health;
use hyperfleet_sentinel::{Options, Replicas};
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;
use libtest_mimic::Trial;

use crate::api::Server;
use crate::history::{History, until};
use crate::owner::Owner;
use crate::rabbitmq;
use crate::replica::{Replica, options};

const TOPIC: &str = "hyperfleet.clusters.changed.v1";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_broker_that_restarts_loses_no_change", || {
            Box::pin(a_broker_that_restarts_loses_no_change())
        }),
        trial("what_waits_for_the_broker_comes_at_a_limited_rate", || {
            Box::pin(what_waits_for_the_broker_comes_at_a_limited_rate())
        }),
        trial("api_and_broker_may_go_in_any_order", || {
            Box::pin(api_and_broker_may_go_in_any_order())
        }),
    ]
}

type Promise = std::pin::Pin<Box<dyn Future<Output = ()>>>;

fn trial(name: &'static str, promise: fn() -> Promise) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(promise());
        Ok(())
    })
}

struct World {
    store: Store,
    server: Option<Server>,
    rabbitmq: rabbitmq::Server,
    history: Arc<History>,
    owner: Owner,
    sentinel: Replica,
}

async fn connect(rabbitmq: &rabbitmq::Server) -> Broker {
    let config = BrokerConfig::from_url(rabbitmq.url()).unwrap();
    let metrics = Metrics::new(HashMap::new()).unwrap();
    Broker::connect(&config, metrics).await.unwrap()
}

impl World {
    async fn new(change: impl FnOnce(&mut Options)) -> World {
        let rabbitmq = rabbitmq::Server::start();
        let store = TestDatabase::new().await.store;
        let server = Server::start(&store, 0).await;
        let owners = Server::start(&store, 0).await;
        let history = Arc::<History>::default();
        let consumer = connect(&rabbitmq).await;
        let subscribe = SubscribeOptions {
            concurrency: 100,
            ..SubscribeOptions::default()
        };
        let mut events = consumer.subscribe(TOPIC, "test", subscribe).await.unwrap();
        let told = Arc::clone(&history);
        tokio::spawn(async move {
            while let Some(delivery) = events.next().await {
                told.told(0, &delivery.event);
                delivery.ack().await;
            }
        });
        let mut options = options(&server.url());
        options.sentinel.replicas = Replicas::Single;
        change(&mut options);
        let publisher = connect(&rabbitmq).await.publisher();
        let sentinel = Replica::start(&options, publisher);
        until("the feed", || sentinel.followed()).await;
        World {
            owner: Owner::new(owners.client(), Arc::clone(&history)),
            store,
            server: Some(server),
            rabbitmq,
            history,
            sentinel,
        }
    }

    fn pending(&self) -> usize {
        self.sentinel.handle.status()[0].pending
    }

    async fn stop_api(&mut self) -> Option<u16> {
        match self.server.take() {
            Some(server) => Some(server.stop().await),
            None => None,
        }
    }
}

async fn a_broker_that_restarts_loses_no_change() {
    let mut world = World::new(|_| {}).await;
    let health = Health::new();
    world.sentinel.handle.register_checks(&health);
    health.started();
    for _ in 0..2 {
        world.owner.acts(30).await;
        tokio::task::block_in_place(|| world.rabbitmq.stop());
        world.owner.acts(30).await;
        until("events that wait for the broker", || {
            world.sentinel.handle.status()[0].pending > 0
        })
        .await;
        assert!(!health.readiness().await.is_ready());
        tokio::task::block_in_place(|| world.rabbitmq.start_again());
        world.history.complete().await;
    }
    until("nothing pending", || world.pending() == 0).await;
    // What was on its way when the broker went may have arrived without anybody knowing, at either restart.
    world.history.no_storm(3);
}

async fn what_waits_for_the_broker_comes_at_a_limited_rate() {
    let mut world = World::new(|options| options.max_events_per_second = 100).await;
    tokio::task::block_in_place(|| world.rabbitmq.stop());
    for _ in 0..300 {
        world.owner.create().await;
    }
    let known = || world.sentinel.handle.status()[0].resources;
    until("all of it to be known", || known() >= 300).await;
    tokio::task::block_in_place(|| world.rabbitmq.start_again());
    world.history.complete().await;
    // A second's worth may be saved up, and comes on top of the second's own.
    let busiest = world.history.busiest_second();
    assert!(busiest <= 210, "{busiest} events in one second");
    world.history.no_storm(2);
}

async fn api_and_broker_may_go_in_any_order() {
    let mut world = World::new(|_| {}).await;
    let mut broker_runs = true;
    let mut port = 0;
    for _ in 0..6 {
        let acts = world.owner.random().usize(1..25);
        world.owner.acts(acts).await;
        if world.owner.random().bool() {
            let stop = broker_runs;
            tokio::task::block_in_place(|| match stop {
                true => world.rabbitmq.stop(),
                false => world.rabbitmq.start_again(),
            });
            broker_runs = !broker_runs;
        } else if let Some(free) = world.stop_api().await {
            port = free;
        } else {
            world.server = Some(Server::start(&world.store, port).await);
        }
    }
    if !broker_runs {
        tokio::task::block_in_place(|| world.rabbitmq.start_again());
    }
    if world.server.is_none() {
        world.server = Some(Server::start(&world.store, port).await);
    }
    world.history.complete().await;
    // At most one unknown outcome for each time the broker went.
    world.history.no_storm(4);
}
