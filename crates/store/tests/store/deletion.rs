use hyperfleet_core::deletion::Removal;
use hyperfleet_core::effect::Effect;
use hyperfleet_core::phase::Phase;
use hyperfleet_core::resource::Resource;
use hyperfleet_store::{Owner, Refusal, StoreError};

use crate::fleet::{Fleet, author, finalized};

fn refusal(outcome: Result<Option<Resource>, StoreError>) -> Refusal {
    match outcome {
        Err(StoreError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn five_deletes_at_once_are_one() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "doomed").await;
    let five = (0..5).map(|_| fleet.delete(&cluster));
    let answers: Vec<Resource> = futures::future::join_all(five)
        .await
        .into_iter()
        .map(|answer| answer.unwrap().unwrap())
        .collect();
    for answer in &answers {
        assert_eq!(answer.generation.get(), 2);
        assert_eq!(answer.deleted_time, answers[0].deleted_time);
        assert_eq!(answer.status.phase, Phase::Terminating);
    }
    let (lines, _) = fleet
        .store
        .history(cluster.id, hyperfleet_store::HistoryCursor::NEWEST, 10)
        .await
        .unwrap();
    assert_eq!(lines.len(), 2, "created once, deleted once: {lines:?}");
}

#[tokio::test]
async fn what_nobody_has_to_clean_up_goes_at_once_and_leaves_a_record() {
    let fleet = Fleet::new().await;
    let channel = fleet.create("Channel", "stable").await;
    let answer = fleet.delete(&channel).await.unwrap().unwrap();
    assert!(answer.is_deleting());
    assert_eq!(fleet.read(channel.id).await, None);
    let record = fleet
        .store
        .deletion(None, Owner::Any, channel.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (record.how, record.name.as_str()),
        (Removal::Finalized, "stable")
    );
    assert_eq!(fleet.delete(&channel).await.unwrap(), None);
    let again = fleet.create("Channel", "stable").await;
    assert_ne!(again.id, channel.id);
}

#[tokio::test]
async fn a_cascade_goes_innermost_first_and_takes_the_parent_along_at_the_end() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "parent").await;
    let pool = fleet.create_child("NodePool", "pool", &cluster).await;
    fleet.delete(&cluster).await.unwrap();
    let (parent, child) = (
        fleet.read(cluster.id).await.unwrap(),
        fleet.read(pool.id).await.unwrap(),
    );
    assert_eq!(
        parent.deleted_time, child.deleted_time,
        "one moment for all"
    );
    assert_eq!(child.generation.get(), 2);

    for name in ["a", "b"] {
        fleet.report(cluster.id, &finalized(name, 2)).await.unwrap();
    }
    let waiting = fleet
        .read(cluster.id)
        .await
        .expect("its child is still there");
    let reconciled = waiting.condition("Reconciled").unwrap();
    assert_eq!(
        reconciled.reason.as_deref(),
        Some("ReconciledWaitingForChildren")
    );

    fleet.report(pool.id, &finalized("a", 2)).await.unwrap();
    assert_eq!(fleet.read(pool.id).await, None);
    assert_eq!(
        fleet.read(cluster.id).await,
        None,
        "it waited only for its child"
    );
}

#[tokio::test]
async fn a_parent_that_still_waits_for_adapters_changes_when_its_last_child_goes() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "parent").await;
    let pool = fleet.create_child("NodePool", "pool", &cluster).await;
    fleet.delete(&cluster).await.unwrap();
    let before = fleet.read(cluster.id).await.unwrap();
    let position = fleet.store.position().await.unwrap();
    fleet.report(pool.id, &finalized("a", 2)).await.unwrap();
    let after = fleet.read(cluster.id).await.unwrap();
    assert!(
        after.updated_time > before.updated_time,
        "a change is due at once"
    );
    let news = fleet.store.changes(&position, 10).await.unwrap();
    assert!(
        news.changes
            .iter()
            .any(|change| change.resource.id == cluster.id)
    );
}

#[tokio::test]
async fn restrict_refuses_while_active_children_exist() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "held").await;
    let lease = fleet.create_child("Lease", "lease", &cluster).await;
    let why = refusal(fleet.delete(&cluster).await);
    assert_eq!(
        why.to_string(),
        format!(
            "Cannot delete Cluster '{}': active Lease(s) exist",
            cluster.id
        )
    );
    assert_eq!(
        fleet.read(cluster.id).await,
        Some(cluster.clone()),
        "nothing changed"
    );
    fleet.delete(&lease).await.unwrap();
    assert!(fleet.delete(&cluster).await.unwrap().unwrap().is_deleting());
}

#[tokio::test]
async fn orphans_stay_and_lose_their_owner() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "parent").await;
    let note = fleet.create_child("Note", "note", &cluster).await;
    fleet.delete(&cluster).await.unwrap();
    let left = fleet.read(note.id).await.unwrap();
    assert_eq!(left.owner_references, None);
    assert_eq!(left.href, format!("/api/hyperfleet/v1/notes/{}", note.id));
    assert!(!left.is_deleting());
    let other = fleet.create("Cluster", "other").await;
    fleet.create_child("Note", "note", &other).await;
    let why = refusal(fleet.delete(&other).await);
    assert!(matches!(why, Refusal::OrphanNameTaken { .. }), "{why}");
    assert!(!fleet.read(other.id).await.unwrap().is_deleting());
}

#[tokio::test]
async fn a_strong_reference_holds_its_target() {
    let fleet = Fleet::new().await;
    let wif = fleet.create("Wif", "login").await;
    let cluster = fleet.create_pointing("user", "wif", &wif).await;
    let why = refusal(fleet.delete(&wif).await);
    assert_eq!(
        why.to_string(),
        "cannot delete Wif \"login\": referenced by Cluster \"user\" — remove the reference(s) before deleting"
    );
    fleet.delete(&cluster).await.unwrap();
    assert!(
        fleet.delete(&wif).await.unwrap().is_some(),
        "what is going holds nothing"
    );
    assert_eq!(fleet.read(wif.id).await, None);
}

#[tokio::test]
async fn a_weak_reference_lets_its_target_go_and_is_marked_or_goes_too() {
    let fleet = Fleet::new().await;
    let hint = fleet.create("Hint", "hint").await;
    let marked = fleet.create_pointing("marked", "hint", &hint).await;
    let taken = fleet.create_pointing("taken", "base", &hint).await;
    fleet.delete(&hint).await.unwrap();
    assert_eq!(fleet.read(hint.id).await, None);
    let marked = fleet.read(marked.id).await.unwrap();
    assert!(marked.references["hint"][0].missing);
    assert!(!marked.is_deleting());
    assert!(fleet.read(taken.id).await.unwrap().is_deleting());
}

fn allowed(_: &Resource) -> Result<(), std::convert::Infallible> {
    Ok(())
}

#[tokio::test]
async fn force_takes_the_whole_tree_and_only_what_is_going_already() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "stuck").await;
    let pool = fleet.create_child("NodePool", "pool", &cluster).await;
    let target = (Some("Cluster"), Owner::Any, cluster.id);
    let early = fleet
        .store
        .force_delete(
            target,
            "because",
            author(),
            Effect::Lasting,
            &fleet,
            allowed,
        )
        .await;
    assert!(matches!(
        early,
        Err(StoreError::Refused(Refusal::NotDeleting { .. }))
    ));
    fleet.delete(&cluster).await.unwrap();
    let refused = fleet
        .store
        .force_delete(target, "because", author(), Effect::Lasting, &fleet, |_| {
            Err("no")
        })
        .await;
    assert_eq!(refused.unwrap(), Some(Err("no")));
    let forced = fleet
        .store
        .force_delete(
            target,
            "because",
            author(),
            Effect::Lasting,
            &fleet,
            allowed,
        )
        .await;
    assert_eq!(forced.unwrap(), Some(Ok(())));
    assert_eq!(
        (fleet.read(cluster.id).await, fleet.read(pool.id).await),
        (None, None)
    );
    let record = fleet
        .store
        .deletion(Some("NodePool"), Owner::Is(cluster.id), pool.id)
        .await;
    let record = record.unwrap().unwrap();
    assert_eq!(
        (record.how, record.reason.as_deref()),
        (Removal::Forced, Some("because"))
    );
    let again = fleet
        .store
        .force_delete(
            target,
            "because",
            author(),
            Effect::Lasting,
            &fleet,
            allowed,
        )
        .await;
    assert_eq!(again.unwrap(), None);
}

#[tokio::test]
async fn a_parent_without_adapters_goes_with_its_last_child() {
    let fleet = Fleet::new().await;
    let channel = fleet.create("Channel", "stable").await;
    let version = fleet.create_child("Version", "v1", &channel).await;
    fleet.delete(&channel).await.unwrap();
    assert!(
        fleet.read(channel.id).await.is_some(),
        "its version is still finalizing"
    );
    fleet.report(version.id, &finalized("a", 2)).await.unwrap();
    assert_eq!(fleet.read(channel.id).await, None);
}

#[tokio::test]
async fn a_deletion_from_above_and_last_reports_from_below_do_not_lock_each_other_out() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "busy").await;
    let mut pools = Vec::new();
    for index in 0..6 {
        let pool = fleet
            .create_child("NodePool", &format!("pool-{index}"), &cluster)
            .await;
        fleet.delete(&pool).await.unwrap();
        pools.push(pool);
    }
    let last = finalized("a", 2);
    let reports = pools.iter().map(|pool| fleet.report(pool.id, &last));
    let (deleted, reported) =
        futures::future::join(fleet.delete(&cluster), futures::future::join_all(reports)).await;
    deleted.unwrap();
    for outcome in reported {
        outcome.unwrap();
    }
    for pool in pools {
        assert_eq!(fleet.read(pool.id).await, None);
    }
    for name in ["a", "b"] {
        fleet.report(cluster.id, &finalized(name, 2)).await.unwrap();
    }
    assert_eq!(fleet.read(cluster.id).await, None);
}
