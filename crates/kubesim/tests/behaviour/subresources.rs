//! Status and scale.

use serde_json::json;

use crate::promises;
use crate::world::{MERGE, World, deployment, job};

promises![
    status_is_not_written_by_the_main_endpoint,
    the_status_endpoint_writes_only_status,
    a_status_change_keeps_the_generation,
    a_status_write_records_the_subresource,
    scale_reads_and_writes_replicas,
    a_kind_without_status_has_no_status_endpoint,
    an_unknown_subresource_is_not_found,
];

/// Suspended, so that no controller writes its status meanwhile.
fn still_job(name: &str) -> serde_json::Value {
    let mut object = job(name);
    object["spec"]["suspend"] = true.into();
    object
}

async fn status_is_not_written_by_the_main_endpoint(world: World) {
    let path = world.path("batch/v1", "jobs");
    let mut object = still_job("j");
    object["status"] = json!({"succeeded": 7});
    let created = world.post(&path, &object).await.ok();
    assert!(created["status"].get("succeeded").is_none());
    let patch = json!({"status": {"succeeded": 7}, "metadata": {"labels": {"a": "b"}}});
    let patched = world.patch(&format!("{path}/j"), MERGE, &patch).await.ok();
    assert!(patched["status"].get("succeeded").is_none());
    assert_eq!(patched["metadata"]["labels"]["a"], "b");
}

async fn the_status_endpoint_writes_only_status(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &still_job("j")).await.ok();
    let patch = json!({"status": {"failed": 1}, "spec": {"backoffLimit": 1}});
    let patched = world
        .patch(&format!("{path}/j/status"), MERGE, &patch)
        .await
        .ok();
    assert_eq!(patched["status"]["failed"], 1);
    assert_eq!(patched["spec"]["backoffLimit"], 6);
}

async fn a_status_change_keeps_the_generation(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &still_job("j")).await.ok();
    let patched = world
        .patch(
            &format!("{path}/j/status"),
            MERGE,
            &json!({"status": {"failed": 1}}),
        )
        .await
        .ok();
    assert_eq!(patched["metadata"]["generation"], 1);
}

async fn a_status_write_records_the_subresource(world: World) {
    let path = world.path("batch/v1", "jobs");
    world.post(&path, &still_job("j")).await.ok();
    let endpoint = format!("{path}/j/status?fieldManager=kubelet");
    let patched = world
        .patch(&endpoint, MERGE, &json!({"status": {"failed": 1}}))
        .await
        .ok();
    let entry = crate::world::managed(&patched, "kubelet", "Update").expect("an entry");
    assert_eq!(entry["subresource"], "status");
}

async fn scale_reads_and_writes_replicas(world: World) {
    let path = world.path("apps/v1", "deployments");
    world.post(&path, &deployment("d")).await.ok();
    let scale = world.get(&format!("{path}/d/scale")).await.ok();
    assert_eq!(
        (scale["kind"].as_str(), scale["apiVersion"].as_str()),
        (Some("Scale"), Some("autoscaling/v1"))
    );
    assert_eq!(scale["spec"]["replicas"], 1);
    assert_eq!(scale["status"]["selector"], "app=d");
    let scaled = world
        .patch(
            &format!("{path}/d/scale"),
            MERGE,
            &json!({"spec": {"replicas": 2}}),
        )
        .await
        .ok();
    assert_eq!(scaled["spec"]["replicas"], 2);
    let object = world.get(&format!("{path}/d")).await.ok();
    assert_eq!(
        (
            &object["spec"]["replicas"],
            &object["metadata"]["generation"]
        ),
        (&json!(2), &json!(2))
    );
    world
        .patch(
            &format!("{path}/d/scale"),
            MERGE,
            &json!({"spec": {"replicas": -1}}),
        )
        .await
        .refused(422, "Invalid");
}

async fn a_kind_without_status_has_no_status_endpoint(world: World) {
    world.create_map("a", json!({})).await;
    assert_eq!(
        world.get(&format!("{}/status", world.map("a"))).await.code,
        404
    );
}

async fn an_unknown_subresource_is_not_found(world: World) {
    world.create_map("a", json!({})).await;
    assert_eq!(
        world
            .get(&format!("{}/whatever", world.map("a")))
            .await
            .code,
        404
    );
}
