//! How much one caller may ask for.

use serde_json::{Value, json};

use super::issuer::Issuer;
use crate::caller::{Answer, Caller, done};

async fn limited(limits: Value) -> (Caller, Issuer) {
    let issuer = Issuer::new().await;
    let api = Caller::secured(json!({
        "server": {"jwt": {"configs": [issuer.config()]}},
        "authorization": {"bindings": [
            {"role": "admin", "identities": ["ada", "bob"]},
            {"role": "adapter", "identities": ["robot"], "adapters": ["dns"]},
        ]},
        "limits": limits,
    }))
    .await;
    (api, issuer)
}

async fn send(api: &Caller, bearer: &str, method: &str, path: &str, body: Value) -> Answer {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    api.send_with(method, path, &[("authorization", bearer)], body)
        .await
}

fn cluster(number: usize) -> Value {
    json!({"kind": "Cluster", "name": format!("c-{number}"), "spec": {}})
}

#[tokio::test]
async fn whoever_writes_too_much_waits_and_nobody_else_does() {
    let (api, issuer) = limited(json!({"writes_per_minute": 3})).await;
    let (ada, bob, robot) = (
        issuer.bearer("ada"),
        issuer.bearer("bob"),
        issuer.bearer("robot"),
    );
    let mut path = String::new();
    for number in 0..3 {
        let made = send(&api, &ada, "POST", "/clusters", cluster(number)).await;
        assert_eq!(made.status, 201, "{}", made.body);
        path = format!("/clusters/{}", made.body["id"].as_str().unwrap());
    }
    let refused = send(&api, &ada, "POST", "/clusters", cluster(3)).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(refused.body["code"], "HYPERFLEET-LMT-001");
    let seconds: u64 = refused.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=21).contains(&seconds), "{seconds}");
    assert_eq!(
        send(&api, &ada, "GET", &path, Value::Null).await.status,
        200
    );
    assert_eq!(
        send(&api, &bob, "POST", "/clusters", cluster(4))
            .await
            .status,
        201
    );
    for _ in 0..10 {
        let statuses = format!("{path}/statuses");
        let reported = send(&api, &robot, "PUT", &statuses, done("dns")).await;
        assert!(reported.status < 300, "{}", reported.body);
    }
    let total = send(&api, &ada, "GET", "/clusters", Value::Null).await;
    assert_eq!(total.body["total"], 4);
}

#[tokio::test]
async fn an_adapter_has_a_budget_of_its_own() {
    let (api, issuer) = limited(json!({"adapter_writes_per_minute": 2})).await;
    let made = send(&api, &issuer.bearer("ada"), "POST", "/clusters", cluster(0)).await;
    let statuses = format!("/clusters/{}/statuses", made.body["id"].as_str().unwrap());
    let robot = issuer.bearer("robot");
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(
            send(&api, &robot, "PUT", &statuses, done("dns"))
                .await
                .status,
        );
    }
    assert_eq!(seen.last(), Some(&429), "{seen:?}");
}

#[tokio::test]
async fn reads_can_be_limited_too() {
    let (api, issuer) = limited(json!({"reads_per_minute": 2})).await;
    let ada = issuer.bearer("ada");
    for expected in [200, 200, 429] {
        let answer = send(&api, &ada, "GET", "/clusters", Value::Null).await;
        assert_eq!(answer.status, expected);
    }
}

#[tokio::test]
async fn watches_are_counted_while_they_are_open() {
    let (api, issuer) = limited(json!({"watches_per_identity": 1, "watches": 2})).await;
    let (ada, bob) = (issuer.bearer("ada"), issuer.bearer("bob"));
    let path = "/clusters?watch=true";
    let first = api.watch_with(path, &[("authorization", &ada)]).await;
    let refused = send(&api, &ada, "GET", path, Value::Null).await;
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert_eq!(refused.headers["retry-after"], "10");
    let _second = api.watch_with(path, &[("authorization", &bob)]).await;
    drop(first);
    // The server notices that a watcher has gone when it looks.
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let bearer = [("authorization", ada.as_str())];
    while api.head_status("GET", path, &bearer).await == 429 {
        assert!(
            tokio::time::Instant::now() < deadline,
            "the place is never free again"
        );
        tokio::task::yield_now().await;
    }
}
