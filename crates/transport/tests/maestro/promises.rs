//! What the transport promises, whatever the server.

use hyperfleet_transport::{
    Delete, Deletion, Failure, MaestroTransport, Mode, ObjectKind, ObjectRef, Scope, Selector,
    Survey, Transport,
};
use serde_json::{Value, json};

use crate::{World, promises};

promises![
    an_applied_work_is_found_by_its_name,
    applying_the_same_again_writes_nothing,
    an_update_replaces_the_spec_and_keeps_foreign_labels,
    a_change_made_meanwhile_is_a_conflict,
    a_dry_run_changes_nothing,
    a_patch_merges_and_removes,
    a_patch_cannot_rename,
    a_guarded_deletion_spares_a_changed_work,
    works_are_found_by_labels_in_their_cluster_only,
    works_of_other_sources_are_not_seen,
    works_with_the_same_id_are_told_apart,
    an_unregistered_consumer_is_named,
    other_kinds_are_refused,
    names_that_break_out_are_refused,
    clusters_do_not_get_into_each_others_way,
    all_works_are_surveyed,
];

pub(crate) fn kind() -> ObjectKind {
    ObjectKind::new("work.open-cluster-management.io/v1", "ManifestWork")
}

pub(crate) fn work(consumer: &str, name: &str, generation: i64) -> Value {
    json!({
        "apiVersion": "work.open-cluster-management.io/v1",
        "kind": "ManifestWork",
        "metadata": {"name": name, "namespace": consumer, "labels": {"app": "x"},
            "annotations": {"hyperfleet.io/generation": generation.to_string()}},
        "spec": {
            "workload": {"manifests": [{"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "inner", "namespace": "default"}, "data": {"generation": generation.to_string()}}]},
            "deleteOption": {"propagationPolicy": "Foreground"},
        },
    })
}

pub(crate) fn at(consumer: &str, name: &str) -> ObjectRef {
    kind().named(Some(consumer), name)
}

pub(crate) async fn applied(world: &World, work: &Value) -> Value {
    world.transport.apply(work, Mode::Commit).await.unwrap()
}

async fn an_applied_work_is_found_by_its_name(world: World) {
    let wanted = work(&world.one, "w", 1);
    let made = applied(&world, &wanted).await;
    let found = world.transport.get(&at(&world.one, "w")).await.unwrap();
    assert_eq!(found, Some(made.clone()));
    assert_eq!(made["spec"], wanted["spec"]);
    assert_eq!(made["metadata"]["labels"], wanted["metadata"]["labels"]);
    assert_eq!(made["metadata"]["namespace"], world.one.as_str());
    assert_eq!(
        world.transport.get(&at(&world.two, "w")).await.unwrap(),
        None
    );
    assert_eq!(
        world.transport.scope(&kind()).await.unwrap(),
        Scope::Namespaced
    );
}

async fn applying_the_same_again_writes_nothing(world: World) {
    let made = applied(&world, &work(&world.one, "w", 1)).await;
    let again = applied(&world, &work(&world.one, "w", 1)).await;
    assert_eq!(
        again["metadata"]["generation"],
        made["metadata"]["generation"]
    );
}

async fn an_update_replaces_the_spec_and_keeps_foreign_labels(world: World) {
    applied(&world, &work(&world.one, "w", 1)).await;
    let foreign = json!({"metadata": {"labels": {"theirs": "1"}}});
    let patched = world.transport.patch(&at(&world.one, "w"), &foreign).await;
    let patched = patched.unwrap();
    let mut next = work(&world.one, "w", 2);
    next["spec"].as_object_mut().unwrap().remove("deleteOption");
    let after = applied(&world, &next).await;
    assert_eq!(
        after["spec"], next["spec"],
        "what is not mentioned any more is gone"
    );
    assert_eq!(
        after["metadata"]["labels"],
        json!({"app": "x", "theirs": "1"})
    );
    assert_eq!(
        after["metadata"]["annotations"]["hyperfleet.io/generation"],
        "2"
    );
    let version = |work: &Value| work["metadata"]["generation"].as_i64();
    assert!(version(&after) > version(&patched));
}

async fn a_change_made_meanwhile_is_a_conflict(world: World) {
    let seen = applied(&world, &work(&world.one, "w", 1)).await;
    applied(&world, &work(&world.one, "w", 2)).await;
    let version = seen["metadata"]["resourceVersion"].as_str();
    let options = Delete {
        resource_version: version.map(str::to_owned),
        ..Delete::default()
    };
    let error = world.transport.delete(&at(&world.one, "w"), &options).await;
    let error = error.unwrap_err();
    assert!(matches!(error.failure, Failure::Conflict { .. }), "{error}");
    assert!(error.is_transient());
    let exists = world
        .transport
        .create(&work(&world.one, "w", 3))
        .await
        .unwrap_err();
    assert!(
        matches!(exists.failure, Failure::AlreadyExists { .. }),
        "{exists}"
    );
}

async fn a_dry_run_changes_nothing(world: World) {
    let fresh = work(&world.one, "w", 1);
    let would = world.transport.apply(&fresh, Mode::DryRun).await.unwrap();
    assert_eq!(would["spec"], fresh["spec"]);
    let found = world.transport.get(&at(&world.one, "w")).await;
    assert_eq!(found.unwrap(), None);
    applied(&world, &fresh).await;
    let would = world
        .transport
        .apply(&work(&world.one, "w", 2), Mode::DryRun)
        .await;
    assert_eq!(
        would.unwrap()["metadata"]["annotations"]["hyperfleet.io/generation"],
        "2"
    );
    let nowhere = world
        .transport
        .apply(&work("nobody", "w", 1), Mode::DryRun)
        .await;
    assert_eq!(nowhere.unwrap_err().reason(), "NotFound");
}

async fn a_patch_merges_and_removes(world: World) {
    applied(&world, &work(&world.one, "w", 1)).await;
    let patch =
        json!({"metadata": {"labels": {"app": null, "new": "1"}}, "spec": {"deleteOption": null}});
    let after = world
        .transport
        .patch(&at(&world.one, "w"), &patch)
        .await
        .unwrap();
    assert_eq!(after["metadata"]["labels"], json!({"new": "1"}));
    assert_eq!(after["spec"]["deleteOption"], Value::Null);
    assert_eq!(
        after["spec"]["workload"],
        work(&world.one, "w", 1)["spec"]["workload"]
    );
    let absent = world
        .transport
        .patch(&at(&world.one, "other"), &patch)
        .await;
    assert_eq!(absent.unwrap_err().reason(), "NotFound");
}

async fn a_patch_cannot_rename(world: World) {
    applied(&world, &work(&world.one, "w", 1)).await;
    for patch in [
        json!({"metadata": {"name": "v"}}),
        json!({"metadata": {"namespace": world.two}}),
        json!({"kind": "Job"}),
        json!({"metadata": "nothing"}),
        json!({"spec": {"workload": {"manifests": []}}}),
    ] {
        let error = world.transport.patch(&at(&world.one, "w"), &patch).await;
        assert_eq!(error.unwrap_err().reason(), "Invalid", "{patch}");
    }
    let other = json!({"metadata": {"uid": "another", "labels": {"a": "b"}}});
    let error = world.transport.patch(&at(&world.one, "w"), &other).await;
    assert_eq!(error.unwrap_err().reason(), "Conflict");
}

async fn a_guarded_deletion_spares_a_changed_work(world: World) {
    let made = applied(&world, &work(&world.one, "w", 1)).await;
    let uid = made["metadata"]["uid"].as_str().unwrap().to_owned();
    let guarded = |uid: &str| Delete {
        uid: Some(uid.to_owned()),
        ..Delete::default()
    };
    let object = at(&world.one, "w");
    let spared = world.transport.delete(&object, &guarded("another")).await;
    assert_eq!(spared.unwrap_err().reason(), "Conflict");
    let gone = world.transport.delete(&object, &guarded(&uid)).await;
    assert_eq!(gone.unwrap(), Deletion::Accepted);
}

async fn works_are_found_by_labels_in_their_cluster_only(world: World) {
    let labelled = |consumer: &str, name: &str, value: &str| {
        let mut work = work(consumer, name, 1);
        work["metadata"]["labels"] = json!({"of": value});
        work
    };
    for (consumer, name, value) in [
        (&world.one, "a", "x"),
        (&world.one, "b", "y"),
        (&world.two, "c", "x"),
    ] {
        applied(&world, &labelled(consumer, name, value)).await;
    }
    let selector = Selector {
        labels: [("of".to_owned(), "x".to_owned())].into(),
    };
    let names = |found: Vec<Value>| {
        let mut names: Vec<_> = found
            .iter()
            .map(|one| one["metadata"]["name"].clone())
            .collect();
        names.sort_by_key(Value::to_string);
        names
    };
    let here = world
        .transport
        .list(&kind(), Some(&world.one), &selector)
        .await;
    assert_eq!(names(here.unwrap()), ["a"]);
    let everywhere = world.transport.list(&kind(), None, &selector).await;
    assert_eq!(names(everywhere.unwrap()), ["a", "c"]);
}

async fn works_of_other_sources_are_not_seen(world: World) {
    let mut other = world.config.clone();
    other.source_id = "another".to_owned();
    let other = MaestroTransport::new(other).unwrap();
    other
        .apply(&work(&world.one, "w", 1), Mode::Commit)
        .await
        .unwrap();
    assert_eq!(
        world.transport.get(&at(&world.one, "w")).await.unwrap(),
        None
    );
    let all = world
        .transport
        .list(&kind(), None, &Selector::default())
        .await;
    assert_eq!(all.unwrap(), Vec::<Value>::new());
}

/// Ids are made of names put together with `-`.
async fn works_with_the_same_id_are_told_apart(world: World) {
    let longer = format!("{}-x", world.one);
    world.register(&longer).await;
    applied(&world, &work(&longer, "y", 1)).await;
    let twin = at(&world.one, "x-y");
    let error = world.transport.get(&twin).await.unwrap_err();
    assert_eq!(error.reason(), "Conflict");
    assert!(
        error.to_string().contains("give one of them another name"),
        "{error}"
    );
    let error = world.transport.delete(&twin, &Delete::default()).await;
    assert_eq!(error.unwrap_err().reason(), "Conflict");
    let spared = world
        .transport
        .get(&at(&longer, "y"))
        .await
        .unwrap()
        .unwrap();
    assert!(spared["metadata"]["deletionTimestamp"].is_null());
}

async fn an_unregistered_consumer_is_named(world: World) {
    let error = world
        .transport
        .apply(&work("nobody", "w", 1), Mode::Commit)
        .await;
    let error = error.unwrap_err();
    assert_eq!(error.reason(), "NotFound");
    assert!(!error.is_transient());
    let told = error.to_string();
    assert!(
        told.contains("consumer \"nobody\" is not registered in Maestro"),
        "{told}"
    );
}

async fn other_kinds_are_refused(world: World) {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": world.one}});
    let error = world.transport.apply(&job, Mode::Commit).await.unwrap_err();
    assert_eq!(error.reason(), "Invalid");
    assert!(error.to_string().contains("takes ManifestWork"), "{error}");
    let empty = json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
        "metadata": {"name": "w", "namespace": world.one}, "spec": "nothing"});
    let error = world
        .transport
        .apply(&empty, Mode::Commit)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("at least one object"), "{error}");
}

async fn names_that_break_out_are_refused(world: World) {
    for name in ["", "a'b", "../x", "A", "-a", "a b"] {
        for object in [at(name, "w"), at(&world.one, name)] {
            let error = world.transport.get(&object).await.unwrap_err();
            assert_eq!(error.reason(), "Invalid", "{object}");
        }
    }
    let error = world
        .transport
        .list(&kind(), Some("x' or source='y"), &Selector::default())
        .await;
    assert_eq!(error.unwrap_err().reason(), "Invalid");
    for source in ["", "a'b"] {
        let mut config = world.config.clone();
        config.source_id = source.to_owned();
        let error = MaestroTransport::new(config).err().unwrap().to_string();
        assert!(error.starts_with("clients.maestro.source_id: "), "{error}");
    }
}

async fn clusters_do_not_get_into_each_others_way(world: World) {
    let world = std::sync::Arc::new(world);
    let tasks: Vec<_> = (0..20)
        .map(|index| {
            let world = std::sync::Arc::clone(&world);
            let consumer = match index % 2 {
                0 => world.one.clone(),
                _ => world.two.clone(),
            };
            tokio::spawn(async move {
                let made = world
                    .transport
                    .apply(&work(&consumer, &format!("w{index}"), 1), Mode::Commit)
                    .await;
                assert_eq!(made.unwrap()["metadata"]["namespace"], consumer.as_str());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for consumer in [&world.one, &world.two] {
        let here = world
            .transport
            .list(&kind(), Some(consumer), &Selector::default())
            .await;
        assert_eq!(here.unwrap().len(), 10);
    }
}

async fn all_works_are_surveyed(world: World) {
    applied(&world, &work(&world.one, "a", 1)).await;
    let mut unlabelled = work(&world.two, "b", 1);
    unlabelled["metadata"]["labels"] = json!({});
    applied(&world, &unlabelled).await;
    assert_eq!(world.transport.kinds().await.unwrap().kinds, [kind()]);
    let page = world.transport.page(&kind(), "app", None).await.unwrap();
    let names: Vec<_> = page
        .items
        .iter()
        .map(|one| one["metadata"]["name"].clone())
        .collect();
    assert_eq!((names, page.next), (vec![json!("a")], None));
}
