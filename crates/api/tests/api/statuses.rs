use hyperfleet_api::{Hub, StatusesFormat};
use hyperfleet_core::kind::Kind;
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

#[tokio::test]
async fn a_post_may_hold_several_reports_and_takes_all_or_none() {
    let api = Caller::new().await;
    let cluster = api.cluster("together").await;
    let href = cluster["href"].as_str().unwrap();
    let statuses = format!("{href}/statuses");
    let mut bad = done("dns");
    bad["conditions"][2]["type"] = json!("Sound");
    let body = |second| json!({"generation": 1, "adapter_statuses": [done("validation"), second]});
    let refused = api.post(&statuses, body(bad)).await;
    assert_eq!(refused.status, 400);
    assert_json_snapshot!("one_of_several_reports_is_wrong", stable(refused.body));
    assert_eq!(api.get(href).await.body, cluster);

    let taken = api.post(&statuses, body(done("dns"))).await;
    assert_eq!(taken.status, 200, "{}", taken.body);
    assert_eq!(taken.body["adapter_statuses"].as_array().unwrap().len(), 2);
    assert_eq!(api.get(href).await.body["status"]["phase"], "Ready");
    let put = api.put(&statuses, body(done("dns"))).await;
    assert_eq!(put.status, 400, "PUT takes one report");
}

#[tokio::test]
async fn reports_can_be_asked_for_by_generation() {
    let api = Caller::new().await;
    let cluster = api.cluster("twice").await;
    let href = cluster["href"].as_str().unwrap();
    let statuses = format!("{href}/statuses");
    api.put(&statuses, done("validation")).await;
    api.patch(href, json!({"spec": {"region": "eu"}})).await;
    let mut second = done("dns");
    second["observed_generation"] = json!(2);
    api.put(&statuses, second).await;
    let of = async |generation: &str| {
        let path = format!("{statuses}?generation={generation}");
        let document = api.get(&path).await.body;
        let reports = document["adapter_statuses"].as_array().unwrap().clone();
        reports
            .iter()
            .map(|report| report["adapter"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("1").await, ["validation"]);
    assert_eq!(of("2").await, ["dns"]);
    assert!(of("3").await.is_empty());
    assert_eq!(of("").await, ["dns", "validation"]);
    let refused = api.get(&format!("{statuses}?generation=x")).await;
    assert_eq!(refused.status, 400);
    assert_json_snapshot!("generation_is_no_number", stable(refused.body));
}

#[tokio::test]
async fn clients_of_v1_can_have_a_page_of_reports() {
    let api = Caller::adjusted(Kind::defaults(), Hub::RING, |state| {
        state.statuses_format = StatusesFormat::List;
    })
    .await;
    let cluster = api.cluster("listed").await;
    let statuses = format!("{}/statuses", cluster["href"].as_str().unwrap());
    for adapter in ["dns", "validation", "network"] {
        assert_eq!(api.put(&statuses, done(adapter)).await.status, 201);
    }
    let page = api.get(&format!("{statuses}?page=2&size=2")).await;
    assert_eq!(page.status, 200);
    assert_json_snapshot!("status_list", stable(page.body));
}

#[tokio::test]
async fn the_document_is_as_new_as_its_newest_report() {
    let api = Caller::new().await;
    let cluster = api.cluster("fresh").await;
    let href = cluster["href"].as_str().unwrap();
    let statuses = format!("{href}/statuses");
    let older = chrono::Utc::now() - chrono::TimeDelta::minutes(5);
    let mut first = done("validation");
    first["observed_time"] = json!(older);
    api.put(&statuses, first).await;
    let newest = api.put(&statuses, done("dns")).await.body["last_report_time"].clone();
    assert_eq!(api.get(&statuses).await.body["last_updated_time"], newest);
    let known = &api.get(href).await.body["status"]["last_updated_time"];
    assert_ne!(*known, newest, "for the resource the oldest counts");
}
