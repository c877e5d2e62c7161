//! Watches.

use serde_json::json;

use crate::promises;
use crate::world::{MERGE, World, config_map};

promises![
    a_watch_from_a_version_sees_what_follows,
    a_watch_without_a_version_starts_with_what_is_there,
    initial_events_end_with_a_bookmark,
    an_object_entering_a_selection_appears,
    an_object_leaving_a_selection_disappears,
    a_watch_ends_after_its_timeout,
    a_deleted_object_carries_the_version_of_its_deletion,
    a_watch_on_one_name_sees_only_it,
    a_watch_from_the_future_waits,
    initial_events_need_a_version_match,
    a_metadata_watch_shows_metadata_only,
    a_watch_of_all_namespaces_sees_this_one,
];

async fn a_watch_from_a_version_sees_what_follows(world: World) {
    let first = world.create_map("a", json!({})).await;
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = world
        .watch(&format!(
            "{}?watch=true&resourceVersion={version}",
            world.maps()
        ))
        .await;
    world.create_map("b", json!({})).await;
    world
        .patch(&world.map("b"), MERGE, &json!({"data": {"x": "1"}}))
        .await
        .ok();
    world.delete(&world.map("b")).await.ok();
    let mut seen = Vec::new();
    // The server's own config map may appear in between.
    while seen.len() < 3 {
        let (kind, name) = watch.change().await;
        if name == "b" {
            seen.push(kind);
        }
    }
    assert_eq!(seen, ["ADDED", "MODIFIED", "DELETED"]);
}

async fn a_watch_without_a_version_starts_with_what_is_there(world: World) {
    world
        .post(
            &world.path("v1", "secrets"),
            &json!({"metadata": {"name": "a"}}),
        )
        .await
        .ok();
    let mut watch = world
        .watch(&format!("{}?watch=1", world.path("v1", "secrets")))
        .await;
    assert_eq!(watch.change().await, ("ADDED".into(), "a".into()));
}

async fn initial_events_end_with_a_bookmark(world: World) {
    world
        .post(
            &world.path("v1", "secrets"),
            &json!({"metadata": {"name": "a"}}),
        )
        .await
        .ok();
    let query =
        "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let mut watch = world
        .watch(&format!("{}?{query}", world.path("v1", "secrets")))
        .await;
    let first = watch.next().await.unwrap();
    assert_eq!(first["type"], "ADDED");
    let end = watch.next().await.unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(end["object"]["kind"], "Secret");
    assert_eq!(
        end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    assert!(end["object"]["metadata"]["resourceVersion"].is_string());
}

async fn an_object_entering_a_selection_appears(world: World) {
    let first = world.create_map("a", json!({})).await;
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!(
        "{}?watch=1&labelSelector=on%3Dyes&resourceVersion={version}",
        world.maps()
    );
    let mut watch = world.watch(&path).await;
    world
        .patch(
            &world.map("a"),
            MERGE,
            &json!({"metadata": {"labels": {"on": "yes"}}}),
        )
        .await
        .ok();
    assert_eq!(watch.change().await, ("ADDED".into(), "a".into()));
}

async fn an_object_leaving_a_selection_disappears(world: World) {
    let mut object = config_map("a", json!({}));
    object["metadata"]["labels"] = json!({"on": "yes"});
    let first = world.post(&world.maps(), &object).await.ok();
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!(
        "{}?watch=1&labelSelector=on%3Dyes&resourceVersion={version}",
        world.maps()
    );
    let mut watch = world.watch(&path).await;
    let changed = world
        .patch(
            &world.map("a"),
            MERGE,
            &json!({"metadata": {"labels": {"on": null}}}),
        )
        .await
        .ok();
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "DELETED");
    assert_eq!(
        event["object"]["metadata"]["labels"]["on"], "yes",
        "the last selected state"
    );
    assert_eq!(
        event["object"]["metadata"]["resourceVersion"],
        changed["metadata"]["resourceVersion"]
    );
}

async fn a_watch_ends_after_its_timeout(world: World) {
    let mut watch = world
        .watch(&format!(
            "{}?watch=1&timeoutSeconds=1",
            world.path("v1", "secrets")
        ))
        .await;
    assert_eq!(watch.next().await, None);
}

async fn a_deleted_object_carries_the_version_of_its_deletion(world: World) {
    let first = world.create_map("a", json!({})).await;
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!(
        "{}?watch=1&fieldSelector=metadata.name%3Da&resourceVersion={version}",
        world.maps()
    );
    let mut watch = world.watch(&path).await;
    world.delete(&world.map("a")).await.ok();
    let event = watch.next().await.unwrap();
    let number = |v: &serde_json::Value| v.as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(event["type"], "DELETED");
    assert!(
        number(&event["object"]["metadata"]["resourceVersion"])
            > number(&first["metadata"]["resourceVersion"])
    );
}

async fn a_watch_on_one_name_sees_only_it(world: World) {
    let path = format!(
        "{}?watch=1&fieldSelector=metadata.name%3Db",
        world.path("v1", "secrets")
    );
    let mut watch = world.watch(&path).await;
    for name in ["a", "b"] {
        world
            .post(
                &world.path("v1", "secrets"),
                &json!({"metadata": {"name": name}}),
            )
            .await
            .ok();
    }
    assert_eq!(watch.change().await, ("ADDED".into(), "b".into()));
}

async fn a_watch_from_the_future_waits(world: World) {
    let path = format!(
        "{}?watch=1&resourceVersion=999999999&timeoutSeconds=1",
        world.maps()
    );
    let mut watch = world.watch(&path).await;
    world.create_map("a", json!({})).await;
    assert_eq!(watch.next().await, None);
}

async fn initial_events_need_a_version_match(world: World) {
    let reply = world
        .get(&format!(
            "{}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true",
            world.maps()
        ))
        .await;
    reply.refused(422, "Invalid");
}

async fn a_metadata_watch_shows_metadata_only(world: World) {
    world
        .post(
            &world.path("v1", "secrets"),
            &json!({"metadata": {"name": "a"}, "stringData": {"x": "y"}}),
        )
        .await
        .ok();
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let path = format!("{}?watch=1&timeoutSeconds=1", world.path("v1", "secrets"));
    let reply = world
        .send(world.request("GET", &path).header("accept", accept))
        .await;
    let event: serde_json::Value = match &reply.body {
        serde_json::Value::String(text) => {
            serde_json::from_str(text.lines().next().unwrap()).unwrap()
        }
        one => one.clone(),
    };
    assert_eq!(event["object"]["kind"], "PartialObjectMetadata");
    assert!(event["object"].get("data").is_none());
}

async fn a_watch_of_all_namespaces_sees_this_one(world: World) {
    let list = world.get("/api/v1/secrets").await.ok();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!(
        "/api/v1/secrets?watch=1&fieldSelector=metadata.namespace%3D{}&resourceVersion={version}",
        world.namespace
    );
    let mut watch = world.watch(&path).await;
    world
        .post(
            &world.path("v1", "secrets"),
            &json!({"metadata": {"name": "a"}}),
        )
        .await
        .ok();
    assert_eq!(watch.change().await, ("ADDED".into(), "a".into()));
}
