use futures::TryStreamExt;
use hyperfleet_client::{Follow, ListQuery, StatusCode};
use serde_json::json;

use crate::server::{Server, json, plain};

fn page(ids: &[&str], total: usize) -> axum::http::Response<axum::body::Body> {
    let items: Vec<_> = ids
        .iter()
        .map(|id| json!({"id": id, "kind": "Cluster"}))
        .collect();
    json(
        200,
        json!({"kind": "ClusterList", "page": 1, "size": items.len(), "total": total, "items": items}),
    )
}

#[tokio::test]
async fn a_list_query_is_escaped_and_what_is_not_asked_is_not_sent() {
    let server = Server::start(|_, _| page(&["a"], 1)).await;
    let query = ListQuery {
        page: Some(2),
        search: Some("labels.region='it''s & us'".to_owned()),
        ..ListQuery::default()
    };
    let page = server.client().list("clusters", &query).await.unwrap();
    assert_eq!((page.total, page.items[0].id.as_str()), (1, "a"));
    assert_eq!(
        server.asked()[0].path_and_query,
        "/api/hyperfleet/v1/clusters?page=2&search=labels.region%3D%27it%27%27s+%26+us%27"
    );
}

#[tokio::test]
async fn pages_that_shift_under_the_reader_give_each_resource_once() {
    let server = Server::start(|n, _| match n {
        0 => page(&["a", "b"], 4),
        1 => page(&["b", "c"], 5),
        _ => page(&["d"], 5),
    })
    .await;
    let all: Vec<_> = server
        .client()
        .list_all("clusters", ListQuery::default())
        .try_collect()
        .await
        .unwrap();
    let ids: Vec<_> = all
        .iter()
        .flatten()
        .map(|resource| resource.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(
        server.asked()[2].path_and_query,
        "/api/hyperfleet/v1/clusters?page=3&size=100&order=created_time+asc"
    );
}

#[tokio::test]
async fn a_list_that_shrinks_while_it_is_read_ends() {
    let server = Server::start(|n, _| {
        if n == 0 {
            page(&["a"], 900)
        } else {
            page(&[], 900)
        }
    })
    .await;
    let all: Vec<_> = server
        .client()
        .list_all("clusters", ListQuery::default())
        .try_collect()
        .await
        .unwrap();
    assert_eq!((all.len(), server.asked().len()), (2, 2));
}

#[tokio::test]
async fn a_page_that_fails_ends_the_list_with_an_error() {
    let server = Server::start(|n, _| {
        if n == 0 {
            page(&["a"], 3)
        } else {
            plain(400, "")
        }
    })
    .await;
    let all: Result<Vec<_>, _> = server
        .client()
        .list_all("clusters", ListQuery::default())
        .try_collect()
        .await;
    assert_eq!(all.unwrap_err().status().unwrap().as_u16(), 400);
}

#[tokio::test]
async fn an_api_that_knows_neither_feed_nor_all_members_has_nothing_to_follow() {
    let refused = |asked: &crate::server::Asked| asked.path_and_query.contains("fields=");
    let follow = Follow {
        plural: "clusters".to_owned(),
        fields: Some("id,status.phase".to_owned()),
        ..Follow::default()
    };
    let problem =
        json!({"code": "HYPERFLEET-VAL-000", "status": 400, "detail": "field(s) doesn't exist"});
    let said = problem.clone();
    let v1 = Server::start(move |_, asked| match refused(asked) {
        true => json(400, said.clone()),
        false => page(&["a"], 1),
    })
    .await;
    assert!(v1.client().first_page(&follow, 10).await.unwrap().is_none());
    let ours = Server::start(move |_, asked| match refused(asked) {
        true => json(400, problem.clone()),
        false => json(200, json!({"items": [], "since": "1:2:"})),
    })
    .await;
    let told = ours.client().first_page(&follow, 10).await.unwrap_err();
    assert_eq!(
        told.status(),
        Some(StatusCode::BAD_REQUEST),
        "a mistake of ours stays one"
    );
}
