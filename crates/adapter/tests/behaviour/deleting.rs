//! The owner goes, and what belongs to it goes first.

use hyperfleet_adapter::plan::Action;
use serde_json::json;

use crate::world::{CONFIG_MAP, World, cluster, condition, event, handle, message};

fn deleted(id: &str, generation: i64) -> serde_json::Value {
    let mut cluster = cluster(id, generation);
    cluster["deleted_time"] = json!("2026-01-31T12:00:00Z");
    cluster
}

#[tokio::test]
async fn a_deleted_owner_takes_its_objects_with_it_and_is_finalized() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "False");

    world.api.set("c1", deleted("c1", 2));
    let run = handle(&engine, &event("c1", 2)).await;
    assert_eq!(run.operations[0].action, Action::Delete);
    assert_eq!(
        world.object("ConfigMap", "default", "settings-c1").await,
        None
    );
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Finalized"),
        ("True".into(), "CleanupConfirmed".into())
    );
    assert_eq!(condition(&report, "Health").0, "True");
}

#[tokio::test]
async fn nothing_is_created_for_an_owner_that_is_being_deleted() {
    let world = World::start().await;
    world.api.set("c1", deleted("c1", 2));
    let without_gate = CONFIG_MAP.split("    lifecycle:").next().unwrap();
    for task in [CONFIG_MAP, without_gate] {
        let run = handle(&world.engine(task), &event("c1", 2)).await;
        assert_eq!(run.operations[0].action, Action::Nothing);
        assert_eq!(
            world.object("ConfigMap", "default", "settings-c1").await,
            None
        );
        assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
    }
}

#[tokio::test]
async fn preconditions_do_not_hold_up_a_deletion() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task =
        format!("{CONFIG_MAP}preconditions:\n  - name: alive\n    expression: '!isDeleting'\n");
    let engine = world.engine(&task);
    handle(&engine, &event("c1", 1)).await;
    world.api.set("c1", deleted("c1", 2));
    let run = handle(&engine, &event("c1", 2)).await;
    assert_eq!(run.operations[0].action, Action::Delete);
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
}

#[tokio::test]
async fn a_gate_that_cannot_be_answered_touches_nothing_and_says_so() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    let broken = CONFIG_MAP.replace(
        "expression: isDeleting\n",
        "expression: cluster.spec.gone == true\n",
    );
    world.api.set("c1", deleted("c1", 2));
    let run = handle(&world.engine(&broken), &event("c1", 2)).await;
    assert_eq!(run.operations[0].action, Action::Blocked);
    assert!(
        world
            .object("ConfigMap", "default", "settings-c1")
            .await
            .is_some()
    );
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Health"),
        ("False".into(), "GateError".into())
    );
    assert_eq!(condition(&report, "Finalized").0, "False");
    let said = message(&report, "Health");
    assert!(
        said.contains("lifecycle.delete.when") && said.contains("gone"),
        "{said}"
    );
}
