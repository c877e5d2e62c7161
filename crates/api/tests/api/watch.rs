use hyperfleet_core::kind::Kind;
use serde_json::json;

use crate::caller::{Caller, done};

#[tokio::test]
async fn a_watch_tells_what_changes_from_now_on() {
    let api = Caller::new().await;
    api.cluster("before").await;
    let mut watch = api.watch("/clusters?watch=true").await;
    let start = watch.next().await.unwrap();
    assert_eq!((start.name.as_str(), &start.data), ("bookmark", &json!({})));

    let cluster = api.cluster("watched").await;
    let id = cluster["id"].as_str().unwrap();
    let created = watch.change().await;
    assert_eq!((created.name.as_str(), &created.data), ("upsert", &cluster));

    api.put(&format!("/clusters/{id}/statuses"), done("dns"))
        .await;
    let reported = watch.change().await;
    assert_eq!(reported.name, "upsert");
    assert_eq!(reported.data["status"]["adapters"][0]["name"], "dns");

    api.delete(&format!("/clusters/{id}")).await;
    assert_eq!(watch.change().await.data["status"]["phase"], "Terminating");
    api.post(
        &format!("/clusters/{id}/force-delete"),
        json!({"reason": "enough"}),
    )
    .await;
    let gone = watch.change().await;
    assert_eq!(
        (gone.name.as_str(), &gone.data["id"]),
        ("delete", &json!(id))
    );
}

#[tokio::test]
async fn a_watch_resumes_after_any_event_it_was_told() {
    let api = Caller::new().await;
    let mut first = api.watch("/clusters?watch=true").await;
    for name in ["one", "two", "three"] {
        api.cluster(name).await;
    }
    let one = first.change().await;
    assert_eq!(one.data["name"], "one");
    drop(first);
    let mut second = api
        .watch(&format!("/clusters?watch=true&since={}", one.id))
        .await;
    assert_eq!(second.change().await.data["name"], "two");
    assert_eq!(second.change().await.data["name"], "three");
    api.cluster("four").await;
    assert_eq!(second.change().await.data["name"], "four");
}

#[tokio::test]
async fn a_watch_is_told_only_of_its_own_list() {
    let api = Caller::new().await;
    let (one, two) = (api.cluster("one").await, api.cluster("two").await);
    let pools = |cluster: &serde_json::Value| {
        format!("/clusters/{}/nodepools", cluster["id"].as_str().unwrap())
    };
    let mut watch = api.watch(&format!("{}?watch=true", pools(&one))).await;
    for (cluster, name) in [(&two, "not-mine"), (&one, "mine")] {
        let body = json!({"kind": "NodePool", "name": name, "spec": {}});
        assert_eq!(api.post(&pools(cluster), body).await.status, 201);
    }
    assert_eq!(watch.change().await.data["name"], "mine");
}

#[tokio::test]
async fn a_watch_with_a_search_tells_when_something_is_no_longer_found() {
    let api = Caller::new().await;
    let mut watch = api
        .watch("/clusters?watch=true&search=labels.shard%3D%271%27")
        .await;
    let cluster = api
        .post(
            "/clusters",
            json!({"kind": "Cluster", "name": "moves", "spec": {}, "labels": {"shard": "1"}}),
        )
        .await
        .body;
    assert_eq!(watch.change().await.data, cluster);
    let href = cluster["href"].as_str().unwrap();
    api.patch(href, json!({"labels": {"shard": "2"}})).await;
    let left = watch.change().await;
    assert_eq!(left.name, "delete");
    assert_eq!(
        left.data,
        json!({"id": cluster["id"], "kind": "Cluster", "href": href})
    );
}

#[tokio::test]
async fn positions_that_cannot_be_resumed_from_are_refused() {
    let api = Caller::new().await;
    let nonsense = api.get("/clusters?watch=true&since=yesterday").await;
    assert_eq!(
        (nonsense.status, &nonsense.body["code"]),
        (400, &json!("HYPERFLEET-VAL-005"))
    );
    let elsewhere = api.get("/clusters?watch=true&since=1.99999999999..").await;
    assert_eq!(
        (elsewhere.status, &elsewhere.body["code"]),
        (410, &json!("HYPERFLEET-WCH-001"))
    );
    let odd = api.get("/clusters?watch=maybe").await;
    assert_eq!(odd.status, 400);
    let bad = api.get("/clusters?watch=true&search=(").await;
    assert_eq!(bad.status, 400);
}

#[tokio::test]
async fn a_watcher_that_does_not_read_is_cut_off_and_can_resume() {
    let api = Caller::with_ring(Kind::defaults(), 4).await;
    let cluster = api.cluster("busy").await;
    let href = cluster["href"].as_str().unwrap();
    let mut idle = api.watch("/clusters?watch=true").await;
    let mut keen = api.watch("/clusters?watch=true").await;
    // More than a connection's queue and the ring hold together.
    for round in 0..100 {
        api.patch(href, json!({"spec": {"round": round}})).await;
        assert_eq!(keen.change().await.data["spec"]["round"], round);
    }
    let mut last = None;
    while let Some(event) = idle.next().await {
        last = Some(event);
    }
    let last = last.unwrap();
    assert_ne!(last.data["spec"]["round"], 99);
    let mut resumed = api
        .watch(&format!("/clusters?watch=true&since={}", last.id))
        .await;
    assert_eq!(resumed.change().await.data["spec"]["round"], 99);
}

#[tokio::test]
async fn watches_end_when_the_server_stops() {
    let api = Caller::new().await;
    let mut watch = api.watch("/clusters?watch=true").await;
    watch.next().await.unwrap();
    api.shutdown.trigger();
    while watch.next().await.is_some() {}
}
