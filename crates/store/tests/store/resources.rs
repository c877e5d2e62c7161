use hyperfleet_core::effect::Effect;
use hyperfleet_store::{Create, Created, Owner, StoreError};

use crate::fleet::{Fleet, author, point_at};

#[tokio::test]
async fn a_resource_is_read_as_it_was_written() {
    let fleet = Fleet::new().await;
    let written = fleet.create("Cluster", "one").await;
    assert_eq!(fleet.read(written.id).await.as_ref(), Some(&written));
    let other_kind = fleet
        .store
        .resource(Some("NodePool"), Owner::Any, written.id);
    assert_eq!(other_kind.await.unwrap(), None);
}

#[tokio::test]
async fn an_active_name_is_taken_once_per_owner() {
    let fleet = Fleet::new().await;
    let first = fleet.create("Cluster", "same").await;
    let error = fleet
        .store_new(fleet.draft("Cluster", "same"))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NameTaken { .. }), "{error}");
    let second = fleet.create("Cluster", "other").await;
    fleet.create_child("NodePool", "pool", &first).await;
    fleet.create_child("NodePool", "pool", &second).await;
    let again = fleet
        .store_new(fleet.child("NodePool", "pool", &second))
        .await;
    assert!(matches!(again, Err(StoreError::NameTaken { .. })));
}

#[tokio::test]
async fn a_child_needs_an_owner_and_a_reference_a_target_that_are_there_and_stay() {
    let fleet = Fleet::new().await;
    let never = fleet.draft("Cluster", "never");
    let orphan = fleet
        .store_new(fleet.child("NodePool", "pool", &never))
        .await;
    assert!(matches!(orphan, Err(StoreError::OwnerGone { .. })));
    let going = fleet.create("Cluster", "going").await;
    fleet.delete(&going).await.unwrap();
    let late = fleet
        .store_new(fleet.child("NodePool", "pool", &going))
        .await;
    assert!(matches!(late, Err(StoreError::OwnerGone { .. })));

    let mut dangling = fleet.draft("Cluster", "dangling");
    let reference = hyperfleet_core::resource::Reference {
        target: point_at(&fleet.draft("Wif", "no")),
        missing: false,
    };
    dangling.references = [("wif".to_owned(), vec![reference])].into();
    let refused = fleet.store_new(dangling).await;
    assert!(matches!(refused, Err(StoreError::TargetGone { .. })));
}

#[tokio::test]
async fn a_create_with_a_key_is_answered_twice_and_done_once() {
    let fleet = Fleet::new().await;
    let first = fleet.draft("Cluster", "keyed");
    let second = fleet.draft("Cluster", "keyed");
    let with = |resource, fingerprint| Create {
        resource,
        recheck: None,
        idempotency: Some(("key-1", fingerprint)),
        effect: Effect::Lasting,
    };
    let made = fleet
        .store
        .create(&with(&first, b"f1"), author())
        .await
        .unwrap();
    assert_eq!(made, Created::New);
    let again = fleet
        .store
        .create(&with(&second, b"f1"), author())
        .await
        .unwrap();
    assert_eq!(again, Created::Before(Box::new(first.clone())));
    assert_eq!(fleet.read(second.id).await, None);
    let other = fleet.draft("Cluster", "another");
    let taken = fleet
        .store
        .create(&with(&other, b"f2"), author())
        .await
        .unwrap();
    assert_eq!(taken, Created::KeyTaken);
    assert_eq!(
        fleet.read(other.id).await,
        None,
        "nothing is stored under a taken key"
    );
}

#[tokio::test]
async fn writers_that_race_all_count() {
    let fleet = Fleet::new().await;
    let cluster = fleet.create("Cluster", "raced").await;
    let keys: Vec<String> = (0..8).map(|index| format!("writer-{index}")).collect();
    let writers = keys
        .iter()
        .map(|key| fleet.label(cluster.id, key, "was-here"));
    futures::future::join_all(writers).await;
    let after = fleet.read(cluster.id).await.unwrap();
    assert_eq!(after.labels.len(), 9);
    assert_eq!(after.generation.get(), 9, "eight changes after the first");
}
