use insta::assert_json_snapshot;
use serde_json::json;

use crate::caller::{Caller, done, stable};

#[tokio::test]
async fn a_put_answers_the_stored_report_and_a_stale_one_nothing() {
    let api = Caller::new().await;
    let cluster = api.cluster("reported").await;
    let statuses = format!("{}/statuses", cluster["href"].as_str().unwrap());
    let accepted = api.put(&statuses, done("dns")).await;
    assert_eq!(accepted.status, 201);
    assert_json_snapshot!("put_status", stable(accepted.body));
    let mut stale = done("dns");
    stale["observed_time"] = json!(chrono::Utc::now() - chrono::TimeDelta::minutes(1));
    let discarded = api.put(&statuses, stale).await;
    assert_eq!((discarded.status, discarded.body), (204, json!(null)));
}

#[tokio::test]
async fn a_post_answers_the_whole_document() {
    let api = Caller::new().await;
    let cluster = api.cluster("documented").await;
    let statuses = format!("{}/statuses", cluster["href"].as_str().unwrap());
    api.post(&statuses, done("validation")).await;
    let answer = api.post(&statuses, done("dns")).await;
    assert_eq!(answer.status, 200);
    assert_json_snapshot!("status_document", stable(answer.body.clone()));
    assert_eq!(api.get(&statuses).await.body, answer.body);
}

#[tokio::test]
async fn a_cluster_is_ready_when_all_required_adapters_are() {
    let api = Caller::new().await;
    let cluster = api.cluster("ready-soon").await;
    let href = cluster["href"].as_str().unwrap();
    assert_eq!(cluster["status"]["phase"], "Pending");
    api.put(&format!("{href}/statuses"), done("dns")).await;
    assert_eq!(api.get(href).await.body["status"]["phase"], "Provisioning");
    api.put(&format!("{href}/statuses"), done("validation"))
        .await;
    let ready = api.get(href).await.body;
    assert_json_snapshot!("ready_cluster", stable(ready["status"].clone()));
    assert_eq!(ready["generation"], 1);
}

#[tokio::test]
async fn a_report_changes_nothing_when_it_is_refused() {
    let api = Caller::new().await;
    let cluster = api.cluster("untouched").await;
    let href = cluster["href"].as_str().unwrap();
    let mut wrong = done("dns");
    wrong["conditions"].as_array_mut().unwrap().pop();
    let refused = api.put(&format!("{href}/statuses"), wrong).await;
    assert_eq!(refused.status, 400);
    assert_json_snapshot!("missing_condition", stable(refused.body));
    assert_eq!(api.get(href).await.body, cluster);
}
