//! JSON patch, merge patch, strategic merge patch.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{JSON, MERGE, STRATEGIC, World, config_map, deployment, managed};

promises![
    a_merge_patch_sets_and_removes,
    a_merge_patch_replaces_lists,
    a_json_patch_applies_in_order,
    a_failing_json_patch_test_changes_nothing,
    a_strategic_patch_merges_containers_by_name,
    a_strategic_patch_deletes_by_directive,
    a_strategic_patch_replaces_atomic_lists,
    a_patch_of_a_missing_object_is_not_found,
    a_patch_with_a_stale_version_conflicts,
    a_patch_cannot_rename,
    a_patch_that_changes_nothing_keeps_the_version,
    a_patch_records_its_manager,
    a_patch_result_is_validated,
    a_malformed_patch_is_a_bad_request,
];

async fn a_merge_patch_sets_and_removes(world: World) {
    world.create_map("a", json!({"x": "1", "y": "1"})).await;
    let patch = json!({"data": {"x": null, "z": "3"}, "metadata": {"labels": {"l": "v"}}});
    let patched = world.patch(&world.map("a"), MERGE, &patch).await.ok();
    assert_eq!(patched["data"], json!({"y": "1", "z": "3"}));
    assert_eq!(patched["metadata"]["labels"], json!({"l": "v"}));
}

async fn a_merge_patch_replaces_lists(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    world.post(&world.maps(), &object).await.ok();
    let patch = json!({"metadata": {"finalizers": ["example.com/c"]}});
    let patched = world.patch(&world.map("a"), MERGE, &patch).await.ok();
    assert_eq!(patched["metadata"]["finalizers"], json!(["example.com/c"]));
    world
        .patch(
            &world.map("a"),
            MERGE,
            &json!({"metadata": {"finalizers": null}}),
        )
        .await
        .ok();
}

async fn a_json_patch_applies_in_order(world: World) {
    world.create_map("a", json!({"x": "1"})).await;
    let patch = json!([
        {"op": "test", "path": "/data/x", "value": "1"},
        {"op": "replace", "path": "/data/x", "value": "2"},
        {"op": "add", "path": "/data/y", "value": "3"},
        {"op": "copy", "from": "/data/x", "path": "/data/z"},
        {"op": "remove", "path": "/data/y"},
    ]);
    let patched = world.patch(&world.map("a"), JSON, &patch).await.ok();
    assert_eq!(patched["data"], json!({"x": "2", "z": "2"}));
}

async fn a_failing_json_patch_test_changes_nothing(world: World) {
    world.create_map("a", json!({"x": "1"})).await;
    let patch = json!([{"op": "replace", "path": "/data/x", "value": "2"}, {"op": "test", "path": "/data/x", "value": "9"}]);
    world
        .patch(&world.map("a"), JSON, &patch)
        .await
        .refused(422, "Invalid");
    assert_eq!(world.get(&world.map("a")).await.ok()["data"]["x"], "1");
    let missing = json!([{"op": "remove", "path": "/data/nope"}]);
    world
        .patch(&world.map("a"), JSON, &missing)
        .await
        .refused(422, "Invalid");
}

async fn deployed(world: &World) -> String {
    let mut object = deployment("d");
    object["spec"]["template"]["spec"]["containers"] = json!([{"name": "a", "image": "one:1", "env": [{"name": "X", "value": "1"}]}, {"name": "b", "image": "two:1"}]);
    object["spec"]["template"]["spec"]["tolerations"] = json!([{"key": "k", "operator": "Exists"}]);
    world
        .post(&world.path("apps/v1", "deployments"), &object)
        .await
        .ok();
    world.path("apps/v1", "deployments/d")
}

fn containers(object: &Value) -> Vec<(String, String)> {
    let list = object["spec"]["template"]["spec"]["containers"]
        .as_array()
        .unwrap();
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    list.iter()
        .map(|c| (text(&c["name"]), text(&c["image"])))
        .collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter()
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}

async fn a_strategic_patch_merges_containers_by_name(world: World) {
    let path = deployed(&world).await;
    let patch = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "b", "image": "two:2"}, {"name": "a", "env": [{"name": "Y", "value": "2"}]},
    ]}}}});
    let patched = world.patch(&path, STRATEGIC, &patch).await.ok();
    assert_eq!(
        containers(&patched),
        pairs(&[("b", "two:2"), ("a", "one:1")])
    );
    let env = &patched["spec"]["template"]["spec"]["containers"][1]["env"];
    assert_eq!(env.as_array().unwrap().len(), 2, "{env}");
}

async fn a_strategic_patch_deletes_by_directive(world: World) {
    let path = deployed(&world).await;
    let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}}});
    let patched = world.patch(&path, STRATEGIC, &patch).await.ok();
    assert_eq!(containers(&patched), pairs(&[("b", "two:1")]));
}

async fn a_strategic_patch_replaces_atomic_lists(world: World) {
    let path = deployed(&world).await;
    let patch = json!({"spec": {"template": {"spec": {"tolerations": [{"key": "other", "operator": "Exists"}]}}}});
    let patched = world.patch(&path, STRATEGIC, &patch).await.ok();
    let tolerations = &patched["spec"]["template"]["spec"]["tolerations"];
    assert_eq!(
        tolerations,
        &json!([{"key": "other", "operator": "Exists"}])
    );
}

async fn a_patch_of_a_missing_object_is_not_found(world: World) {
    world
        .patch(&world.map("a"), MERGE, &json!({}))
        .await
        .refused(404, "NotFound");
}

async fn a_patch_with_a_stale_version_conflicts(world: World) {
    let created = world.create_map("a", json!({})).await;
    world
        .patch(&world.map("a"), MERGE, &json!({"data": {"x": "1"}}))
        .await
        .ok();
    let version = &created["metadata"]["resourceVersion"];
    let patch = json!({"metadata": {"resourceVersion": version}, "data": {"x": "2"}});
    world
        .patch(&world.map("a"), MERGE, &patch)
        .await
        .refused(409, "Conflict");
}

async fn a_patch_cannot_rename(world: World) {
    world.create_map("a", json!({})).await;
    world
        .patch(&world.map("a"), MERGE, &json!({"metadata": {"name": "b"}}))
        .await
        .refused(400, "BadRequest");
}

async fn a_patch_that_changes_nothing_keeps_the_version(world: World) {
    let created = world.create_map("a", json!({"x": "1"})).await;
    let patched = world
        .patch(&world.map("a"), MERGE, &json!({"data": {"x": "1"}}))
        .await
        .ok();
    assert_eq!(
        patched["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
}

async fn a_patch_records_its_manager(world: World) {
    world.create_map("a", json!({"x": "1"})).await;
    let path = format!("{}?fieldManager=patcher", world.map("a"));
    let patched = world
        .patch(&path, MERGE, &json!({"data": {"y": "1"}}))
        .await
        .ok();
    let entry = managed(&patched, "patcher", "Update").expect("an entry");
    assert_eq!(entry["fieldsV1"], json!({"f:data": {"f:y": {}}}));
}

async fn a_patch_result_is_validated(world: World) {
    world.create_map("a", json!({})).await;
    let patch = json!({"metadata": {"labels": {"a": "not valid"}}});
    world
        .patch(&world.map("a"), MERGE, &patch)
        .await
        .refused(422, "Invalid");
}

async fn a_malformed_patch_is_a_bad_request(world: World) {
    world.create_map("a", json!({})).await;
    world
        .patch(&world.map("a"), JSON, &json!({"op": "add"}))
        .await
        .refused(400, "BadRequest");
    let request = world
        .request("PATCH", &world.map("a"))
        .header("content-type", MERGE)
        .body("{");
    world.send(request).await.refused(400, "BadRequest");
}
