//! Creating, reading, replacing.

use serde_json::json;

use crate::promises;
use crate::world::{World, config_map, deployment};

promises![
    a_created_object_gets_uid_time_and_version,
    a_created_object_is_read_back_as_it_was_answered,
    creating_twice_is_already_exists,
    a_missing_object_is_not_found,
    generate_name_appends_five_characters,
    an_update_with_a_stale_version_conflicts,
    an_update_without_a_version_wins,
    an_update_that_changes_nothing_keeps_the_version,
    an_update_of_a_missing_object_is_not_found,
    a_spec_change_bumps_the_generation_and_a_label_change_does_not,
    an_update_cannot_change_uid_or_creation_time,
    versions_grow_with_every_write,
    a_dry_run_stores_nothing,
    yaml_bodies_are_accepted,
    a_create_records_its_manager,
    an_update_takes_over_only_what_it_changed,
    unknown_fields_are_warned_about_or_refused,
];

async fn a_created_object_gets_uid_time_and_version(world: World) {
    let reply = world
        .post(&world.maps(), &config_map("a", json!({"k": "v"})))
        .await;
    assert_eq!(reply.code, 201);
    let meta = &reply.body["metadata"];
    assert_eq!(meta["uid"].as_str().map(str::len), Some(36));
    assert!(
        meta["creationTimestamp"]
            .as_str()
            .is_some_and(|t| t.len() == 20 && t.ends_with('Z')),
        "{meta}"
    );
    assert!(
        meta["resourceVersion"]
            .as_str()
            .is_some_and(|v| v.parse::<u64>().is_ok()),
        "{meta}"
    );
    assert_eq!(meta["namespace"], world.namespace);
    assert!(
        meta.get("generation").is_none(),
        "config maps have no generation"
    );
}

async fn a_created_object_is_read_back_as_it_was_answered(world: World) {
    let created = world.create_map("a", json!({"k": "v"})).await;
    assert_eq!(world.get(&world.map("a")).await.ok(), created);
}

async fn creating_twice_is_already_exists(world: World) {
    world.create_map("a", json!({})).await;
    let status = world
        .post(&world.maps(), &config_map("a", json!({})))
        .await
        .refused(409, "AlreadyExists");
    assert_eq!(status["message"], "configmaps \"a\" already exists");
    assert_eq!(
        status["details"],
        json!({"name": "a", "kind": "configmaps"})
    );
}

async fn a_missing_object_is_not_found(world: World) {
    let status = world
        .get(&world.path("batch/v1", "jobs/nope"))
        .await
        .refused(404, "NotFound");
    assert_eq!(status["message"], "jobs.batch \"nope\" not found");
    assert_eq!(
        status["details"],
        json!({"name": "nope", "group": "batch", "kind": "jobs"})
    );
}

async fn generate_name_appends_five_characters(world: World) {
    let object = json!({"metadata": {"generateName": "gen-"}});
    let name = world.post(&world.maps(), &object).await.ok()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(name.starts_with("gen-") && name.len() == 9, "{name}");
    let long = json!({"metadata": {"generateName": "x".repeat(70)}});
    let name = world.post(&world.maps(), &long).await.ok()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(name.len(), 63);
}

async fn an_update_with_a_stale_version_conflicts(world: World) {
    let created = world.create_map("a", json!({"k": "1"})).await;
    let mut second = created.clone();
    second["data"]["k"] = "2".into();
    world.put(&world.map("a"), &second).await.ok();
    let status = world
        .put(&world.map("a"), &created)
        .await
        .refused(409, "Conflict");
    assert_eq!(
        status["message"],
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    assert_eq!(
        status["details"],
        json!({"name": "a", "kind": "configmaps"})
    );
}

async fn an_update_without_a_version_wins(world: World) {
    world.create_map("a", json!({"k": "1"})).await;
    let updated = world
        .put(&world.map("a"), &config_map("a", json!({"k": "2"})))
        .await
        .ok();
    assert_eq!(updated["data"], json!({"k": "2"}));
}

async fn an_update_that_changes_nothing_keeps_the_version(world: World) {
    let created = world.create_map("a", json!({"k": "1"})).await;
    let updated = world.put(&world.map("a"), &created).await.ok();
    assert_eq!(
        updated["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
}

async fn an_update_of_a_missing_object_is_not_found(world: World) {
    world
        .put(&world.map("a"), &config_map("a", json!({})))
        .await
        .refused(404, "NotFound");
}

async fn a_spec_change_bumps_the_generation_and_a_label_change_does_not(world: World) {
    let path = world.path("apps/v1", "deployments");
    let created = world.post(&path, &deployment("d")).await.ok();
    assert_eq!(created["metadata"]["generation"], 1);
    let path = format!("{path}/d");
    let labelled = world
        .patch(
            &path,
            crate::world::MERGE,
            &json!({"metadata": {"labels": {"a": "b"}}}),
        )
        .await
        .ok();
    assert_eq!(labelled["metadata"]["generation"], 1);
    let scaled = world
        .patch(
            &path,
            crate::world::MERGE,
            &json!({"spec": {"replicas": 3}}),
        )
        .await
        .ok();
    assert_eq!(scaled["metadata"]["generation"], 2);
}

async fn an_update_cannot_change_uid_or_creation_time(world: World) {
    let created = world.create_map("a", json!({})).await;
    let mut other = created.clone();
    other["metadata"]["uid"] = "00000000-0000-0000-0000-000000000000".into();
    world
        .put(&world.map("a"), &other)
        .await
        .refused(409, "Conflict");
    let mut other = created.clone();
    other["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z".into();
    let kept = world.put(&world.map("a"), &other).await.ok();
    assert_eq!(
        kept["metadata"]["creationTimestamp"],
        created["metadata"]["creationTimestamp"]
    );
}

async fn versions_grow_with_every_write(world: World) {
    let version = |v: &serde_json::Value| {
        v["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let first = world.create_map("a", json!({})).await;
    let second = world.create_map("b", json!({})).await;
    assert!(version(&second) > version(&first));
}

async fn a_dry_run_stores_nothing(world: World) {
    let path = format!("{}?dryRun=All", world.maps());
    let reply = world.post(&path, &config_map("a", json!({"k": "v"}))).await;
    assert_eq!(reply.code, 201);
    assert!(reply.body["metadata"]["uid"].is_string());
    assert!(reply.body["metadata"].get("resourceVersion").is_none());
    world.get(&world.map("a")).await.refused(404, "NotFound");

    world.create_map("a", json!({"k": "1"})).await;
    let dry = format!("{}?dryRun=All", world.map("a"));
    let patched = world
        .patch(&dry, crate::world::MERGE, &json!({"data": {"k": "2"}}))
        .await
        .ok();
    assert_eq!(patched["data"]["k"], "2");
    world.delete(&dry).await.ok();
    assert_eq!(world.get(&world.map("a")).await.ok()["data"]["k"], "1");
    let bad = format!("{}?dryRun=Some", world.maps());
    assert_eq!(
        world.post(&bad, &config_map("b", json!({}))).await.code,
        422
    );
}

async fn yaml_bodies_are_accepted(world: World) {
    let request = world
        .request("POST", &world.maps())
        .header("content-type", "application/yaml");
    let body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yam\ndata:\n  k: v\n";
    let created = world.send(request.body(body)).await.ok();
    assert_eq!(created["data"], json!({"k": "v"}));
}

async fn a_create_records_its_manager(world: World) {
    let path = format!("{}?fieldManager=me", world.maps());
    let created = world
        .post(&path, &config_map("a", json!({"k": "v"})))
        .await
        .ok();
    let entry = &created["metadata"]["managedFields"][0];
    assert_eq!(entry["manager"], "me");
    assert_eq!(entry["operation"], "Update");
    assert_eq!(entry["apiVersion"], "v1");
    assert_eq!(entry["fieldsType"], "FieldsV1");
    assert_eq!(entry["fieldsV1"], json!({"f:data": {".": {}, "f:k": {}}}));
}

async fn an_update_takes_over_only_what_it_changed(world: World) {
    let path = format!("{}?fieldManager=one", world.maps());
    world
        .post(&path, &config_map("a", json!({"x": "1", "y": "1"})))
        .await
        .ok();
    let path = format!("{}?fieldManager=two", world.map("a"));
    let updated = world
        .put(&path, &config_map("a", json!({"x": "1", "y": "2"})))
        .await
        .ok();
    let fields = |manager: &str| {
        crate::world::managed(&updated, manager, "Update").unwrap()["fieldsV1"].clone()
    };
    assert_eq!(fields("one"), json!({"f:data": {".": {}, "f:x": {}}}));
    assert_eq!(fields("two"), json!({"f:data": {"f:y": {}}}));
}

async fn unknown_fields_are_warned_about_or_refused(world: World) {
    let mut object = config_map("a", json!({}));
    object["surprise"] = 1.into();
    let strict = format!("{}?fieldValidation=Strict", world.maps());
    let status = world
        .post(&strict, &object)
        .await
        .refused(400, "BadRequest");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("strict decoding error: unknown field \"surprise\""),
        "{status}"
    );
    let reply = world.post(&world.maps(), &object).await;
    assert_eq!(reply.warnings, ["299 - \"unknown field \\\"surprise\\\"\""]);
    assert!(reply.ok().get("surprise").is_none());
    let ignore = format!("{}?fieldValidation=Ignore", world.maps());
    object["metadata"]["name"] = "b".into();
    assert_eq!(
        world.post(&ignore, &object).await.warnings,
        Vec::<String>::new()
    );
}
