//! Whose resources are whose.

use serde_json::{Value, json};

use super::issuer::Issuer;
use crate::caller::{Answer, Caller, done};

const ACME: (&str, &str) = ("x-hyperfleet-org", "acme");
const OTHER: (&str, &str) = ("x-hyperfleet-org", "other");
const SYSTEM: (&str, &str) = ("x-hyperfleet-system", "true");

fn tenant() -> Value {
    json!({
        "enabled": true,
        "system_header": "X-HyperFleet-System",
        "dimensions": [{"header": "X-HyperFleet-Org", "key": "org", "required": true}],
    })
}

async fn api() -> Caller {
    Caller::secured(json!({"server": {"tenant": tenant()}})).await
}

async fn send(api: &Caller, who: (&str, &str), method: &str, path: &str, body: Value) -> Answer {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    api.send_with(method, path, &[who], body).await
}

async fn create(api: &Caller, who: (&str, &str), name: &str) -> String {
    let body = json!({"kind": "Cluster", "name": name, "spec": {}});
    let answer = send(api, who, "POST", "/clusters", body).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.body["tenancy"], json!({"org": who.1}));
    format!("/clusters/{}", answer.body["id"].as_str().unwrap())
}

#[tokio::test]
async fn to_another_tenant_nothing_is_there_whatever_is_asked() {
    let api = api().await;
    let path = create(&api, ACME, "mine").await;
    let id = path.rsplit('/').next().unwrap();
    let pool = json!({"kind": "NodePool", "name": "pool", "spec": {}});
    let pools = format!("{path}/nodepools");
    let made = send(&api, ACME, "POST", &pools, pool.clone()).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let pool_id = made.body["id"].as_str().unwrap();
    let report = done("dns");
    for base in [
        path.clone(),
        format!("/resources/{id}"),
        format!("/nodepools/{pool_id}"),
        format!("{pools}/{pool_id}"),
    ] {
        let statuses = format!("{base}/statuses");
        for (method, path, body) in [
            ("GET", base.clone(), Value::Null),
            ("PATCH", base.clone(), json!({"spec": {"a": 1}})),
            ("DELETE", base.clone(), Value::Null),
            (
                "POST",
                format!("{base}/force-delete"),
                json!({"reason": "mischief"}),
            ),
            ("GET", format!("{base}/history"), Value::Null),
            ("GET", statuses.clone(), Value::Null),
            ("PUT", statuses.clone(), report.clone()),
            ("POST", statuses.clone(), report.clone()),
        ] {
            let answer = send(&api, OTHER, method, &path, body).await;
            assert_eq!(answer.status, 404, "{method} {path}: {}", answer.body);
            assert_eq!(answer.body["deletion"], Value::Null);
        }
    }
    assert_eq!(
        send(&api, OTHER, "GET", &pools, Value::Null).await.status,
        404
    );
    assert_eq!(send(&api, OTHER, "POST", &pools, pool).await.status, 404);
    for list in [
        "/clusters",
        "/nodepools",
        "/resources",
        "/clusters?search=name='mine'",
        "/clusters?limit=10",
    ] {
        let answer = send(&api, OTHER, "GET", list, Value::Null).await;
        assert_eq!(answer.body["items"], json!([]), "{list}");
        assert!(
            answer.body["total"].as_u64().unwrap_or(0) == 0,
            "{list}: {}",
            answer.body
        );
    }
    let audit = send(&api, OTHER, "GET", "/audit", Value::Null).await;
    let lines = audit.body["items"].as_array().unwrap();
    assert!(
        lines.iter().all(|line| line["action"] == "deny"),
        "{}",
        audit.body
    );
    let kept = send(&api, ACME, "GET", &path, Value::Null).await.body;
    assert_eq!(
        (&kept["generation"], &kept["deleted_time"]),
        (&json!(1), &Value::Null)
    );
}

#[tokio::test]
async fn what_is_gone_is_gone_for_its_own_tenant_only() {
    let api = api().await;
    let path = create(&api, ACME, "mine").await;
    assert_eq!(
        send(&api, ACME, "DELETE", &path, Value::Null).await.status,
        202
    );
    let own = send(&api, ACME, "GET", &path, Value::Null).await;
    assert_eq!(own.body["deletion"]["name"], "mine", "{}", own.body);
    let other = send(&api, OTHER, "GET", &path, Value::Null).await;
    assert_eq!((other.status, &other.body["deletion"]), (404, &Value::Null));
    let history = format!("{path}/history");
    assert_eq!(
        send(&api, ACME, "GET", &history, Value::Null).await.status,
        200
    );
    assert_eq!(
        send(&api, OTHER, "GET", &history, Value::Null).await.status,
        404
    );
}

#[tokio::test]
async fn two_tenants_may_use_the_same_name_and_count_their_own() {
    let api = api().await;
    create(&api, ACME, "same").await;
    create(&api, OTHER, "same").await;
    create(&api, OTHER, "another").await;
    let total = async |who| {
        send(&api, who, "GET", "/clusters?size=1", Value::Null)
            .await
            .body["total"]
            .clone()
    };
    assert_eq!(total(ACME).await, 1);
    assert_eq!(total(OTHER).await, 2);
    assert_eq!(total(SYSTEM).await, 3);
    assert_eq!(
        total(ACME).await,
        1,
        "numbers are remembered for each tenant apart"
    );
}

#[tokio::test]
async fn an_idempotency_key_is_of_no_use_in_another_tenant() {
    let api = api().await;
    let body = json!({"kind": "Cluster", "name": "once", "spec": {}}).to_string();
    let create = async |who| {
        let headers = [who, ("idempotency-key", "k1")];
        api.send_with("POST", "/clusters", &headers, body.clone())
            .await
    };
    assert_eq!(create(ACME).await.status, 201);
    let replayed = create(ACME).await;
    assert_eq!(replayed.headers["idempotency-replayed"], "true");
    let other = create(OTHER).await;
    assert_ne!(other.body["id"], replayed.body["id"]);
    assert_eq!(other.status, 422, "{}", other.body);
}

#[tokio::test]
async fn a_watch_tells_of_the_own_tenant_only() {
    let api = api().await;
    let mut watch = api.watch_with("/clusters?watch=true", &[ACME]).await;
    let theirs = create(&api, OTHER, "theirs").await;
    send(&api, OTHER, "PATCH", &theirs, json!({"spec": {"a": 1}})).await;
    send(&api, OTHER, "DELETE", &theirs, Value::Null).await;
    create(&api, ACME, "ours").await;
    let event = watch.change().await;
    assert_eq!(
        (event.name.as_str(), &event.data["name"]),
        ("upsert", &json!("ours"))
    );
    let since = event.id;
    create(&api, OTHER, "theirs-again").await;
    create(&api, ACME, "ours-again").await;
    let mut resumed = api
        .watch_with(&format!("/clusters?watch=true&since={since}"), &[ACME])
        .await;
    assert_eq!(resumed.change().await.data["name"], "ours-again");
    let mut all = api
        .watch_with(&format!("/clusters?watch=true&since={since}"), &[SYSTEM])
        .await;
    assert_eq!(all.change().await.data["name"], "theirs-again");
}

#[tokio::test]
async fn the_system_reads_everything_and_reports_and_changes_nothing() {
    let api = api().await;
    let path = create(&api, ACME, "mine").await;
    assert_eq!(
        send(&api, SYSTEM, "GET", &path, Value::Null).await.status,
        200
    );
    let statuses = format!("{path}/statuses");
    let answer = send(&api, SYSTEM, "PUT", &statuses, done("dns")).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    for (method, path, body) in [
        (
            "POST",
            "/clusters",
            json!({"kind": "Cluster", "name": "x", "spec": {}}),
        ),
        ("PATCH", path.as_str(), json!({"spec": {"a": 1}})),
        ("DELETE", path.as_str(), Value::Null),
        (
            "POST",
            &format!("{path}/force-delete"),
            json!({"reason": "x"}),
        ),
    ] {
        let answer = send(&api, SYSTEM, method, path, body).await;
        assert_eq!(answer.status, 403, "{method} {path}");
        assert_eq!(answer.body["code"], "HYPERFLEET-AUZ-001");
    }
}

#[tokio::test]
async fn a_request_without_a_tenant_is_refused_even_to_read() {
    let api = api().await;
    for headers in [
        &[][..],
        &[("x-hyperfleet-org", "a b")],
        &[ACME, OTHER],
        &[("x-hyperfleet-system", "yes")],
    ] {
        let answer = api.send_with("GET", "/clusters", headers, "").await;
        assert_eq!(answer.status, 403, "{headers:?}");
        assert_eq!(answer.body["code"], "HYPERFLEET-AUZ-001");
    }
}

#[tokio::test]
async fn a_role_in_one_tenant_is_nothing_in_another() {
    let issuer = Issuer::new().await;
    let api = Caller::secured(json!({
        "server": {"jwt": {"configs": [issuer.config()]}, "tenant": tenant()},
        "authorization": {"bindings": [
            {"role": "admin", "identities": ["ada"], "tenant": {"org": "acme"}},
            {"role": "viewer", "identities": ["watcher"]},
        ]},
    }))
    .await;
    let status = async |who: &str, tenant| {
        let bearer = issuer.bearer(who);
        let headers = [("authorization", bearer.as_str()), tenant];
        api.send_with("GET", "/clusters", &headers, "").await.status
    };
    assert_eq!(status("ada", ACME).await, 200);
    assert_eq!(status("ada", OTHER).await, 403);
    assert_eq!(
        status("ada", SYSTEM).await,
        403,
        "a grant for one tenant is not one for all"
    );
    assert_eq!(status("watcher", OTHER).await, 200);
    assert_eq!(status("watcher", SYSTEM).await, 200);
}
