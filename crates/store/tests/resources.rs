//! What is stored is what was given, and writers do not overwrite each other.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::sync::atomic::{AtomicU32, Ordering};

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::{self, Subject};
use hyperfleet_core::generation::Generation;
use hyperfleet_core::identity::{AdapterName, ResourceId};
use hyperfleet_core::list::PageRequest;
use hyperfleet_core::resource::{ObjectReference, Resource};
use hyperfleet_core::time::{Time, storable};
use hyperfleet_store::testing::TestDatabase;
use hyperfleet_store::{Decision, NewResource, Owner, ResourceQuery, Store, StoreError};
use serde_json::json;
use uuid::Uuid;

fn cluster(name: &str) -> Resource {
    let now = storable(chrono::Utc::now());
    let subject = Subject {
        generation: Generation::FIRST,
        updated_time: now,
        deleting: false,
        has_children: false,
        required: &[],
    };
    Resource {
        id: ResourceId(Uuid::now_v7()),
        kind: "Cluster".to_owned(),
        name: name.to_owned(),
        href: format!("/api/hyperfleet/v1/clusters/{name}"),
        spec: json!({"region": "us-east", "big": 9_007_199_254_740_993_i64})
            .as_object()
            .unwrap()
            .clone(),
        labels: [("env".to_owned(), "dev".to_owned())].into(),
        tenancy: Default::default(),
        generation: Generation::FIRST,
        status: aggregation::status(&subject, &[], None, now),
        owner_references: None,
        references: Default::default(),
        created_time: now,
        updated_time: now,
        created_by: "me".to_owned(),
        updated_by: "me".to_owned(),
        deleted_time: None,
        deleted_by: None,
    }
}

fn nodepool(name: &str, owner: &Resource) -> Resource {
    Resource {
        kind: "NodePool".to_owned(),
        owner_references: Some(ObjectReference {
            id: owner.id,
            kind: owner.kind.clone(),
            href: owner.href.clone(),
        }),
        ..cluster(name)
    }
}

async fn create(store: &Store, resource: Resource) -> Result<Resource, StoreError> {
    let new = NewResource { resource };
    store.create(&new).await.map(|()| new.resource)
}

#[tokio::test]
async fn a_resource_is_read_as_it_was_written() {
    let database = TestDatabase::new().await;
    let written = create(&database.store, cluster("one")).await.unwrap();
    let read = database
        .store
        .resource(Some("Cluster"), Owner::Any, written.id)
        .await
        .unwrap();
    assert_eq!(read.as_ref(), Some(&written));
    assert_eq!(
        database
            .store
            .resource(Some("NodePool"), Owner::Any, written.id)
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn an_active_name_is_taken_once_per_owner() {
    let database = TestDatabase::new().await;
    let first = create(&database.store, cluster("same")).await.unwrap();
    let error = create(&database.store, cluster("same")).await.unwrap_err();
    assert!(matches!(error, StoreError::NameTaken { .. }), "{error}");
    let second = create(&database.store, cluster("other")).await.unwrap();
    create(&database.store, nodepool("pool", &first))
        .await
        .unwrap();
    create(&database.store, nodepool("pool", &second))
        .await
        .unwrap();
    let error = create(&database.store, nodepool("pool", &second))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NameTaken { .. }), "{error}");
}

#[tokio::test]
async fn a_child_needs_an_owner_that_exists() {
    let database = TestDatabase::new().await;
    let error = create(&database.store, nodepool("pool", &cluster("never")))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::OwnerGone { .. }), "{error}");
}

#[tokio::test]
async fn pages_are_newest_first_and_know_the_total() {
    let database = TestDatabase::new().await;
    let mut names = Vec::new();
    for index in 0..5 {
        names.push(
            create(&database.store, cluster(&format!("c-{index}")))
                .await
                .unwrap()
                .name,
        );
    }
    names.reverse();
    let mut seen = Vec::new();
    for page in 1..=3 {
        let query = ResourceQuery {
            kind: Some("Cluster"),
            owner: Owner::Any,
            page: PageRequest { page, size: 2 },
        };
        let page = database.store.list(&query).await.unwrap();
        assert_eq!(page.total, 5);
        seen.extend(page.items.into_iter().map(|resource| resource.name));
    }
    assert_eq!(seen, names);
}

fn report(adapter: &str, at: Time) -> AdapterStatus {
    serde_json::from_value(json!({
        "adapter": adapter,
        "observed_generation": 1,
        "conditions": [{"type": "Available", "status": "True", "last_transition_time": at}],
        "created_time": at,
        "last_report_time": at,
    }))
    .unwrap()
}

#[tokio::test]
async fn reports_that_race_on_one_resource_are_all_in_its_status() {
    let database = TestDatabase::new().await;
    let resource = create(&database.store, cluster("raced")).await.unwrap();
    let adapters: Vec<AdapterName> = (0..8)
        .map(|index| AdapterName::try_from(format!("adapter-{index}")).unwrap())
        .collect();
    let decisions = AtomicU32::new(0);
    let writers = adapters.iter().map(|name| {
        let report = report(name.as_str(), storable(chrono::Utc::now()));
        let (adapters, decisions, store) = (&adapters, &decisions, &database.store);
        async move {
            store
                .report(None, Owner::Any, resource.id, |stored| {
                    decisions.fetch_add(1, Ordering::Relaxed);
                    let mut reports = stored.reports.clone();
                    reports.push(report.clone());
                    let subject = Subject {
                        generation: stored.resource.generation,
                        updated_time: stored.resource.updated_time,
                        deleting: false,
                        has_children: stored.has_children,
                        required: adapters,
                    };
                    let status = aggregation::status(
                        &subject,
                        &reports,
                        Some(&stored.resource.status),
                        report.last_report_time,
                    );
                    Ok::<_, ()>(Decision {
                        answer: (),
                        store: Some((report.clone(), status)),
                    })
                })
                .await
        }
    });
    for outcome in futures::future::join_all(writers).await {
        assert_eq!(outcome.unwrap(), Some(Ok(())));
    }
    let after = database
        .store
        .resource(None, Owner::Any, resource.id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        after.status.phase.as_str(),
        "Ready",
        "the last writer saw all eight: {:?}",
        after.status.conditions
    );
    assert_eq!(database.store.statuses(resource.id).await.unwrap().len(), 8);
    assert!(decisions.load(Ordering::Relaxed) >= 8);
}

#[tokio::test]
async fn a_report_on_nothing_is_told_apart() {
    let database = TestDatabase::new().await;
    let outcome = database
        .store
        .report(None, Owner::Any, ResourceId(Uuid::now_v7()), |_| {
            Ok::<Decision<()>, ()>(Decision {
                answer: (),
                store: None,
            })
        })
        .await;
    assert_eq!(outcome.unwrap(), None);
}
