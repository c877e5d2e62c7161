//! What components say they did to objects.

use serde_json::{Value, json};

use crate::caller::Caller;

fn note(resource: &str, uid: &str) -> Value {
    json!({
        "action": "object.deleted",
        "resource_id": resource,
        "done_time": "2026-01-31T12:00:00Z",
        "reason": "its owner was removed",
        "object": {"api_version": "v1", "kind": "ConfigMap", "name": "zone", "uid": uid, "adapter": "dns"},
    })
}

#[tokio::test]
async fn a_note_about_an_object_of_a_removed_resource_is_in_the_log_and_in_its_history() {
    let api = Caller::new().await;
    let cluster = api.cluster("gone").await;
    let (id, href) = (
        cluster["id"].as_str().unwrap(),
        cluster["href"].as_str().unwrap(),
    );
    api.delete(href).await;
    let forced = api
        .post(
            &format!("{href}/force-delete"),
            json!({"reason": "because"}),
        )
        .await;
    assert_eq!(forced.status, 204);
    let said = note(id, "u-1");
    assert_eq!(api.post("/audit", said.clone()).await.status, 201);
    let found = api.get("/audit?action=object.deleted&kind=Cluster").await;
    let line = &found.body["items"][0];
    assert_eq!(line["name"], "gone");
    assert_eq!(line["resource_id"], id);
    assert_eq!(line["reason"], "its owner was removed");
    assert_eq!(line["detail"]["object"], said["object"]);
    assert_eq!(line["detail"]["done_time"], said["done_time"]);
    let told = api.get(&format!("{href}/history?limit=1")).await;
    assert_eq!(told.body["items"][0]["action"], "object.deleted");
}

#[tokio::test]
async fn the_same_object_is_noted_once_however_often_it_is_said() {
    let api = Caller::new().await;
    let cluster = api.cluster("there").await;
    let id = cluster["id"].as_str().unwrap();
    let first = api.post("/audit", note(id, "u-1")).await;
    let again = api.post("/audit", note(id, "u-1")).await;
    assert_eq!((first.status, again.status), (201, 200));
    assert_eq!(first.body["id"], again.body["id"]);
    assert_eq!(api.post("/audit", note(id, "u-2")).await.status, 201);
    let found = api.get("/audit?action=object.deleted").await;
    assert_eq!(found.body["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_resource_nobody_knows_can_have_left_something_behind() {
    let api = Caller::new().await;
    let answer = api
        .post("/audit", note("0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "u"))
        .await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.body.get("kind"), None);
}

#[tokio::test]
async fn only_known_actions_with_bounded_texts_are_noted() {
    let api = Caller::new().await;
    let id = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    let changes: [(&str, Value); 9] = [
        ("/action", json!("create")),
        ("/action", json!(null)),
        ("/resource_id", json!("me")),
        ("/done_time", json!("yesterday")),
        ("/reason", json!(" ")),
        ("/reason", json!("x".repeat(1025))),
        ("/object/name", json!("")),
        ("/object/uid", json!("x".repeat(256))),
        ("/object", json!({"name": "zone"})),
    ];
    for (at, value) in changes {
        let mut said = note(id, "u");
        *said.pointer_mut(at).unwrap() = value;
        let answer = api.post("/audit", said).await;
        assert_eq!(answer.status, 400, "{at}: {}", answer.body);
    }
    let mut more = note(id, "u");
    more["actor"] = json!("somebody else");
    assert_eq!(api.post("/audit", more).await.status, 400);
    let found = api.get("/audit?action=object.deleted").await;
    assert_eq!(found.body["items"], json!([]));
}
