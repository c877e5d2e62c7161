//! What the transport promises, whatever the server.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use hyperfleet_transport::{
    Delete, Deletion, Failure, MaestroTransport, Mode, ObjectKind, ObjectRef, Scope, Selector,
    Survey, Target, Transport,
};
use serde_json::{Value, json};

use crate::{World, config};

type Promise = fn(World) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! promises {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn all() -> Vec<(&'static str, Promise)> {
            vec![$((stringify!($name), |world| Box::pin($name(world)))),*]
        }
    };
}

promises![
    an_applied_work_is_found_by_its_name,
    applying_the_same_again_writes_nothing,
    an_update_replaces_the_spec_and_keeps_foreign_labels,
    a_change_made_meanwhile_is_a_conflict,
    a_dry_run_changes_nothing,
    a_patch_merges_and_removes,
    a_patch_cannot_rename,
    a_deleted_work_stays_until_the_agent_confirms,
    a_guarded_deletion_spares_a_changed_work,
    what_the_agent_said_is_part_of_the_work,
    works_are_found_by_labels_in_their_cluster_only,
    many_works_are_listed_page_by_page,
    works_of_other_sources_are_not_seen,
    an_unregistered_consumer_is_named,
    other_kinds_are_refused,
    names_that_break_out_are_refused,
    an_outage_is_told_as_one_and_passes,
    a_short_outage_is_sat_out,
    a_silent_server_is_given_up,
    a_foreign_not_found_is_no_absence,
    the_client_says_who_it_is,
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

fn at(consumer: &str, name: &str) -> ObjectRef {
    kind().named(Some(consumer), name)
}

async fn applied(world: &World, work: &Value) -> Value {
    world.transport.apply(work, Mode::Commit).await.unwrap()
}

async fn an_applied_work_is_found_by_its_name(world: World) {
    let wanted = work("cluster1", "w", 1);
    let made = applied(&world, &wanted).await;
    let found = world.transport.get(&at("cluster1", "w")).await.unwrap();
    assert_eq!(found, Some(made.clone()));
    assert_eq!(made["spec"], wanted["spec"]);
    assert_eq!(made["metadata"]["labels"], wanted["metadata"]["labels"]);
    assert_eq!(made["metadata"]["namespace"], "cluster1");
    assert_eq!(
        world.transport.get(&at("cluster2", "w")).await.unwrap(),
        None
    );
    assert_eq!(
        world.transport.scope(&kind()).await.unwrap(),
        Scope::Namespaced
    );
}

async fn applying_the_same_again_writes_nothing(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let again = applied(&world, &work("cluster1", "w", 1)).await;
    assert_eq!(again["metadata"]["generation"], 1);
    assert_eq!(world.server.events(), 1);
}

async fn an_update_replaces_the_spec_and_keeps_foreign_labels(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let foreign = json!({"metadata": {"labels": {"theirs": "1"}}});
    let patched = world.transport.patch(&at("cluster1", "w"), &foreign).await;
    patched.unwrap();
    let mut next = work("cluster1", "w", 2);
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
    assert_eq!(after["metadata"]["generation"], 3);
}

async fn a_change_made_meanwhile_is_a_conflict(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    applied(&world, &work("cluster1", "w", 2)).await;
    let options = Delete {
        resource_version: Some("1".to_owned()),
        ..Delete::default()
    };
    let error = world.transport.delete(&at("cluster1", "w"), &options).await;
    let error = error.unwrap_err();
    assert!(matches!(error.failure, Failure::Conflict { .. }), "{error}");
    assert!(error.is_transient());
    let exists = world
        .transport
        .create(&work("cluster1", "w", 3))
        .await
        .unwrap_err();
    assert!(
        matches!(exists.failure, Failure::AlreadyExists { .. }),
        "{exists}"
    );
}

async fn a_dry_run_changes_nothing(world: World) {
    let fresh = work("cluster1", "w", 1);
    let would = world.transport.apply(&fresh, Mode::DryRun).await.unwrap();
    assert_eq!(would["spec"], fresh["spec"]);
    assert_eq!(world.server.bundles().len(), 0);
    applied(&world, &fresh).await;
    let would = world
        .transport
        .apply(&work("cluster1", "w", 2), Mode::DryRun)
        .await;
    assert_eq!(
        would.unwrap()["metadata"]["annotations"]["hyperfleet.io/generation"],
        "2"
    );
    assert_eq!(world.server.events(), 1);
    let nowhere = world
        .transport
        .apply(&work("nobody", "w", 1), Mode::DryRun)
        .await;
    assert_eq!(nowhere.unwrap_err().reason(), "NotFound");
}

async fn a_patch_merges_and_removes(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let patch =
        json!({"metadata": {"labels": {"app": null, "new": "1"}}, "spec": {"deleteOption": null}});
    let after = world
        .transport
        .patch(&at("cluster1", "w"), &patch)
        .await
        .unwrap();
    assert_eq!(after["metadata"]["labels"], json!({"new": "1"}));
    assert_eq!(after["spec"]["deleteOption"], Value::Null);
    assert_eq!(
        after["spec"]["workload"],
        work("cluster1", "w", 1)["spec"]["workload"]
    );
    let absent = world
        .transport
        .patch(&at("cluster1", "other"), &patch)
        .await;
    assert_eq!(absent.unwrap_err().reason(), "NotFound");
}

async fn a_patch_cannot_rename(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    for patch in [
        json!({"metadata": {"name": "v"}}),
        json!({"metadata": {"namespace": "cluster2"}}),
        json!({"kind": "Job"}),
        json!({"metadata": "nothing"}),
        json!({"spec": {"workload": {"manifests": []}}}),
    ] {
        let error = world.transport.patch(&at("cluster1", "w"), &patch).await;
        assert_eq!(error.unwrap_err().reason(), "Invalid", "{patch}");
    }
    let other = json!({"metadata": {"uid": "another", "labels": {"a": "b"}}});
    let error = world.transport.patch(&at("cluster1", "w"), &other).await;
    assert_eq!(error.unwrap_err().reason(), "Conflict");
    assert_eq!(world.server.events(), 1);
}

async fn a_deleted_work_stays_until_the_agent_confirms(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let object = at("cluster1", "w");
    let options = Delete::default();
    let delete = || world.transport.delete(&object, &options);
    assert_eq!(delete().await.unwrap(), Deletion::Accepted);
    let left = world.transport.get(&object).await.unwrap().unwrap();
    assert!(left["metadata"]["deletionTimestamp"].is_string());
    let late = world
        .transport
        .apply(&work("cluster1", "w", 2), Mode::Commit)
        .await;
    assert_eq!(
        late.unwrap_err().reason(),
        "Conflict",
        "it is on its way out"
    );
    assert!(world.server.confirm_deletion("cluster1", "w"));
    assert_eq!(world.transport.get(&object).await.unwrap(), None);
    assert_eq!(delete().await.unwrap(), Deletion::Absent);
}

async fn a_guarded_deletion_spares_a_changed_work(world: World) {
    let made = applied(&world, &work("cluster1", "w", 1)).await;
    let uid = made["metadata"]["uid"].as_str().unwrap().to_owned();
    let guarded = |uid: &str| Delete {
        uid: Some(uid.to_owned()),
        ..Delete::default()
    };
    let object = at("cluster1", "w");
    let spared = world.transport.delete(&object, &guarded("another")).await;
    assert_eq!(spared.unwrap_err().reason(), "Conflict");
    let gone = world.transport.delete(&object, &guarded(&uid)).await;
    assert_eq!(gone.unwrap(), Deletion::Accepted);
}

async fn what_the_agent_said_is_part_of_the_work(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let feedback = json!({"values": [{"name": "phase", "fieldValue": {"type": "String", "string": "Active"}}]});
    let said = json!({"conditions": [{"type": "Applied", "status": "True"}],
        "resourceStatus": [{"resourceMeta": {"name": "inner"}, "statusFeedback": feedback}]});
    assert!(world.server.report("cluster1", "w", said));
    let found = world
        .transport
        .get(&at("cluster1", "w"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found["status"]["observedGeneration"], 1);
    assert_eq!(
        found["status"]["resourceStatus"]["manifests"][0]["statusFeedback"],
        feedback
    );
    let next = applied(&world, &work("cluster1", "w", 2)).await;
    assert_eq!(next["metadata"]["generation"], 2);
    assert_eq!(
        next["status"]["observedGeneration"], 1,
        "it is about the version before"
    );
}

async fn works_are_found_by_labels_in_their_cluster_only(world: World) {
    let labelled = |consumer: &str, name: &str, value: &str| {
        let mut work = work(consumer, name, 1);
        work["metadata"]["labels"] = json!({"of": value});
        work
    };
    for (consumer, name, value) in [
        ("cluster1", "a", "x"),
        ("cluster1", "b", "y"),
        ("cluster2", "c", "x"),
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
        .list(&kind(), Some("cluster1"), &selector)
        .await;
    assert_eq!(names(here.unwrap()), ["a"]);
    let everywhere = world.transport.list(&kind(), None, &selector).await;
    assert_eq!(names(everywhere.unwrap()), ["a", "c"]);
}

async fn many_works_are_listed_page_by_page(world: World) {
    for index in 0..401 {
        let one = work("cluster1", &format!("w{index}"), 1);
        world.transport.create(&one).await.unwrap();
    }
    let all = world
        .transport
        .list(&kind(), Some("cluster1"), &Selector::default())
        .await;
    assert_eq!(all.unwrap().len(), 401);
}

async fn works_of_other_sources_are_not_seen(world: World) {
    let mut other = config(&world.server);
    other.source_id = "another".to_owned();
    let other = MaestroTransport::new(other).unwrap();
    other
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await
        .unwrap();
    assert_eq!(
        world.transport.get(&at("cluster1", "w")).await.unwrap(),
        None
    );
    let all = world
        .transport
        .list(&kind(), None, &Selector::default())
        .await;
    assert_eq!(all.unwrap(), Vec::<Value>::new());
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
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "cluster1"}});
    let error = world.transport.apply(&job, Mode::Commit).await.unwrap_err();
    assert_eq!(error.reason(), "Invalid");
    assert!(error.to_string().contains("takes ManifestWork"), "{error}");
    let empty = json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
        "metadata": {"name": "w", "namespace": "cluster1"}, "spec": "nothing"});
    let error = world
        .transport
        .apply(&empty, Mode::Commit)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("at least one object"), "{error}");
}

async fn names_that_break_out_are_refused(world: World) {
    for name in ["", "a'b", "../x", "A", "-a", "a b"] {
        for object in [at(name, "w"), at("cluster1", name)] {
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
        let mut config = config(&world.server);
        config.source_id = source.to_owned();
        let error = MaestroTransport::new(config).err().unwrap().to_string();
        assert!(error.starts_with("clients.maestro.source_id: "), "{error}");
    }
}

async fn an_outage_is_told_as_one_and_passes(world: World) {
    world.server.set_down(true);
    let error = world.transport.get(&at("cluster1", "w")).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.target),
        ("MaestroUnavailable", Target::Maestro)
    );
    assert!(error.is_transient() && error.is_outage());
    world.server.set_down(false);
    applied(&world, &work("cluster1", "w", 1)).await;
    let gone = world.server;
    drop(gone);
    let error = world
        .transport
        .create(&work("cluster1", "v", 1))
        .await
        .unwrap_err();
    assert!(error.is_outage(), "{error}");
}

async fn a_short_outage_is_sat_out(world: World) {
    let mut patient = config(&world.server);
    patient.attempts = 3;
    let patient = MaestroTransport::new(patient).unwrap();
    world.server.fail_next(2);
    assert_eq!(patient.get(&at("cluster1", "w")).await.unwrap(), None);
    world.server.fail_next(3);
    assert!(
        patient
            .get(&at("cluster1", "w"))
            .await
            .unwrap_err()
            .is_outage()
    );
}

async fn a_silent_server_is_given_up(world: World) {
    let mut config = config(&world.server);
    config.silence = Duration::from_millis(50);
    let hasty = MaestroTransport::new(config).unwrap();
    world.server.set_mute(true);
    let error = hasty.create(&work("cluster1", "w", 1)).await.unwrap_err();
    assert!(error.is_outage());
    assert!(
        error.to_string().contains("no answer to the event in 50ms"),
        "{error}"
    );
}

async fn a_foreign_not_found_is_no_absence(world: World) {
    let mut elsewhere = config(&world.server);
    elsewhere.http_address = format!("{}/somewhere/else", world.server.http_address());
    assert!(MaestroTransport::connect(elsewhere.clone()).await.is_err());
    let elsewhere = MaestroTransport::new(elsewhere).unwrap();
    let error = elsewhere.get(&at("cluster1", "w")).await.unwrap_err();
    assert_eq!(error.reason(), "MaestroError");
    assert!(error.to_string().contains("http_server_address"), "{error}");
}

async fn the_client_says_who_it_is(world: World) {
    let mut named = config(&world.server);
    named.client_id = "adapter-7".to_owned();
    let named = MaestroTransport::new(named).unwrap();
    named
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await
        .unwrap();
    let callers = world.server.callers();
    let ours = callers
        .iter()
        .filter(|caller| caller.starts_with("adapter-7"));
    assert_eq!(ours.count(), 3, "read, event, read: {callers:?}");
}

async fn clusters_do_not_get_into_each_others_way(world: World) {
    let world = std::sync::Arc::new(world);
    let tasks: Vec<_> = (0..20)
        .map(|index| {
            let world = std::sync::Arc::clone(&world);
            let consumer = if index % 2 == 0 {
                "cluster1"
            } else {
                "cluster2"
            };
            tokio::spawn(async move {
                let made = world
                    .transport
                    .apply(&work(consumer, &format!("w{index}"), 1), Mode::Commit)
                    .await;
                assert_eq!(made.unwrap()["metadata"]["namespace"], consumer);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for consumer in ["cluster1", "cluster2"] {
        let here = world
            .transport
            .list(&kind(), Some(consumer), &Selector::default())
            .await;
        assert_eq!(here.unwrap().len(), 10);
    }
}

async fn all_works_are_surveyed(world: World) {
    applied(&world, &work("cluster1", "a", 1)).await;
    let mut unlabelled = work("cluster2", "b", 1);
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
