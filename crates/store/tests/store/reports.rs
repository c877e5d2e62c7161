use hyperfleet_core::identity::ResourceId;
use hyperfleet_core::phase::Phase;
use uuid::Uuid;

use crate::fleet::{Fleet, adapter, done, now, report};

#[tokio::test]
async fn reports_that_race_on_one_resource_are_all_in_its_status() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "raced").await;
    let names: Vec<String> = (0..8).map(|index| format!("extra-{index}")).collect();
    let reports: Vec<_> = names
        .iter()
        .map(String::as_str)
        .chain(["a", "b"])
        .map(done)
        .collect();
    let writers = reports
        .iter()
        .map(|report| fleet.report(cluster.id, report));
    for outcome in futures::future::join_all(writers).await {
        assert_eq!(outcome.unwrap(), Some(()));
    }
    let after = fleet.read(cluster.id).await.unwrap();
    assert_eq!(
        after.status.phase,
        Phase::Ready,
        "{:?}",
        after.status.conditions
    );
    assert_eq!(
        after.status.adapters.len(),
        10,
        "the last writer saw all of them"
    );
    assert_eq!(fleet.store.statuses(cluster.id).await.unwrap().len(), 10);
}

#[tokio::test]
async fn a_report_on_nothing_is_told_apart() {
    let fleet = Fleet::new().await;
    let nothing = ResourceId(Uuid::now_v7());
    assert_eq!(fleet.report(nothing, &done("a")).await.unwrap(), None);
}

#[tokio::test]
async fn a_repeated_report_moves_times_and_tells_no_watcher() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "quiet").await;
    for name in ["a", "b"] {
        fleet.report(cluster.id, &done(name)).await.unwrap();
    }
    let before = fleet.read(cluster.id).await.unwrap();
    let position = fleet.store.position().await.unwrap();
    let again: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|name| {
            let mut again = done(name);
            again.last_report_time = now() + chrono::TimeDelta::seconds(60);
            again
        })
        .collect();
    for report in &again {
        fleet.report(cluster.id, report).await.unwrap();
    }
    let after = fleet.read(cluster.id).await.unwrap();
    assert!(after.status.last_updated_time > before.status.last_updated_time);
    assert!(after.status.says_the_same(&before.status));
    let stored = fleet.store.statuses(cluster.id).await.unwrap();
    for (stored, sent) in stored.iter().zip(&again) {
        assert_eq!(stored.last_report_time, sent.last_report_time);
    }
    let news = fleet.store.changes(&position, 10).await.unwrap();
    assert_eq!(news.changes.len(), 0);
    let (lines, _) = fleet
        .store
        .history(cluster.id, hyperfleet_store::HistoryCursor::NEWEST, 100)
        .await
        .unwrap();
    assert_eq!(lines.len(), 3, "a create and two first reports: {lines:?}");
}

#[tokio::test]
async fn a_report_after_a_repeated_one_is_the_newest_again() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "turned").await;
    fleet.report(cluster.id, &done("a")).await.unwrap();
    let mut again = done("a");
    again.last_report_time = now() + chrono::TimeDelta::seconds(5);
    fleet.report(cluster.id, &again).await.unwrap();
    let mut failed = report("a", 1, &[("Available", "False")]);
    failed.last_report_time = now() + chrono::TimeDelta::seconds(9);
    fleet.report(cluster.id, &failed).await.unwrap();
    let stored = fleet.store.statuses(cluster.id).await.unwrap();
    assert_eq!(stored[0].adapter, adapter("a"));
    assert_eq!(stored[0].last_report_time, failed.last_report_time);
}

#[tokio::test]
async fn a_repeated_report_touches_no_index() {
    const AGAIN: i64 = 20;
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "steady").await;
    // Enough conditions that the row is one PostgreSQL compresses.
    let names: Vec<String> = (0..16).map(|index| format!("adapter-{index}")).collect();
    for name in &names {
        fleet.report(cluster.id, &done(name)).await.unwrap();
    }
    let pool = fleet.store.pool_for_tests();
    let updates = async || -> (i64, i64) {
        sqlx::query_as(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'resources'",
        )
        .fetch_one(pool)
        .await
        .unwrap()
    };
    let settled = async |least: i64| {
        loop {
            let (all, hot) = updates().await;
            if all >= least {
                return (all, hot);
            }
            // A connection tells its counts once a second if it is used, else only after ten.
            fleet.store.statuses(cluster.id).await.unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let mut reported = i64::try_from(names.len()).unwrap();
    let (_, mut before) = settled(reported).await;
    // A transaction of another test may keep old versions on the page, so that a new one finds no room on it: then all
    // of them are tried again.
    for round in 1.. {
        for index in 1..=AGAIN {
            let mut again = done("adapter-3");
            again.last_report_time = now() + chrono::TimeDelta::seconds(round * AGAIN + index);
            fleet.report(cluster.id, &again).await.unwrap();
        }
        reported += AGAIN;
        let (_, after) = settled(reported).await;
        if after - before == AGAIN {
            return;
        }
        assert!(round < 5, "{} of {AGAIN}", after - before);
        before = after;
    }
}

#[tokio::test]
async fn no_document_that_reports_write_is_sampled_for_plans() {
    let fleet = Fleet::new().await;
    let sampled: Vec<String> = sqlx::query_scalar(
        "SELECT attrelid::regclass || '.' || attname FROM pg_attribute
         WHERE attrelid IN ('resources'::regclass, 'adapter_statuses'::regclass, 'status_history'::regclass)
           AND atttypid = 'jsonb'::regtype AND coalesce(attstattarget, -1) <> 0",
    )
    .fetch_all(fleet.store.pool_for_tests())
    .await
    .unwrap();
    // What a tenant sees is found through it.
    assert_eq!(sampled, ["resources.tenancy"]);
}
