//! Lists: selectors, pages, versions.

use serde_json::{Value, json};

use crate::promises;
use crate::world::{World, names};

promises![
    a_list_names_its_kind_and_version,
    label_selectors_select,
    a_bad_label_selector_is_a_bad_request,
    field_selectors_select,
    an_unknown_field_selector_is_a_bad_request,
    a_long_list_comes_in_pages,
    a_spoiled_continue_token_is_a_bad_request,
    a_version_from_the_future_times_out,
    a_version_match_needs_a_version,
    lists_across_namespaces_contain_each,
    deleting_a_collection_deletes_what_is_selected,
];

async fn three(world: &World) {
    for (name, app, tier) in [
        ("a", "web", "front"),
        ("b", "web", "back"),
        ("c", "db", "back"),
    ] {
        let object = json!({"metadata": {"name": name, "labels": {"app": app, "tier": tier}}});
        world.post(&world.path("v1", "secrets"), &object).await.ok();
    }
}

async fn select(world: &World, query: &str) -> Vec<String> {
    names(
        &world
            .get(&format!("{}?{query}", world.path("v1", "secrets")))
            .await
            .ok(),
    )
}

async fn a_list_names_its_kind_and_version(world: World) {
    three(&world).await;
    let list = world.get(&world.path("v1", "secrets")).await.ok();
    assert_eq!(
        (list["kind"].as_str(), list["apiVersion"].as_str()),
        (Some("SecretList"), Some("v1"))
    );
    assert!(
        list["metadata"]["resourceVersion"]
            .as_str()
            .is_some_and(|v| v.parse::<u64>().is_ok())
    );
    assert_eq!(names(&list), ["a", "b", "c"]);
    assert!(
        list["items"][0].get("kind").is_none(),
        "items of built-in lists do not repeat their kind"
    );
}

async fn label_selectors_select(world: World) {
    three(&world).await;
    for (selector, expected) in [
        ("app%3Dweb", vec!["a", "b"]),
        ("app%3D%3Dweb", vec!["a", "b"]),
        ("app!%3Dweb", vec!["c"]),
        ("app%20in%20(web,db),tier%3Dback", vec!["b", "c"]),
        ("app%20notin%20(web)", vec!["c"]),
        ("app", vec!["a", "b", "c"]),
        ("!app", vec![]),
        ("other!%3Dx", vec!["a", "b", "c"]),
    ] {
        assert_eq!(
            select(&world, &format!("labelSelector={selector}")).await,
            expected,
            "{selector}"
        );
    }
}

async fn a_bad_label_selector_is_a_bad_request(world: World) {
    for selector in [
        "a%20in%20b",
        "%3Dx",
        "a%3Db%20c",
        "-a%3Db",
        "a,,b",
        "a%20in%20(b",
    ] {
        let path = format!("{}?labelSelector={selector}", world.maps());
        world.get(&path).await.refused(400, "BadRequest");
    }
}

async fn field_selectors_select(world: World) {
    three(&world).await;
    assert_eq!(
        select(&world, "fieldSelector=metadata.name%3Db").await,
        ["b"]
    );
    assert_eq!(
        select(&world, "fieldSelector=metadata.name!%3Db").await,
        ["a", "c"]
    );
    assert_eq!(
        select(&world, "fieldSelector=type%3DOpaque").await,
        ["a", "b", "c"]
    );
    assert_eq!(
        select(&world, "fieldSelector=type%3DOther").await,
        Vec::<String>::new()
    );
    let path = format!(
        "/api/v1/secrets?fieldSelector=metadata.namespace%3D{}",
        world.namespace
    );
    assert_eq!(names(&world.get(&path).await.ok()), ["a", "b", "c"]);
}

async fn an_unknown_field_selector_is_a_bad_request(world: World) {
    let path = format!("{}?fieldSelector=data.x%3Dy", world.maps());
    let status = world.get(&path).await.refused(400, "BadRequest");
    assert!(
        status["message"].as_str().unwrap().contains("data.x"),
        "{status}"
    );
}

async fn a_long_list_comes_in_pages(world: World) {
    for index in 0..5 {
        world
            .post(
                &world.path("v1", "secrets"),
                &json!({"metadata": {"name": format!("s{index}")}}),
            )
            .await
            .ok();
    }
    let path = world.path("v1", "secrets");
    let first = world.get(&format!("{path}?limit=2")).await.ok();
    assert_eq!(names(&first), ["s0", "s1"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = world
        .get(&format!("{path}?limit=2&continue={token}"))
        .await
        .ok();
    assert_eq!(names(&second), ["s2", "s3"]);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    let token = second["metadata"]["continue"].as_str().unwrap();
    let third = world
        .get(&format!("{path}?limit=2&continue={token}"))
        .await
        .ok();
    assert_eq!(names(&third), ["s4"]);
    assert_eq!(
        third["metadata"]
            .get("continue")
            .unwrap_or(&Value::Null)
            .as_str()
            .unwrap_or_default(),
        ""
    );
}

async fn a_spoiled_continue_token_is_a_bad_request(world: World) {
    world
        .get(&format!("{}?limit=1&continue=nonsense", world.maps()))
        .await
        .refused(400, "BadRequest");
}

async fn a_version_from_the_future_times_out(world: World) {
    let status = world
        .get(&format!("{}?resourceVersion=999999999", world.maps()))
        .await
        .refused(504, "Timeout");
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
}

async fn a_version_match_needs_a_version(world: World) {
    let reply = world
        .get(&format!("{}?resourceVersionMatch=Exact", world.maps()))
        .await;
    reply.refused(422, "Invalid");
    let list = world.get(&world.maps()).await.ok();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    for how in ["Exact", "NotOlderThan"] {
        world
            .get(&format!(
                "{}?resourceVersion={version}&resourceVersionMatch={how}",
                world.maps()
            ))
            .await
            .ok();
    }
}

async fn lists_across_namespaces_contain_each(world: World) {
    let created = world.create_map("mine", json!({})).await;
    let list = world.get("/api/v1/configmaps").await.ok();
    let uids: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["metadata"]["uid"])
        .collect();
    assert!(uids.contains(&&created["metadata"]["uid"]));
}

async fn deleting_a_collection_deletes_what_is_selected(world: World) {
    three(&world).await;
    let path = format!("{}?labelSelector=app%3Dweb", world.path("v1", "secrets"));
    let deleted = world.delete(&path).await.ok();
    assert_eq!(deleted["kind"], "SecretList");
    assert_eq!(names(&deleted), ["a", "b"]);
    assert_eq!(select(&world, "").await, ["c"]);
}
