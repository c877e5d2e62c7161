//! Deletion: finalizers, preconditions, owners.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{MERGE, World, config_map};

promises![
    a_plain_deletion_answers_success,
    a_deletion_of_a_pod_vanishes_at_once_with_grace_zero,
    a_finalizer_holds_the_object,
    a_second_deletion_of_a_held_object_changes_nothing,
    no_finalizer_can_be_added_while_deleting,
    preconditions_are_checked,
    a_bad_propagation_policy_is_refused,
    background_deletion_collects_dependents,
    foreground_deletion_waits_for_dependents,
    foreground_deletion_does_not_wait_for_those_that_do_not_block,
    orphaning_strips_the_reference,
    an_object_with_a_missing_owner_is_collected,
    an_object_with_another_living_owner_stays,
    an_owner_with_another_uid_is_no_owner,
    an_owner_of_an_unknown_kind_is_left_alone,
    jobs_orphan_their_pods_by_default,
    grandchildren_go_too,
];

fn owned(name: &str, owner: &Value, block: bool) -> Value {
    let mut object = config_map(name, json!({}));
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": block,
    }]);
    object
}

async fn held(world: &World, mut object: Value) -> Value {
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.post(&world.maps(), &object).await.ok()
}

async fn release(world: &World, name: &str) {
    world
        .patch(
            &world.map(name),
            MERGE,
            &json!({"metadata": {"finalizers": null}}),
        )
        .await
        .ok();
}

async fn a_plain_deletion_answers_success(world: World) {
    let created = world.create_map("a", json!({})).await;
    let status = world.delete(&world.map("a")).await.ok();
    assert_eq!(status["status"], "Success");
    assert_eq!(
        status["details"],
        json!({"name": "a", "kind": "configmaps", "uid": created["metadata"]["uid"]})
    );
    world.get(&world.map("a")).await.refused(404, "NotFound");
    world.delete(&world.map("a")).await.refused(404, "NotFound");
}

async fn a_deletion_of_a_pod_vanishes_at_once_with_grace_zero(world: World) {
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}});
    world
        .until(&world.path("v1", "serviceaccounts/default"), |r| {
            r.code == 200
        })
        .await;
    world.post(&world.path("v1", "pods"), &pod).await.ok();
    world
        .delete(&format!(
            "{}?gracePeriodSeconds=0",
            world.path("v1", "pods/p")
        ))
        .await
        .ok();
    world
        .get(&world.path("v1", "pods/p"))
        .await
        .refused(404, "NotFound");
}

async fn a_finalizer_holds_the_object(world: World) {
    held(&world, config_map("a", json!({}))).await;
    let deleting = world.delete(&world.map("a")).await.ok();
    assert_eq!(deleting["kind"], "ConfigMap");
    assert!(deleting["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(deleting["metadata"]["deletionGracePeriodSeconds"], 0);
    assert!(world.get(&world.map("a")).await.ok()["metadata"]["deletionTimestamp"].is_string());
    release(&world, "a").await;
    world.get(&world.map("a")).await.refused(404, "NotFound");
}

async fn a_second_deletion_of_a_held_object_changes_nothing(world: World) {
    held(&world, config_map("a", json!({}))).await;
    let first = world.delete(&world.map("a")).await.ok();
    let second = world.delete(&world.map("a")).await.ok();
    assert_eq!(first["metadata"], second["metadata"]);
    release(&world, "a").await;
}

async fn no_finalizer_can_be_added_while_deleting(world: World) {
    held(&world, config_map("a", json!({}))).await;
    world.delete(&world.map("a")).await.ok();
    let patch = json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}});
    let status = world
        .patch(&world.map("a"), MERGE, &patch)
        .await
        .refused(422, "Invalid");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("no new finalizers can be added if the object is being deleted")
    );
    release(&world, "a").await;
}

async fn preconditions_are_checked(world: World) {
    let created = world.create_map("a", json!({})).await;
    let uid = json!({"preconditions": {"uid": "00000000-0000-0000-0000-000000000000"}});
    let status = world
        .delete_with(&world.map("a"), &uid)
        .await
        .refused(409, "Conflict");
    let wanted = format!(
        "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (00000000-0000-0000-0000-000000000000) does not match the UID in record ({}). The object might have been deleted and then recreated",
        created["metadata"]["uid"].as_str().unwrap()
    );

    assert_eq!(status["message"], wanted);
    let version = json!({"preconditions": {"resourceVersion": "1"}});
    world
        .delete_with(&world.map("a"), &version)
        .await
        .refused(409, "Conflict");
    let right = json!({"preconditions": {"uid": created["metadata"]["uid"]}});
    world.delete_with(&world.map("a"), &right).await.ok();
}

async fn a_bad_propagation_policy_is_refused(world: World) {
    world.create_map("a", json!({})).await;
    let reply = world
        .delete_with(&world.map("a"), &json!({"propagationPolicy": "Sideways"}))
        .await;
    reply.refused(422, "Invalid");
    let both = json!({"propagationPolicy": "Background", "orphanDependents": true});
    world
        .delete_with(&world.map("a"), &both)
        .await
        .refused(422, "Invalid");
}

async fn background_deletion_collects_dependents(world: World) {
    let owner = world.create_map("owner", json!({})).await;
    world
        .post(&world.maps(), &owned("child", &owner, false))
        .await
        .ok();
    world
        .delete_with(
            &world.map("owner"),
            &json!({"propagationPolicy": "Background"}),
        )
        .await
        .ok();
    world
        .get(&world.map("owner"))
        .await
        .refused(404, "NotFound");
    world.gone(&world.map("child")).await;
}

async fn foreground_deletion_waits_for_dependents(world: World) {
    let owner = world.create_map("owner", json!({})).await;
    held(&world, owned("child", &owner, true)).await;
    let deleting = world
        .delete_with(
            &world.map("owner"),
            &json!({"propagationPolicy": "Foreground"}),
        )
        .await
        .ok();
    assert_eq!(
        deleting["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    world
        .until(&world.map("child"), |r| {
            r.body["metadata"]["deletionTimestamp"].is_string()
        })
        .await;
    world.get(&world.map("owner")).await.ok();
    release(&world, "child").await;
    world.gone(&world.map("child")).await;
    world.gone(&world.map("owner")).await;
}

async fn foreground_deletion_does_not_wait_for_those_that_do_not_block(world: World) {
    let owner = world.create_map("owner", json!({})).await;
    held(&world, owned("child", &owner, false)).await;
    world
        .delete_with(
            &world.map("owner"),
            &json!({"propagationPolicy": "Foreground"}),
        )
        .await
        .ok();
    world.gone(&world.map("owner")).await;
    world
        .until(&world.map("child"), |r| {
            r.body["metadata"]["deletionTimestamp"].is_string()
        })
        .await;
    release(&world, "child").await;
}

async fn orphaning_strips_the_reference(world: World) {
    let owner = world.create_map("owner", json!({})).await;
    world
        .post(&world.maps(), &owned("child", &owner, true))
        .await
        .ok();
    let deleting = world
        .delete_with(&world.map("owner"), &json!({"propagationPolicy": "Orphan"}))
        .await
        .ok();
    assert_eq!(deleting["metadata"]["finalizers"], json!(["orphan"]));
    world.gone(&world.map("owner")).await;
    let child = world.get(&world.map("child")).await.ok();
    assert!(
        child["metadata"].get("ownerReferences").is_none(),
        "{child:#}"
    );
}

async fn an_object_with_a_missing_owner_is_collected(world: World) {
    let ghost =
        json!({"metadata": {"name": "ghost", "uid": "11111111-1111-1111-1111-111111111111"}});
    world
        .post(&world.maps(), &owned("child", &ghost, false))
        .await
        .ok();
    world.gone(&world.map("child")).await;
}

async fn an_object_with_another_living_owner_stays(world: World) {
    let (one, two) = (
        world.create_map("one", json!({})).await,
        world.create_map("two", json!({})).await,
    );
    let mut child = owned("child", &one, false);
    let second = owned("x", &two, false)["metadata"]["ownerReferences"][0].clone();
    child["metadata"]["ownerReferences"]
        .as_array_mut()
        .unwrap()
        .push(second);
    world.post(&world.maps(), &child).await.ok();
    world.delete(&world.map("one")).await.ok();
    let left = |r: &crate::world::Reply| {
        r.body["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|l| l.len() == 1)
    };
    let child = world.until(&world.map("child"), left).await.body;
    assert_eq!(child["metadata"]["ownerReferences"][0]["name"], "two");
}

async fn an_owner_with_another_uid_is_no_owner(world: World) {
    let mut owner = world.create_map("owner", json!({})).await;
    owner["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111".into();
    world
        .post(&world.maps(), &owned("child", &owner, false))
        .await
        .ok();
    world.gone(&world.map("child")).await;
    world.get(&world.map("owner")).await.ok();
}

async fn an_owner_of_an_unknown_kind_is_left_alone(world: World) {
    let mut child = config_map("child", json!({}));
    child["metadata"]["ownerReferences"] = json!([{"apiVersion": "nobody.example/v1", "kind": "Nothing", "name": "x", "uid": "11111111-1111-1111-1111-111111111111"}]);
    world.post(&world.maps(), &child).await.ok();
    // Proof by a later arrival: a collectable object created after it goes, and it is still there.
    let ghost =
        json!({"metadata": {"name": "ghost", "uid": "22222222-2222-2222-2222-222222222222"}});
    world
        .post(&world.maps(), &owned("later", &ghost, false))
        .await
        .ok();
    world.gone(&world.map("later")).await;
    world.get(&world.map("child")).await.ok();
}

async fn jobs_orphan_their_pods_by_default(world: World) {
    let path = world.path("batch/v1", "jobs");
    let mut object = crate::world::job("j");
    object["spec"]["suspend"] = true.into();
    world.post(&path, &object).await.ok();
    let reply = world.delete(&format!("{path}/j")).await.ok();
    assert_eq!(
        reply["metadata"]["finalizers"],
        json!(["orphan"]),
        "{reply:#}"
    );
    world.gone(&format!("{path}/j")).await;
}

async fn grandchildren_go_too(world: World) {
    let owner = world.create_map("owner", json!({})).await;
    let child = world
        .post(&world.maps(), &owned("child", &owner, false))
        .await
        .ok();
    world
        .post(&world.maps(), &owned("grandchild", &child, false))
        .await
        .ok();
    world.delete(&world.map("owner")).await.ok();
    world.gone(&world.map("child")).await;
    world.gone(&world.map("grandchild")).await;
}
