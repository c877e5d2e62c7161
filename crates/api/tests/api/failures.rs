use axum::body::Body;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::caller::{Caller, stable};

#[tokio::test]
async fn every_mistake_in_a_body_is_named() {
    let api = Caller::new().await;
    let bodies = [
        json!({}),
        json!({"kind": "NodePool", "name": "abc", "spec": {}}),
        json!({"kind": "Cluster", "name": "ab", "spec": {}}),
        json!({"kind": "Cluster", "name": "Upper", "spec": {}}),
        json!({"kind": "Cluster", "name": "abc"}),
        json!({"kind": "Cluster", "name": "abc", "spec": []}),
        json!({"kind": "Cluster", "name": "abc", "spec": {}, "labels": {"a b": "x", "c": "-"}}),
        json!({"kind": "Cluster", "name": 7, "spec": {}}),
    ];
    let mut problems = Vec::new();
    for body in bodies {
        let answer = api.post("/clusters", body).await;
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        problems.push(json!([
            answer.status,
            answer.body["code"],
            answer.body["detail"],
            answer.body["errors"]
        ]));
    }
    assert_json_snapshot!("invalid_bodies", problems);
    assert_eq!(api.get("/clusters").await.body["total"], 0);
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_refused() {
    let api = Caller::new().await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (body, status) in [
        (Body::from(""), 400),
        (Body::from("{"), 400),
        (Body::from("[]"), 400),
        (Body::from(deep), 400),
        (Body::from(vec![b'"', 0xff, b'"']), 400),
        (
            Body::from(r#"{"kind":"Cluster","name":"abc","spec":{"a":"\u0000"}}"#),
            400,
        ),
        (Body::from(vec![b' '; 1024 * 1024 + 1]), 413),
    ] {
        let answer = api.send("POST", "/clusters", body).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}

#[tokio::test]
async fn problems_have_one_shape() {
    let api = Caller::new().await;
    let cluster = api.cluster("taken").await;
    let id = cluster["id"].as_str().unwrap();
    let missing = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    let answers = [
        api.get("/nowhere").await,
        api.send("DELETE", "/clusters", Body::empty()).await,
        api.get("/clusters/not-an-id").await,
        api.get(&format!("/clusters/{missing}")).await,
        api.get(&format!("/nodepools/{id}")).await,
        api.get(&format!("/clusters/{missing}/nodepools")).await,
        api.put(
            &format!("/clusters/{missing}/statuses"),
            crate::caller::done("dns"),
        )
        .await,
        api.post(
            "/clusters",
            json!({"kind": "Cluster", "name": "taken", "spec": {}}),
        )
        .await,
        api.post(
            "/nodepools",
            json!({"kind": "NodePool", "name": "abc", "spec": {}}),
        )
        .await,
        api.get("/clusters?page=0&size=x").await,
        api.get("/clusters?size=101").await,
        api.post(
            "/resources",
            json!({"kind": "Nothing", "name": "abc", "spec": {}}),
        )
        .await,
    ];
    let problems: Vec<_> = answers
        .into_iter()
        .map(|answer| stable(answer.body))
        .collect();
    assert_json_snapshot!("problems", problems);
}

#[tokio::test]
async fn what_could_be_meant_in_two_ways_is_refused() {
    let api = Caller::new().await;
    let cluster = api.cluster("guarded").await;
    let href = cluster["href"].as_str().unwrap();
    // A script whose variable was empty must not delete unconditionally.
    let unguarded = api.send_with("DELETE", href, &[("if-match", "")], "").await;
    assert_eq!(unguarded.status, 400, "{}", unguarded.body);
    let twice = api.get("/clusters?size=1&size=100").await;
    assert_eq!(
        (twice.status, &twice.body["detail"]),
        (400, &json!("size is given more than once"))
    );
    assert_eq!(api.get(href).await.body, cluster);
}

#[tokio::test]
async fn an_id_that_is_no_text_is_not_found_like_any_other() {
    let api = Caller::new().await;
    let answer = api.get("/clusters/%ff").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.headers["content-type"], "application/problem+json");
}
