use std::collections::BTreeSet;
use std::sync::Arc;

use hyperfleet_store::testing::TestDatabase;

use crate::api::Server;
use crate::history::{History, Recorder, until};
use crate::owner::Owner;
use crate::replica::{Replica, options};

/// Dashboards and alerts know these names: the list changes on purpose or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_the_names_of_the_list() {
    let store = TestDatabase::new().await.store;
    let server = Server::start(&store, 0).await;
    let history = Arc::<History>::default();
    let recorder = Recorder {
        history: Arc::clone(&history),
        by: 0,
    };
    let sentinel = Replica::start(&options(&server.url()), Arc::new(recorder));
    until("the feed", || sentinel.followed()).await;
    let mut owner = Owner::new(server.client(), Arc::clone(&history));
    owner.create().await;
    history.complete().await;
    until("nothing pending", || {
        sentinel.handle.status()[0].pending == 0
    })
    .await;
    let scraped = sentinel.registry.scrape().await.unwrap();
    let found: BTreeSet<String> = scraped
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter(|line| line.starts_with("hyperfleet_sentinel_"))
        .map(str::to_owned)
        .collect();
    let listed: BTreeSet<String> = include_str!("metrics.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    let found: Vec<&String> = found.iter().collect();
    let listed: Vec<&String> = listed.iter().collect();
    assert_eq!(found, listed);
    sentinel.stop().await;
}
