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
