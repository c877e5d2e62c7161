//! The life of a namespace.

use serde_json::json;

use crate::promises;
use crate::world::{MERGE, Reply, World, config_map, unique};

promises![
    a_new_namespace_is_active_and_labelled,
    a_new_namespace_is_furnished,
    furniture_comes_back,
    creating_in_a_missing_namespace_is_not_found,
    creating_in_a_terminating_namespace_is_forbidden,
    deleting_a_namespace_deletes_what_is_in_it,
    a_finalizer_in_a_namespace_holds_it,
    the_usual_namespaces_exist,
];

async fn a_new_namespace_is_active_and_labelled(world: World) {
    let namespace = world
        .get(&format!("/api/v1/namespaces/{}", world.namespace))
        .await
        .ok();
    assert_eq!(namespace["status"]["phase"], "Active");
    assert_eq!(namespace["spec"]["finalizers"], json!(["kubernetes"]));
    assert_eq!(
        namespace["metadata"]["labels"]["kubernetes.io/metadata.name"],
        world.namespace
    );
}

async fn a_new_namespace_is_furnished(world: World) {
    world
        .until(&world.path("v1", "serviceaccounts/default"), |r| {
            r.code == 200
        })
        .await;
    world
        .until(&world.map("kube-root-ca.crt"), |r| r.code == 200)
        .await;
}

async fn furniture_comes_back(world: World) {
    let path = world.path("v1", "serviceaccounts/default");
    let first = world.until(&path, |r| r.code == 200).await.body;
    world.delete(&path).await.ok();
    let uid = first["metadata"]["uid"].clone();
    world
        .until(&path, move |r| {
            r.code == 200 && r.body["metadata"]["uid"] != uid
        })
        .await;
}

async fn creating_in_a_missing_namespace_is_not_found(world: World) {
    let reply = world
        .post(
            "/api/v1/namespaces/nowhere-at-all/configmaps",
            &config_map("a", json!({})),
        )
        .await;
    let status = reply.refused(404, "NotFound");
    assert_eq!(status["message"], "namespaces \"nowhere-at-all\" not found");
    assert_eq!(
        status["details"],
        json!({"name": "nowhere-at-all", "kind": "namespaces"})
    );
}

/// A namespace that is held in termination by a config map with a finalizer.
async fn terminating(world: &World) -> String {
    let name = unique("t");
    world
        .post("/api/v1/namespaces", &json!({"metadata": {"name": name}}))
        .await
        .ok();
    let mut object = config_map("held", json!({}));
    object["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world
        .post(&format!("/api/v1/namespaces/{name}/configmaps"), &object)
        .await
        .ok();
    let deleting = world
        .delete(&format!("/api/v1/namespaces/{name}"))
        .await
        .ok();
    assert!(deleting["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(deleting["status"]["phase"], "Terminating");
    name
}

async fn creating_in_a_terminating_namespace_is_forbidden(world: World) {
    let name = terminating(&world).await;
    let maps = format!("/api/v1/namespaces/{name}/configmaps");
    let status = world
        .post(&maps, &config_map("a", json!({})))
        .await
        .refused(403, "Forbidden");
    assert_eq!(
        status["message"],
        format!(
            "configmaps \"a\" is forbidden: unable to create new content in namespace {name} because it is being terminated"
        )
    );
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "NamespaceTerminating"
    );
    world
        .patch(
            &format!("{maps}/held"),
            MERGE,
            &json!({"metadata": {"finalizers": null}}),
        )
        .await
        .ok();
}

async fn deleting_a_namespace_deletes_what_is_in_it(world: World) {
    world.create_map("a", json!({})).await;
    let namespace = format!("/api/v1/namespaces/{}", world.namespace);
    world.delete(&namespace).await.ok();
    world.gone(&namespace).await;
    world.get(&world.map("a")).await.refused(404, "NotFound");
}

async fn a_finalizer_in_a_namespace_holds_it(world: World) {
    let name = terminating(&world).await;
    let held = format!("/api/v1/namespaces/{name}/configmaps/held");
    world
        .until(&held, |r| {
            r.body["metadata"]["deletionTimestamp"].is_string()
        })
        .await;
    let remaining = |r: &Reply| {
        let conditions = r.body["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        conditions
            .iter()
            .any(|c| c["type"] == "NamespaceFinalizersRemaining" && c["status"] == "True")
    };
    world
        .until(&format!("/api/v1/namespaces/{name}"), remaining)
        .await;
    world
        .patch(&held, MERGE, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    world.gone(&format!("/api/v1/namespaces/{name}")).await;
}

async fn the_usual_namespaces_exist(world: World) {
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        world
            .until(&format!("/api/v1/namespaces/{name}"), |r| r.code == 200)
            .await;
    }
}
