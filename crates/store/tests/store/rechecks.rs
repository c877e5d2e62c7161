//! Statuses that change without a report.

use chrono::TimeDelta;
use hyperfleet_core::phase::Phase;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::time::Time;
use hyperfleet_store::testing::RECHECK_LOCK;
use hyperfleet_store::{Rechecked, Start, Sweep};

use crate::fleet::{Fleet, done, now, rules};

const IMPATIENT: &str = "defaultBehavior: {timeout: 10m}\npolicies: {staleThreshold: 40m}\n";

async fn impatient() -> Fleet {
    let mut fleet = Fleet::new().await;
    fleet.rules = rules(IMPATIENT);
    fleet
}

fn minutes(minutes: i64) -> TimeDelta {
    TimeDelta::minutes(minutes)
}

async fn recheck(fleet: &Fleet, now: Time) -> Rechecked {
    let done = fleet.store.recheck(now, 100, fleet).await.unwrap();
    done.expect("nobody else is at it")
}

async fn phase(fleet: &Fleet, resource: &Resource) -> Phase {
    fleet.read(resource.id).await.unwrap().status.phase
}

#[tokio::test]
async fn time_alone_fails_a_cluster_and_a_report_rearms_it() {
    let fleet = impatient().await;
    let cluster = fleet.create("Cluster", "waiting").await;
    let created = cluster.created_time;
    fleet.create("Channel", "timeless").await;
    assert_eq!(
        fleet.store.next_recheck().await.unwrap(),
        Some(created + minutes(10))
    );

    let early = recheck(&fleet, created + minutes(9)).await;
    assert_eq!((early.seen, early.finished), (0, true));
    let late = recheck(&fleet, created + minutes(10)).await;
    assert_eq!((late.seen, late.changed), (1, 1));
    assert_eq!(phase(&fleet, &cluster).await, Phase::Failed);
    assert_eq!(
        fleet.store.next_recheck().await.unwrap(),
        None,
        "nothing is left that time could change"
    );

    fleet.report(cluster.id, &done("a")).await.unwrap();
    let next = fleet.store.next_recheck().await.unwrap();
    assert!(
        next.is_some_and(|next| next > created + minutes(9)),
        "{next:?}"
    );
}

#[tokio::test]
async fn a_repeated_report_leaves_the_recheck_where_it_is_and_the_recheck_moves_it_on() {
    let fleet = impatient().await;
    let cluster = fleet.create("Cluster", "steady").await;
    let first = done("a");
    fleet.report(cluster.id, &first).await.unwrap();
    fleet.report(cluster.id, &done("b")).await.unwrap();
    let armed = fleet.store.next_recheck().await.unwrap().unwrap();
    assert_eq!(armed, first.last_report_time + minutes(40));

    let again = |adapter| {
        let mut report = done(adapter);
        report.last_report_time = now() + minutes(30);
        report
    };
    fleet.report(cluster.id, &again("a")).await.unwrap();
    let repeated = again("b");
    fleet.report(cluster.id, &repeated).await.unwrap();
    assert_eq!(fleet.store.next_recheck().await.unwrap(), Some(armed));

    let seen = recheck(&fleet, armed).await;
    assert_eq!((seen.seen, seen.changed), (1, 0));
    assert_eq!(phase(&fleet, &cluster).await, Phase::Ready);
    let rearmed = fleet.store.next_recheck().await.unwrap().unwrap();
    assert!(rearmed > armed + minutes(20), "{rearmed} after {armed}");
}

#[tokio::test]
async fn one_replica_at_a_time_looks() {
    let fleet = impatient().await;
    let cluster = fleet.create("Cluster", "contended").await;
    let late = cluster.created_time + minutes(11);
    let mut other = fleet.store.pool_for_tests().begin().await.unwrap();
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(RECHECK_LOCK)
        .execute(&mut *other)
        .await
        .unwrap();
    let refused = fleet.store.recheck(late, 100, &fleet).await.unwrap();
    assert_eq!(refused, None);
    other.rollback().await.unwrap();
    assert_eq!(recheck(&fleet, late).await.changed, 1);
}

#[tokio::test]
async fn new_rules_reach_every_resource_in_batches_and_once() {
    let mut fleet = Fleet::new().await;
    let mut clusters = Vec::new();
    for index in 0..5 {
        clusters.push(fleet.create("Cluster", &format!("c{index}")).await);
    }
    fleet.create("Channel", "unconcerned").await;
    fleet.rules = rules("clusterConditions: [{type: New, evaluate: {expr: 'true'}}]");
    let sweep = async |start| {
        let swept = fleet.store.sweep("v2", start, now(), 4, &fleet).await;
        swept.unwrap()
    };
    let batch = |seen, changed, finished| {
        Sweep::Batch(Rechecked {
            seen,
            changed,
            finished,
        })
    };
    assert_eq!(sweep(Start::Never).await, Sweep::Others, "nobody has begun");
    assert_eq!(sweep(Start::Anew).await, batch(4, 4, false));
    assert_eq!(sweep(Start::Never).await, batch(2, 1, true));
    assert_eq!(sweep(Start::Anew).await, Sweep::Done);
    for cluster in &clusters {
        let status = fleet.read(cluster.id).await.unwrap().status;
        assert!(status.conditions.iter().any(|c| c.kind == "New"));
    }

    let others = fleet.store.sweep("v3", Start::Anew, now(), 4, &fleet).await;
    assert_eq!(others.unwrap(), batch(4, 0, false), "they say the same");
    assert_eq!(sweep(Start::Never).await, Sweep::Others);
}

#[tokio::test]
async fn what_is_due_is_found_through_an_index() {
    let fleet = Fleet::new().await;
    let mut tx = fleet.store.pool_for_tests().begin().await.unwrap();
    // A small table is read whole whatever there is; without that choice the plan shows whether the index fits.
    sqlx::query("SET LOCAL enable_seqscan = off")
        .execute(&mut *tx)
        .await
        .unwrap();
    for query in [
        "SELECT min(recheck_time) FROM resources",
        "SELECT id FROM resources WHERE recheck_time <= now() ORDER BY recheck_time LIMIT 100",
    ] {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN {query}"));
        let plan: Vec<String> = sqlx::query_scalar(explain)
            .fetch_all(&mut *tx)
            .await
            .unwrap();
        assert!(
            plan.iter().any(|line| line.contains("resources_recheck")),
            "{plan:#?}"
        );
    }
}
