use chrono::{TimeDelta, Utc};
use hyperfleet_sentinel::{Decide, Options, WhyError, why};
use hyperfleet_store::testing::TestDatabase;
use serde_json::json;

use crate::api::Server;

async fn world() -> (Server, String) {
    let store = TestDatabase::new().await.store;
    let server = Server::start(&store, 0).await;
    let body = json!({"kind": "Cluster", "name": "prod", "spec": {}, "labels": {"region": "us"}});
    let made = server.client().create("clusters", &body).await.unwrap();
    (server, made.id)
}

#[tokio::test]
async fn why_names_the_rule_and_the_values_before_and_after_a_report() {
    let (server, id) = world().await;
    let options = Options::for_kinds(server.url(), ["clusters", "nodepools"]);
    let new = why(&options, "cluster", "prod", Utc::now()).await.unwrap();
    assert_eq!(new.len(), 1);
    assert!(new[0].watched && new[0].due);
    assert_eq!(new[0].reason, "created");
    assert_eq!(new[0].resource["id"], id.as_str());
    assert_eq!(new[0].saw["reported"], false);

    let report = json!({"adapter": "validation", "observed_generation": 1, "conditions": [
        {"type": "Available", "status": "False"}, {"type": "Applied", "status": "True"},
        {"type": "Health", "status": "True"},
    ]});
    server
        .client()
        .report("clusters", &id, &report)
        .await
        .unwrap();
    let now = Utc::now();
    let reported = &why(&options, "Cluster", &id, now).await.unwrap()[0];
    assert!(!reported.due);
    assert_eq!(reported.reason, "not due");
    assert!(
        reported
            .rule
            .starts_with("not ready: backoff_not_ready (10s)"),
        "{}",
        reported.rule
    );
    assert!(
        reported.at > now && reported.at <= now + TimeDelta::seconds(11),
        "{}",
        reported.at
    );
    assert_eq!(reported.saw["backoff_seconds"], 10.0);
    let later = &why(&options, "clusters", &id, now + TimeDelta::seconds(12))
        .await
        .unwrap()[0];
    assert_eq!(
        (later.due, later.reason.as_str()),
        (true, "backoff-expired")
    );
}

#[tokio::test]
async fn why_shows_the_parameters_of_rules_and_whether_the_selector_takes_it() {
    let (server, _) = world().await;
    let mut options = Options::for_kinds(server.url(), ["clusters"]);
    options.message_decision = Some(Decide::Named("default".to_owned()));
    options.resource_selector =
        serde_json::from_value(json!([{"label": "region", "value": "eu"}])).unwrap();
    let answer = &why(&options, "clusters", "prod", Utc::now()).await.unwrap()[0];
    assert!(!answer.watched);
    assert_eq!(answer.rule, "message_decision.result is false");
    assert_eq!(answer.saw["params"]["is_reconciled"], false);
    assert_eq!(answer.saw["params"]["has_ref_time"], true);
}

#[tokio::test]
async fn why_says_what_is_not_there() {
    let (server, id) = world().await;
    let options = Options::for_kinds(server.url(), ["clusters"]);
    let now = Utc::now();
    let nobody = why(&options, "cluster", "nobody", now).await.unwrap_err();
    assert_eq!(
        nobody.to_string(),
        "no clusters has the id or the name `nobody`"
    );
    let kind = why(&options, "nodepool", &id, now).await.unwrap_err();
    assert!(matches!(kind, WhyError::Kind { .. }), "{kind}");
}
