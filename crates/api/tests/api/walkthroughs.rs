//! The scenarios of the status guide over HTTP. Times are not compared: here they are the server's.

#[path = "../../../core/tests/walkthroughs/scenario.rs"]
mod scenario;

use hyperfleet_core::kind::Kind;
use serde_json::{Value, json};

use crate::caller::Caller;
use scenario::{Scenario, document, expected, read, shown};

async fn walk(name: &str) {
    let scenario: Scenario = document(name);
    let mut kinds = Kind::defaults();
    kinds[0].conditions = document("conditions.yaml");
    let api = Caller::ruled(kinds, read("aggregation.yaml").text()).await;
    let cluster = api.cluster("my-cluster").await;
    let href = cluster["href"].as_str().unwrap();
    for stage in &scenario.stages {
        if let Some(at) = stage.updated {
            assert!(at > scenario.created);
            let patched = api.patch(href, json!({"spec": {"fixed": true}})).await;
            assert_eq!(patched.status, 200, "{}", patched.body);
        }
        for report in &stage.reports {
            let mut report = report.clone();
            observed_now(&mut report);
            let answer = api.post(&format!("{href}/statuses"), report).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        }
        let mut expected = expected(stage);
        let mut shown = shown(&api.get(href).await.body["status"], &expected);
        without_times(&mut expected);
        without_times(&mut shown);
        assert_eq!(shown, expected, "{}, {}", scenario.guide, stage.guide);
    }
}

/// A report must not be older than half an hour.
fn observed_now(report: &mut Value) {
    let now = json!(chrono::Utc::now());
    match report.get_mut("adapter_statuses") {
        Some(Value::Array(reports)) => reports
            .iter_mut()
            .for_each(|report| report["last_updated_time"] = now.clone()),
        _ => report["last_updated_time"] = now,
    }
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.ends_with("_time"));
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

#[tokio::test]
async fn a_cluster_is_provisioned_successfully() {
    walk("scenario-1-success.yaml").await;
}

#[tokio::test]
async fn a_validation_fails_and_is_tried_again() {
    walk("scenario-2-failure.yaml").await;
}

#[tokio::test]
async fn an_unhealthy_optional_adapter_degrades_a_cluster() {
    walk("scenario-3-degraded.yaml").await;
}

#[tokio::test]
async fn an_adapter_goes_through_its_lifecycle() {
    walk("lifecycle.yaml").await;
}

#[tokio::test]
async fn the_status_document_shows_every_adapter_at_its_stage() {
    let mut expected: Value = document("cluster-status.yaml");
    let api = Caller::ruled(Kind::defaults(), read("aggregation.yaml").text()).await;
    let cluster = api.cluster("my-cluster").await;
    let statuses = format!("{}/statuses", cluster["href"].as_str().unwrap());
    for report in expected["adapter_statuses"].as_array().unwrap() {
        let mut report = report.clone();
        observed_now(&mut report);
        assert_eq!(api.post(&statuses, report).await.status, 200);
    }
    let mut shown = api.get(&format!("{statuses}?generation=1")).await.body;
    without_times(&mut shown);
    let id = cluster["id"].as_str().unwrap();
    expected["id"] = json!(format!("status-{id}"));
    expected["cluster_id"] = json!(id);
    expected["href"] = json!(statuses);
    assert_eq!(shown, expected);
}
