use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{TimeDelta, Utc};
use hyperfleet_runtime::GoDuration;
use hyperfleet_sentinel::{Clock, Options, Replicas};
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;
use uuid::Uuid;

use crate::api::Server;
use crate::history::{History, Recorder, until};
use crate::owner::Owner;
use crate::replica::{Replica, options};

fn alone(url: &str) -> Options {
    let mut options = options(url);
    options.sentinel.replicas = Replicas::Single;
    options
}

async fn world() -> (Store, Server, Arc<History>, Owner, Recorder) {
    let store = TestDatabase::new().await.store;
    let history = Arc::<History>::default();
    let owners = Server::start(&store, 0).await;
    let owner = Owner::new(owners.client(), Arc::clone(&history));
    let recorder = Recorder {
        history: Arc::clone(&history),
        by: 1,
    };
    let server = Server::start(&store, 0).await;
    (store, server, history, owner, recorder)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_that_restarts_again_and_again_hides_no_change() {
    let (store, mut server, history, mut owner, recorder) = world().await;
    let sentinel = Replica::start(&alone(&server.url()), Arc::new(recorder));
    until("the feed", || sentinel.followed()).await;
    for _ in 0..4 {
        let before = owner.random().usize(1..20);
        owner.acts(before).await;
        let port = server.stop().await;
        let meanwhile = owner.random().usize(1..20);
        owner.acts(meanwhile).await;
        server = Server::start(&store, port).await;
    }
    history.complete().await;
    history.no_storm(1);
    assert_eq!(sentinel.handle.status()[0].passes, 1, "never read again");
    sentinel.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_stays_open_hides_neither_itself_nor_others() {
    let (store, server, history, mut owner, recorder) = world().await;
    let sentinel = Replica::start(&alone(&server.url()), Arc::new(recorder));
    until("the feed", || sentinel.followed()).await;
    let slow = owner.create().await;
    history.complete().await;
    let mut paused = store.pool_for_tests().begin().await.unwrap();
    sqlx::query(
        "UPDATE resources SET generation = generation + 1, updated_time = clock_timestamp(),
                revision = revision + 1, changed_xid = pg_current_xact_id() WHERE id = $1",
    )
    .bind(Uuid::parse_str(&slow).unwrap())
    .execute(&mut *paused)
    .await
    .unwrap();
    for _ in 0..20 {
        owner.create().await;
    }
    history.complete().await;
    history.changed(&slow, 2);
    assert_eq!(history.missing(), [(slow.clone(), 2)], "not committed yet");
    paused.commit().await.unwrap();
    history.complete().await;
    history.no_storm(1);
    sentinel.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_makes_no_storm_and_holds_nothing_up() {
    let (_store, server, history, mut owner, recorder) = world().await;
    let offset = Arc::new(AtomicI64::new(0));
    let moved = Arc::clone(&offset);
    let clock = Clock::new(move || Utc::now() + TimeDelta::seconds(moved.load(Ordering::SeqCst)));
    let mut options = alone(&server.url());
    options.backoff_not_ready = GoDuration::from_secs(3600);
    let sentinel = Replica::start_with(&options, Arc::new(recorder), clock);
    until("the feed", || sentinel.followed()).await;
    owner.acts(20).await;
    history.complete().await;
    // Back by a day: changes are still sent at once.
    offset.store(-86_400, Ordering::SeqCst);
    owner.acts(20).await;
    history.complete().await;
    history.no_storm(1);
    // Forward by a day: all of it is old, and sent once more.
    offset.store(0, Ordering::SeqCst);
    owner.acts(20).await;
    history.complete().await;
    history.no_storm(2);
    sentinel.stop().await;
}
