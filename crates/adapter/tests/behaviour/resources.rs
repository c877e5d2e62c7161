//! Objects are created, left alone, updated, repaired.

use hyperfleet_adapter::plan::Action;
use hyperfleet_adapter::{Outcome, Status};
use serde_json::json;

use crate::world::{CONFIG_MAP, World, cluster, condition, event, handle, object};

fn actions(run: &hyperfleet_adapter::Run) -> Vec<Action> {
    run.operations
        .iter()
        .map(|operation| operation.action)
        .collect()
}

#[tokio::test]
async fn the_first_event_creates_a_stamped_object_and_the_next_leaves_it_alone() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);

    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Success),
        "{:?}",
        run.fault
    );
    assert_eq!(actions(&run), [Action::Create]);
    let made = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_eq!(made["data"], json!({"region": "eu", "generation": "1"}));
    assert_eq!(
        made["metadata"]["labels"],
        json!({"hyperfleet.io/adapter": "test", "hyperfleet.io/resource-id": "c1"})
    );
    assert_eq!(
        made["metadata"]["annotations"]["hyperfleet.io/generation"],
        "1"
    );
    let report = world.api.last_report();
    assert_eq!(report["observed_generation"], 1);
    assert_eq!(condition(&report, "Available").0, "True");

    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(actions(&run), [Action::Skip]);
    let after = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_eq!(
        after["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
}

#[tokio::test]
async fn a_new_generation_updates_the_object_in_place() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    let before = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();

    let mut changed = cluster("c1", 2);
    changed["spec"]["region"] = json!("us");
    world.api.set("c1", changed);
    // The event is older than what the API says by now: the API counts.
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(actions(&run), [Action::Update]);
    let after = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_eq!(after["data"], json!({"region": "us", "generation": "2"}));
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(world.api.last_report()["observed_generation"], 2);
}

#[tokio::test]
async fn a_field_of_ours_that_somebody_changed_is_put_back_and_theirs_stays() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    let target = object("ConfigMap", "default", "settings-c1");
    let meddling = json!({"data": {"region": "mars", "extra": "kept"}});
    world.transport.patch(&target, &meddling).await.unwrap();

    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(actions(&run), [Action::Update]);
    assert!(
        run.operations[0].reason.contains(".data.region"),
        "{}",
        run.operations[0].reason
    );
    let after = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_eq!(
        after["data"],
        json!({"region": "eu", "generation": "1", "extra": "kept"})
    );
}

#[tokio::test]
async fn a_field_that_left_the_configuration_leaves_the_object() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    let shorter = CONFIG_MAP.replace("        region: \"{{ .cluster.spec.region }}\"\n", "");
    let run = handle(&world.engine(&shorter), &event("c1", 1)).await;
    assert_eq!(actions(&run), [Action::Update]);
    let after = world.object("ConfigMap", "default", "settings-c1").await;
    assert_eq!(after.unwrap()["data"], json!({"generation": "1"}));
}

#[tokio::test]
async fn an_object_removed_by_hand_comes_back() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    let target = object("ConfigMap", "default", "settings-c1");
    world
        .transport
        .delete(&target, &Default::default())
        .await
        .unwrap();
    assert_eq!(
        actions(&handle(&engine, &event("c1", 1)).await),
        [Action::Create]
    );
}

#[tokio::test]
async fn recreate_on_change_replaces_the_object() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = format!("{CONFIG_MAP}    recreate_on_change: true\n");
    let engine = world.engine(&task);
    handle(&engine, &event("c1", 1)).await;
    let before = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    world.api.set("c1", cluster("c1", 2));
    let run = handle(&engine, &event("c1", 2)).await;
    assert_eq!(actions(&run), [Action::Recreate]);
    let after = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(after["data"]["generation"], "2");
}

#[tokio::test]
async fn objects_found_by_labels_are_recognised_whatever_their_name() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = CONFIG_MAP
        .replace(
            "name: \"settings-{{ .clusterId }}\"",
            "name: \"s-gen{{ .cluster.generation }}\"",
        )
        .replace(
            "by_name: \"settings-{{ .clusterId }}\"",
            "by_selectors: {label_selector: {hyperfleet.io/resource-id: \"{{ .clusterId }}\"}}",
        );
    let engine = world.engine(&task);
    assert_eq!(
        actions(&handle(&engine, &event("c1", 1)).await),
        [Action::Create]
    );
    assert_eq!(
        actions(&handle(&engine, &event("c1", 1)).await),
        [Action::Skip]
    );
}

#[tokio::test]
async fn a_converged_resource_costs_one_read_of_the_api_and_no_write() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    let reads = world.api.reads.load(std::sync::atomic::Ordering::SeqCst);
    handle(&engine, &event("c1", 1)).await;
    assert_eq!(
        world.api.reads.load(std::sync::atomic::Ordering::SeqCst),
        reads + 1
    );
}
