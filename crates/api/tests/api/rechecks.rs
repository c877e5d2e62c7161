//! Statuses that change without a report: time passes, or the rules change.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use hyperfleet_core::kind::Kind;
use serde_json::{Value, json};

use crate::caller::{Caller, done};

const IMPATIENT: &str = "requiredAdapters: [dns]\npolicies: {staleThreshold: 10m}\n";

/// Waits for the background work of the API to bring a resource into a phase.
async fn becomes(api: &Caller, href: &str, phase: &str) -> Value {
    let started = Instant::now();
    loop {
        let resource = api.get(href).await.body;
        if resource["status"]["phase"] == phase {
            return resource;
        }
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "not {phase}: {resource}"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_report_that_gets_too_old_degrades_its_resource_without_any_request() {
    let api = Caller::ruled(Kind::defaults(), IMPATIENT).await;
    let cluster = api.cluster("forgotten").await;
    let href = cluster["href"].as_str().unwrap();
    let mut watch = api.watch("/clusters?watch=true").await;
    let mut old = done("dns");
    // Good when it arrives, and stale a moment later.
    old["observed_time"] = json!(chrono::Utc::now() - TimeDelta::seconds(10 * 60 - 3));
    assert_eq!(api.put(&format!("{href}/statuses"), old).await.status, 201);
    api.recheck();
    let degraded = becomes(&api, href, "Degraded").await;
    let conditions = degraded["status"]["conditions"].as_array().unwrap();
    let late = conditions.last().unwrap();
    assert_eq!(late["type"], "AdaptersReporting");
    assert_eq!(late["message"], "No report within 10m from [dns]");
    while watch.change().await.data["status"]["phase"] != "Degraded" {}
    assert_eq!(
        api.put(&format!("{href}/statuses"), done("dns"))
            .await
            .status,
        201
    );
    assert_eq!(api.get(href).await.body["status"]["phase"], "Ready");
}

#[tokio::test]
async fn new_rules_reach_resources_that_nobody_reports_on() {
    let api = Caller::ruled(Kind::defaults(), "phases: two").await;
    let cluster = api.cluster("quiet").await;
    let href = cluster["href"].as_str().unwrap();
    assert_eq!(cluster["status"]["phase"], "Ready");
    api.recheck();
    api.change_rules("requiredAdapters: [dns]\nphases: {pending: {description: Waits}}");
    let pending = becomes(&api, href, "Pending").await;
    assert_eq!(pending["status"]["phaseDescription"], "Waits");
    assert_eq!(pending["status"]["conditions"][0]["type"], "Reconciled");
}
