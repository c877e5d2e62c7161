use std::collections::BTreeMap;

use hyperfleet_core::identity::ResourceId;
use hyperfleet_store::{FeedError, Position, Wakeup};

use crate::fleet::{Fleet, done};

async fn everything_since(
    fleet: &Fleet,
    mut since: Position,
    page: u32,
) -> (Vec<(String, bool)>, Position) {
    let mut seen = Vec::new();
    loop {
        let found = fleet.store.changes(&since, page).await.unwrap();
        seen.extend(
            found
                .changes
                .iter()
                .map(|change| (change.resource.name.clone(), change.deleted)),
        );
        since = found.position;
        if found.complete {
            return (seen, since);
        }
    }
}

#[tokio::test]
async fn every_change_is_told_once_in_order_and_deletions_too() {
    let fleet = Fleet::new().await;
    let start = fleet.store.position().await.unwrap();
    let one = fleet.create("Cluster", "one").await;
    let two = fleet.create("Channel", "two").await;
    fleet.report(one.id, &done("a")).await.unwrap();
    fleet.delete(&two).await.unwrap();
    let (seen, end) = everything_since(&fleet, start.clone(), 100).await;
    assert_eq!(seen, [("one".to_owned(), false), ("two".to_owned(), true)]);
    let (nothing, _) = everything_since(&fleet, end, 100).await;
    assert_eq!(nothing, []);
    let (by_one, _) = everything_since(&fleet, start, 1).await;
    assert_eq!(by_one, seen, "pages of one see the same");
}

#[tokio::test]
async fn many_rows_of_one_transaction_are_paged_through() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "parent").await;
    for index in 0..7 {
        fleet
            .create_child("NodePool", &format!("pool-{index}"), &cluster)
            .await;
    }
    let start = fleet.store.position().await.unwrap();
    fleet.delete(&cluster).await.unwrap();
    let (mut seen, _) = everything_since(&fleet, start, 3).await;
    seen.sort();
    assert_eq!(seen.len(), 8);
    seen.dedup();
    assert_eq!(seen.len(), 8, "none twice");
}

#[tokio::test]
async fn a_transaction_that_commits_late_is_not_missed() {
    let fleet = Fleet::new().await;
    let slow = fleet.create("Cluster", "slow").await;
    let quick = fleet.create("Cluster", "quick").await;
    let start = fleet.store.position().await.unwrap();

    let mut paused = fleet.store.pool_for_tests().begin().await.unwrap();
    sqlx::query("UPDATE resources SET labels = '{\"late\": \"yes\"}', revision = revision + 1, changed_xid = pg_current_xact_id() WHERE id = $1")
        .bind(slow.id.0)
        .execute(&mut *paused)
        .await
        .unwrap();
    fleet.label(quick.id, "quick", "yes").await;

    let (seen, position) = everything_since(&fleet, start.clone(), 10).await;
    assert_eq!(
        seen,
        [("quick".to_owned(), false)],
        "the later one is not held up"
    );
    let text = position.to_string();
    let (nothing, position) = everything_since(&fleet, text.parse().unwrap(), 10).await;
    assert_eq!(nothing, []);
    paused.commit().await.unwrap();
    let (seen, position) = everything_since(&fleet, position, 10).await;
    assert_eq!(
        seen,
        [("slow".to_owned(), false)],
        "the earlier number commits later"
    );
    assert_eq!(everything_since(&fleet, position, 10).await.0, []);

    // Whoever catches up afterwards finds both, and leaves the late one to a reader that was there before it.
    let before: Position = text.parse().unwrap();
    let both = fleet.store.changes(&start, 10).await.unwrap().changes;
    let covered: Vec<_> = both.iter().map(|change| before.covers(change)).collect();
    assert_eq!(covered, [false, true]);
    let after_quick = both[1].position.clone().without(&before);
    let (seen, _) = everything_since(&fleet, after_quick, 10).await;
    assert_eq!(seen, [("slow".to_owned(), false)]);
}

#[tokio::test]
async fn a_reader_that_resumes_at_any_event_ends_with_the_same_fleet() {
    let fleet = Fleet::new().await;
    let start = fleet.store.position().await.unwrap();
    let mut made = Vec::new();
    for index in 0..6 {
        made.push(fleet.create("Channel", &format!("c-{index}")).await);
    }
    fleet.delete(&made[2]).await.unwrap();
    fleet.label(made[4].id, "x", "y").await;
    let all = fleet.store.changes(&start, 100).await.unwrap();
    for cut in 0..all.changes.len() {
        let mut known: BTreeMap<ResourceId, bool> = BTreeMap::new();
        for change in &all.changes[..=cut] {
            known.insert(change.resource.id, change.deleted);
        }
        let rest = fleet
            .store
            .changes(&all.changes[cut].position, 100)
            .await
            .unwrap();
        assert_eq!(
            rest.changes.len(),
            all.changes.len() - cut - 1,
            "nothing again, nothing missed"
        );
        for change in rest.changes {
            assert!(!all.changes[cut].position.covers(&change));
            known.insert(change.resource.id, change.deleted);
        }
        assert_eq!(known.len(), 6);
        assert_eq!(known.values().filter(|deleted| **deleted).count(), 1);
    }
}

#[tokio::test]
async fn a_position_of_another_database_or_before_what_is_forgotten_has_expired() {
    let fleet = Fleet::new().await;
    let here = fleet.store.position().await.unwrap();
    fleet.store.check_position(&here).await.unwrap();
    let far: Position = "1.99999999999..".parse().unwrap();
    assert!(matches!(
        fleet.store.check_position(&far).await,
        Err(FeedError::Expired)
    ));
    let gone = fleet.create("Channel", "gone").await;
    fleet.delete(&gone).await.unwrap();
    let retention = hyperfleet_store::Retention {
        history: chrono::TimeDelta::zero(),
        deletions: chrono::TimeDelta::zero(),
        idempotency: chrono::TimeDelta::zero(),
    };
    let later = chrono::Utc::now() + chrono::TimeDelta::minutes(1);
    let forgotten = fleet.store.forget(&retention, later).await.unwrap();
    assert_eq!((forgotten.deletions, forgotten.audit), (1, 2));
    assert!(matches!(
        fleet.store.check_position(&here).await,
        Err(FeedError::Expired)
    ));
    let now = fleet.store.position().await.unwrap();
    fleet.store.check_position(&now).await.unwrap();
}

#[tokio::test]
async fn writes_wake_the_reader_of_this_process_and_announcements_those_of_others() {
    let fleet = Fleet::new().await;
    let mut wakeups = fleet.store.wakeups();
    assert_eq!(wakeups.next().await, Wakeup::Timeout);
    fleet.create("Channel", "news").await;
    assert_eq!(wakeups.next().await, Wakeup::Own);
    fleet.store.announce().await.unwrap();
    assert_eq!(wakeups.next().await, Wakeup::Others);
}

/// The values of `env` that clusters had, as whoever reads from a position is told.
async fn env_since(fleet: &Fleet, since: &Position) -> Vec<(String, Vec<String>)> {
    let found = fleet.store.changes(since, 10).await.unwrap();
    let told = found.changes.iter().map(|change| {
        let labels = change.labels_since();
        let env = labels.map(|labels| labels["env"].clone()).collect();
        (change.resource.name.clone(), env)
    });
    told.collect()
}

#[tokio::test]
async fn labels_of_before_are_told_from_any_position() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "moves").await;
    let start = fleet.store.position().await.unwrap();
    fleet.label(cluster.id, "env", "staging").await;
    let between = fleet.store.position().await.unwrap();
    fleet.label(cluster.id, "env", "secret").await;
    let env = async |since: &Position| env_since(&fleet, since).await.remove(0).1;
    assert_eq!(env(&start).await, ["staging", "dev"]);
    assert_eq!(env(&between).await, ["staging"]);
    // Read from in between by one who was told no more than at first.
    assert_eq!(env(&between.told_since(&start)).await, ["staging", "dev"]);
    // And what of it a reader tells who goes on from there.
    let change = fleet
        .store
        .changes(&start, 10)
        .await
        .unwrap()
        .changes
        .remove(0);
    let left: Vec<_> = change
        .labels_after(&between)
        .map(|labels| &labels["env"])
        .collect();
    assert_eq!(left, ["staging"]);
}

#[tokio::test]
async fn who_stops_in_the_middle_is_told_what_the_rest_stands_for() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "moves").await;
    let start = fleet.store.position().await.unwrap();
    fleet.label(cluster.id, "env", "secret").await;
    fleet.create("Channel", "news").await;
    // Told once, after the channel, though its labels changed before.
    fleet.label(cluster.id, "tier", "gold").await;
    let all = fleet.store.changes(&start, 10).await.unwrap();
    let names: Vec<_> = all.changes.iter().map(|c| &c.resource.name).collect();
    assert_eq!(names, ["news", "moves"]);
    let moved = [(
        "moves".to_owned(),
        vec!["secret".to_owned(), "dev".to_owned()],
    )];
    // By the id of the event, which goes over the wire as text, and by the place a page ends at.
    let written = all.changes[0].position.to_string();
    assert_eq!(env_since(&fleet, &written.parse().unwrap()).await, moved);
    let page = fleet.store.changes(&start, 1).await.unwrap();
    assert_eq!(env_since(&fleet, &page.position).await, moved);
    // Whoever has read all is told nothing of it again.
    fleet.label(cluster.id, "tier", "silver").await;
    let later = env_since(&fleet, &all.position).await;
    assert_eq!(later, [("moves".to_owned(), vec!["secret".to_owned()])]);
}
