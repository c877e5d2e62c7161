use std::collections::BTreeMap;
use std::time::Duration;

use hyperfleet_core::presence::{Announcement, Standing};
use hyperfleet_core::shard::Shards;
use hyperfleet_store::Store;
use hyperfleet_store::testing::TestDatabase;
use uuid::Uuid;

use crate::fleet::author;

fn saying(name: &str, keep: Shards) -> Announcement {
    Announcement {
        name: name.to_owned(),
        resource_type: "clusters".to_owned(),
        selector: BTreeMap::new(),
        shares: true,
        keep,
        leaving: false,
        duration_seconds: 60,
        decides: serde_json::Map::new(),
    }
}

async fn say(store: &Store, id: Uuid, said: &Announcement) -> Standing {
    store.announce_sentinel(id, said, author()).await.unwrap()
}

async fn shift_time(store: &Store, id: Uuid, by: &str) {
    sqlx::query(
        "UPDATE sentinels SET expires_time = expires_time + $2::text::interval WHERE id = $1",
    )
    .bind(id)
    .bind(by)
    .execute(store.pool_for_tests())
    .await
    .unwrap();
}

#[tokio::test]
async fn replicas_share_and_take_over_what_a_dead_one_held() {
    let store = TestDatabase::new().await.store;
    let (one, two) = (Uuid::now_v7(), Uuid::now_v7());
    let alone = say(&store, one, &saying("s", Shards::NONE)).await;
    assert_eq!((alone.held, alone.replicas), (Shards::ALL, 1));
    let joined = say(&store, two, &saying("s", Shards::NONE)).await;
    assert_eq!((joined.held, joined.more), (Shards::NONE, true));
    let keep = say(&store, one, &saying("s", Shards::ALL)).await;
    assert_eq!((keep.held, keep.share), (Shards::ALL, 32));
    let kept = say(&store, one, &saying("s", keep.held.first(32))).await;
    assert_eq!(kept.held.count(), 32);
    let settled = say(&store, two, &saying("s", Shards::NONE)).await;
    assert_eq!(settled.held, Shards::ALL.without(kept.held));
    shift_time(&store, one, "-61 seconds").await;
    let taken = say(&store, two, &saying("s", settled.held)).await;
    assert_eq!((taken.held, taken.replicas), (Shards::ALL, 1));
    let back = say(&store, one, &saying("s", kept.held)).await;
    assert_eq!(
        back.held,
        Shards::NONE,
        "its time had passed and another took them"
    );
}

#[tokio::test]
async fn what_is_withdrawn_is_free_at_once() {
    let store = TestDatabase::new().await.store;
    let (one, two) = (Uuid::now_v7(), Uuid::now_v7());
    say(&store, one, &saying("s", Shards::NONE)).await;
    store.withdraw_sentinel(one, author()).await.unwrap();
    assert_eq!(
        say(&store, two, &saying("s", Shards::NONE)).await.held,
        Shards::ALL
    );
    let there = store.sentinels().await.unwrap();
    assert_eq!(
        there.iter().map(|there| there.id).collect::<Vec<_>>(),
        [two]
    );
}

#[tokio::test]
async fn a_clock_that_is_set_back_does_not_keep_a_dead_one_alive() {
    let store = TestDatabase::new().await.store;
    let (one, two) = (Uuid::now_v7(), Uuid::now_v7());
    say(&store, one, &saying("s", Shards::NONE)).await;
    shift_time(&store, one, "1 day").await;
    say(&store, two, &saying("s", Shards::NONE)).await;
    let left = store.sentinels().await.unwrap()[0].expires_time - chrono::Utc::now();
    assert!(left.to_std().unwrap() <= Duration::from_secs(61), "{left}");
}

#[tokio::test]
async fn others_that_may_mean_the_same_resources_are_named() {
    let store = TestDatabase::new().await.store;
    let with = |name: &str, region: &str| {
        let mut said = saying(name, Shards::NONE);
        if !region.is_empty() {
            said.selector.insert("region".to_owned(), region.to_owned());
        }
        said
    };
    say(&store, Uuid::now_v7(), &with("us", "us")).await;
    let apart = say(&store, Uuid::now_v7(), &with("eu", "eu")).await;
    assert_eq!((apart.overlaps.len(), apart.held), (0, Shards::ALL));
    let all = say(&store, Uuid::now_v7(), &with("all", "")).await;
    let names: Vec<&str> = all
        .overlaps
        .iter()
        .map(|other| other.name.as_str())
        .collect();
    assert_eq!((all.held, all.replicas), (Shards::ALL, 1));
    assert_eq!(names, ["us", "eu"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_never_hold_the_same() {
    let store = TestDatabase::new().await.store;
    let mut speaking = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        speaking.spawn(async move {
            let id = Uuid::now_v7();
            let mut keep = Shards::NONE;
            for _ in 0..10 {
                let told = say(&store, id, &saying("s", keep)).await;
                keep = told.held.first(told.share);
            }
            say(&store, id, &saying("s", keep)).await
        });
    }
    while let Some(ended) = speaking.join_next().await {
        ended.unwrap();
    }
    let there = store.sentinels().await.unwrap();
    let total: u32 = there.iter().map(|one| one.held.count()).sum();
    let union = there
        .iter()
        .fold(Shards::NONE, |all, one| all.with(one.held));
    assert_eq!((there.len(), union.count()), (8, total));
}
