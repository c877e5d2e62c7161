//! Reports that come at the same time.

use std::time::Duration;

use futures::future::join_all;
use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::phase::Phase;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{HistoryCursor, StoreError};
use serde_json::json;

use crate::fleet::{Fleet, done, now, report};

/// Enough that most have to wait for others.
const MANY: usize = 40;

async fn clusters(fleet: &Fleet) -> Vec<Resource> {
    let mut clusters = Vec::new();
    for number in 0..MANY {
        clusters.push(fleet.create("Cluster", &format!("one-of-{number}")).await);
    }
    clusters
}

async fn all_at_once(
    fleet: &Fleet,
    reports: &[(&Resource, AdapterStatus)],
) -> Vec<Result<Option<()>, StoreError>> {
    let reports = reports
        .iter()
        .map(|(cluster, report)| fleet.report(cluster.id, report));
    join_all(reports).await
}

/// That few transactions stored the reports on many.
async fn assert_together(fleet: &Fleet, clusters: &[&Resource]) {
    let ids: Vec<_> = clusters.iter().map(|cluster| cluster.id.0).collect();
    let transactions: i64 =
        sqlx::query_scalar("SELECT count(DISTINCT xmin::text) FROM resources WHERE id = ANY($1)")
            .bind(&ids)
            .fetch_one(fleet.store.pool_for_tests())
            .await
            .unwrap();
    assert!(transactions < 10, "{transactions}");
}

#[tokio::test]
async fn each_is_stored_as_if_it_were_alone_by_few_transactions() {
    let fleet = Fleet::new().await;
    let clusters = clusters(&fleet).await;
    for cluster in &clusters {
        fleet.report(cluster.id, &done("a")).await.unwrap();
    }
    let position = fleet.store.position().await.unwrap();
    // Some repeat what was said, some say something new of an adapter that is known, some are an adapter's first.
    let later = now() + chrono::TimeDelta::seconds(60);
    let reports: Vec<_> = clusters
        .iter()
        .enumerate()
        .map(|(number, cluster)| {
            let mut report = match number % 3 {
                0 => done("a"),
                1 => report("a", 1, &[("Available", "False"), ("Applied", "True")]),
                _ => done("b"),
            };
            report.last_report_time = later;
            if number % 3 != 0 {
                report.data = json!({"number": number}).as_object().unwrap().into();
            }
            (cluster, report)
        })
        .collect();
    for stored in all_at_once(&fleet, &reports).await {
        assert_eq!(stored.unwrap(), Some(()));
    }
    for (number, (cluster, sent)) in reports.iter().enumerate() {
        let stored = fleet.store.statuses(cluster.id).await.unwrap();
        let stored = stored.iter().find(|one| one.adapter == sent.adapter);
        let stored = stored.unwrap();
        assert_eq!(stored.conditions, sent.conditions, "{number}");
        assert_eq!(
            (&stored.data, &stored.metadata),
            (&sent.data, &sent.metadata)
        );
        assert_eq!(stored.last_report_time, later, "{number}");
        let phase = fleet.read(cluster.id).await.unwrap().status.phase;
        let newest = HistoryCursor::NEWEST;
        let (lines, _) = fleet.store.history(cluster.id, newest, 100).await.unwrap();
        let (ready, told) = (phase == Phase::Ready, lines.len() > 2);
        assert_eq!(
            (ready, told),
            (number % 3 == 2, number % 3 != 0),
            "{number}"
        );
    }
    let news = fleet.store.changes(&position, 100).await.unwrap();
    let repeated = MANY.div_ceil(3);
    assert_eq!(
        news.changes.len(),
        MANY - repeated,
        "repeated ones are no news"
    );
    let reported: Vec<_> = clusters.iter().collect();
    assert_together(&fleet, &reported).await;
}

#[tokio::test]
async fn one_that_has_to_wait_holds_up_none_of_the_others() {
    let fleet = Fleet::new().await;
    let clusters = clusters(&fleet).await;
    let mut other = fleet.store.pool_for_tests().begin().await.unwrap();
    sqlx::query("SELECT 1 FROM resources WHERE id = $1 FOR UPDATE")
        .bind(clusters[7].id.0)
        .execute(&mut *other)
        .await
        .unwrap();
    let (held, rest): (Vec<_>, Vec<_>) = clusters
        .iter()
        .map(|cluster| (cluster, done("a")))
        .partition(|(cluster, _)| cluster.id == clusters[7].id);
    let others: Vec<_> = rest.iter().map(|(cluster, _)| *cluster).collect();
    let (held, rest) = (all_at_once(&fleet, &held), all_at_once(&fleet, &rest));
    let mut held = std::pin::pin!(held);
    let patience = Duration::from_secs(20);
    let rest = tokio::select! {
        _ = &mut held => panic!("stored although somebody else has the row"),
        rest = tokio::time::timeout(patience, rest) => rest.expect("the others are held up"),
    };
    for stored in rest {
        assert_eq!(stored.unwrap(), Some(()));
    }
    // Together, so nobody had to give up waiting and go alone.
    assert_together(&fleet, &others).await;
    other.rollback().await.unwrap();
    let held = tokio::time::timeout(patience, held).await;
    assert_eq!(held.unwrap()[0].as_ref().unwrap(), &Some(()));
}

#[tokio::test]
async fn one_that_cannot_be_stored_spoils_none_of_the_others() {
    let fleet = Fleet::new().await;
    let clusters = clusters(&fleet).await;
    let reports: Vec<_> = clusters
        .iter()
        .enumerate()
        .map(|(number, cluster)| {
            let mut report = done("a");
            if number == 7 {
                // PostgreSQL keeps no such character.
                report.data = json!({"text": "\0"}).as_object().unwrap().into();
            }
            (cluster, report)
        })
        .collect();
    let outcomes = all_at_once(&fleet, &reports).await;
    for (number, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_err(), number == 7, "{number}: {outcome:?}");
    }
    let spoilt = fleet.store.statuses(clusters[7].id).await.unwrap();
    assert!(spoilt.is_empty(), "{spoilt:?}");
}
