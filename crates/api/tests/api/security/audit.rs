//! What is kept of who did what, and of who was not let.

use serde_json::{Value, json};

use super::issuer::Issuer;
use crate::caller::{Caller, done, stable};

#[tokio::test]
async fn every_change_and_every_refusal_is_kept_with_who_and_for_whom() {
    let issuer = Issuer::new().await;
    let api = Caller::secured(json!({
        "server": {
            "jwt": {"configs": [issuer.config()]},
            "tenant": {"enabled": true, "dimensions": [{"header": "X-Org", "key": "org", "required": true}]},
        },
        "authorization": {"bindings": [
            {"role": "admin", "identities": ["ada"]},
            {"role": "viewer", "identities": ["vera"]},
            {"role": "adapter", "identities": ["dns"], "adapters": ["dns"]},
        ]},
    }))
    .await;
    let send = async |who: &str, method: &str, path: &str, body: Value| {
        let bearer = issuer.bearer(who);
        let headers = [("authorization", bearer.as_str()), ("x-org", "acme")];
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        api.send_with(method, path, &headers, body).await
    };
    let made = send(
        "ada",
        "POST",
        "/clusters",
        json!({"kind": "Cluster", "name": "mine", "spec": {}}),
    )
    .await;
    let path = format!("/clusters/{}", made.body["id"].as_str().unwrap());
    let statuses = format!("{path}/statuses");
    assert_eq!(send("vera", "DELETE", &path, Value::Null).await.status, 403);
    assert_eq!(
        send("dns", "PUT", &statuses, done("other")).await.status,
        403
    );
    let unknown = api
        .send_with("GET", "/clusters", &[("x-org", "acme")], "")
        .await;
    assert_eq!(unknown.status, 401);
    let refused = send("vera", "DELETE", &path, Value::Null).await;
    assert_eq!(send("ada", "DELETE", &path, Value::Null).await.status, 202);

    let log = send("ada", "GET", "/audit", Value::Null).await.body;
    let lines = log["items"].as_array().unwrap();
    let last = lines.iter().find(|line| line["action"] == "deny").unwrap();
    assert_eq!(last["request_id"], refused.body["trace_id"]);
    let mut shown: Vec<Value> = lines.clone();
    for line in &mut shown {
        let line = line.as_object_mut().unwrap();
        line.remove("id");
        line.insert("request_id".to_owned(), "[id]".into());
    }
    insta::assert_json_snapshot!(stable(Value::Array(shown)));
}

#[tokio::test]
async fn reports_and_sentinels_are_kept_with_who_sent_them() {
    let issuer = Issuer::new().await;
    let api = Caller::secured(json!({
        "server": {"jwt": {"configs": [issuer.config()]}},
        "authorization": {"bindings": [
            {"role": "admin", "identities": ["ada"]},
            {"role": "adapter", "identities": ["robot-7"], "adapters": ["dns"]},
            {"role": "sentinel", "identities": ["watchman"]},
        ]},
    }))
    .await;
    let send = async |who: &str, method: &str, path: &str, body: Value| {
        let bearer = issuer.bearer(who);
        let headers = [("authorization", bearer.as_str())];
        api.send_with(method, path, &headers, body.to_string())
            .await
    };
    let cluster = json!({"kind": "Cluster", "name": "mine", "spec": {}});
    let made = send("ada", "POST", "/clusters", cluster).await;
    let path = format!("/clusters/{}", made.body["id"].as_str().unwrap());
    let report = send("robot-7", "PUT", &format!("{path}/statuses"), done("dns")).await;
    assert_eq!(report.status, 201, "{}", report.body);
    let history = send("ada", "GET", &format!("{path}/history"), Value::Null).await;
    let line = &history.body["items"][0];
    assert_eq!(
        (&line["adapter"], &line["actor"]),
        (&json!("dns"), &json!("robot-7"))
    );
    assert_eq!(
        line["request_id"],
        report.headers["x-request-id"].to_str().unwrap()
    );

    let sentinel = "/sentinels/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    let said = json!({"name": "east", "resource_type": "clusters", "duration_seconds": 60});
    for _ in 0..3 {
        let standing = send("watchman", "PUT", sentinel, said.clone()).await;
        assert_eq!(standing.status, 200, "{}", standing.body);
    }
    for _ in 0..2 {
        let gone = send("watchman", "DELETE", sentinel, Value::Null).await;
        assert_eq!(gone.status, 204);
    }
    let log = send("ada", "GET", "/audit?actor=watchman", Value::Null).await;
    let lines = log.body["items"].as_array().unwrap();
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| {
            let text = |name: &str| line[name].as_str().unwrap();
            (text("action"), text("name"))
        })
        .collect();
    assert_eq!(
        told,
        [("withdraw", "east"), ("announce", "east")],
        "coming and going, and not every breath"
    );
    assert_eq!(lines[1]["detail"]["resource_type"], "clusters");
}
