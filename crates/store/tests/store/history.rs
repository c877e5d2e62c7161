use hyperfleet_core::history::HistoryEntry;
use hyperfleet_store::{AuditQuery, HistoryCursor};

use crate::fleet::{Fleet, done, finalized, report};

fn word(entry: &HistoryEntry) -> String {
    match entry {
        HistoryEntry::Audit(line) => line.action.clone(),
        HistoryEntry::Status(line) => format!("{}:{}", line.adapter, line.phase),
    }
}

#[tokio::test]
async fn history_tells_everything_newest_first_and_outlives_the_resource() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "told").await;
    for name in ["a", "b"] {
        fleet.report(cluster.id, &done(name)).await.unwrap();
    }
    fleet.label(cluster.id, "x", "y").await;
    fleet.delete(&cluster).await.unwrap();
    fleet
        .report(cluster.id, &report("a", 3, &[("Available", "False")]))
        .await
        .unwrap();
    for name in ["a", "b"] {
        fleet.report(cluster.id, &finalized(name, 3)).await.unwrap();
    }
    assert_eq!(fleet.read(cluster.id).await, None);

    let mut words = Vec::new();
    let mut from = HistoryCursor::NEWEST;
    loop {
        let (page, next) = fleet.store.history(cluster.id, from, 3).await.unwrap();
        words.extend(page.iter().map(word));
        match next {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(
        words,
        [
            "remove",
            "b:Terminating",
            "a:Terminating",
            "a:Terminating",
            "delete",
            "patch",
            "b:Ready",
            "a:Provisioning",
            "create",
        ]
    );
}

#[tokio::test]
async fn the_audit_log_answers_who_did_what() {
    let fleet = Fleet::new().await;
    let one = fleet.create("Channel", "one").await;
    fleet.create("Cluster", "two").await;
    fleet.delete(&one).await.unwrap();
    let lines = fleet
        .store
        .audit(&AuditQuery {
            kind: Some("Channel"),
            actor: Some("me"),
            limit: 10,
            ..AuditQuery::default()
        })
        .await
        .unwrap();
    let actions: Vec<&str> = lines.iter().map(|line| line.action.as_str()).collect();
    assert_eq!(actions, ["remove", "create"]);
    assert_eq!(lines[0].request_id, "request-1");
    assert_eq!(
        lines[1].detail.as_ref().unwrap()["spec"]["region"],
        "us-east"
    );
}

#[tokio::test]
async fn what_is_not_reconciled_is_counted_by_kind_and_age_and_everything_by_phase() {
    let fleet = Fleet::new().await;
    let (_, doomed) = (
        fleet.create("Cluster", "new").await,
        fleet.create("Cluster", "doomed").await,
    );
    fleet.delete(&doomed).await.unwrap();
    let ready = fleet.create("Cluster", "ready").await;
    for name in ["a", "b"] {
        fleet.report(ready.id, &done(name)).await.unwrap();
    }
    fleet.create("Channel", "needs-nobody").await;
    let hour = chrono::TimeDelta::hours(1);
    let later = chrono::Utc::now() + hour * 2;
    let mut groups = fleet.store.pending(hour, later).await.unwrap();
    groups.sort_by_key(|group| group.deleting);
    let seen: Vec<_> = groups
        .iter()
        .map(|group| {
            (
                group.kind.as_str(),
                group.deleting,
                group.count,
                group.stuck,
            )
        })
        .collect();
    assert_eq!(seen, [("Cluster", false, 1, 1), ("Cluster", true, 1, 1)]);
    assert!(groups[0].longest > hour);
    let young = fleet.store.pending(hour * 3, later).await.unwrap();
    assert!(young.iter().all(|group| group.stuck == 0));

    let mut phases = fleet.store.phases().await.unwrap();
    phases.sort_by_key(|one| (one.kind.clone(), one.phase.clone()));
    let seen: Vec<_> = phases
        .iter()
        .map(|one| (one.kind.as_str(), one.phase.as_str(), one.count))
        .collect();
    let expected = [
        ("Channel", "Ready", 1),
        ("Cluster", "Pending", 1),
        ("Cluster", "Ready", 1),
        ("Cluster", "Terminating", 1),
    ];
    assert_eq!(seen, expected);
}
