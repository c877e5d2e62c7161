use insta::assert_json_snapshot;
use serde_json::json;

use crate::caller::{Caller, stable};

#[tokio::test]
async fn a_created_cluster_is_answered_whole_and_read_back_the_same() {
    let api = Caller::new().await;
    let created = api
        .post(
            "/clusters",
            json!({"kind": "Cluster", "name": "first", "spec": {"nodes": 3}, "labels": {"env": "dev"}, "generation": 9}),
        )
        .await;
    assert_eq!(created.status, 201);
    assert_json_snapshot!("created_cluster", stable(created.body.clone()));
    let read = api.get(created.body["href"].as_str().unwrap()).await;
    assert_eq!(read.status, 200);
    assert_eq!(read.body, created.body);
}

#[tokio::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let api = Caller::new().await;
    let (one, two) = (api.get("/clusters").await, api.get("/clusters").await);
    assert_ne!(one.headers["x-request-id"], two.headers["x-request-id"]);
    assert_eq!(one.headers["content-type"], "application/json");
    assert_eq!(one.headers["vary"], "Authorization");
}

#[tokio::test]
async fn a_list_has_pages_and_a_trailing_slash_means_nothing() {
    let api = Caller::new().await;
    for name in ["one", "two", "three"] {
        api.cluster(name).await;
    }
    let page = api.get("/clusters/?size=2&page=2&pageSize=7").await;
    assert_eq!(page.status, 200);
    assert_eq!(
        (&page.body["page"], &page.body["size"], &page.body["total"]),
        (&json!(2), &json!(1), &json!(3))
    );
    assert_eq!(page.body["items"][0]["name"], "one", "newest first");
    let beyond = api.get("/clusters?page=9").await;
    assert_eq!((beyond.status, &beyond.body["items"]), (200, &json!([])));
    assert_eq!(api.get("/resources").await.body["total"], 3);
}

#[tokio::test]
async fn a_node_pool_belongs_to_its_cluster_however_it_is_created() {
    let api = Caller::new().await;
    let cluster = api.cluster("parent").await;
    let (id, href) = (
        cluster["id"].as_str().unwrap(),
        cluster["href"].as_str().unwrap(),
    );
    let nested = api
        .post(
            &format!("/clusters/{id}/nodepools"),
            json!({"kind": "NodePool", "name": "pool-a", "spec": {}}),
        )
        .await;
    assert_eq!(nested.status, 201, "{}", nested.body);
    assert_json_snapshot!("created_nodepool", stable(nested.body.clone()));
    let flat = api
        .post(
            "/nodepools",
            json!({"kind": "NodePool", "name": "pool-b", "spec": {}, "owner_references": {"id": id}}),
        )
        .await;
    assert_eq!(flat.status, 201, "{}", flat.body);
    assert!(flat.body["href"].as_str().unwrap().starts_with(href));
    assert_eq!(
        api.get(&format!("/clusters/{id}/nodepools")).await.body["total"],
        2
    );
    let other = api.cluster("other").await;
    let foreign = format!(
        "/clusters/{}/nodepools/{}",
        other["id"].as_str().unwrap(),
        flat.body["id"].as_str().unwrap()
    );
    assert_eq!(
        api.get(&foreign).await.status,
        404,
        "another cluster's node pool is not found under this one"
    );
}

#[tokio::test]
async fn the_api_says_what_it_is() {
    let api = Caller::new().await;
    assert_json_snapshot!("metadata", api.get("/api/hyperfleet").await.body);
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_ask() {
    let api = Caller::new().await;
    for index in 0..5 {
        api.cluster(&format!("cluster-{index}")).await;
    }
    let gzip = [("accept-encoding", "gzip")];
    let head = api.send_raw("GET", "/clusters", &gzip).await;
    assert_eq!(head["content-encoding"], "gzip");
    assert!(
        head.get_all("vary")
            .iter()
            .any(|value| value == "accept-encoding")
    );
    let small = api
        .send_raw("GET", "/clusters?size=1&fields=id", &gzip)
        .await;
    assert_eq!(small.get("content-encoding"), None);
    assert_eq!(
        api.get("/clusters").await.headers.get("content-encoding"),
        None
    );
}
