//! `dry_run=true`: the answer is the one that doing it would get, and nothing is kept of it.

use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::{Kind, OnParentDelete};
use serde_json::{Value, json};

use crate::caller::{Caller, done};
use crate::security::issuer::Issuer;

fn cluster(name: &str) -> Value {
    json!({"kind": "Cluster", "name": name, "spec": {"nodes": 1}})
}

/// Everything that tells of a change: resources, the audit log, and what a watch resumes with.
async fn traces(api: &Caller) -> Value {
    let resources = api.get("/resources").await.body;
    json!([resources, api.get("/audit").await.body])
}

#[tokio::test]
async fn a_tried_create_is_answered_as_a_real_one_and_not_kept() {
    let api = Caller::new().await;
    let before = traces(&api).await;
    let tried = api.post("/clusters?dry_run=true", cluster("tried")).await;
    assert_eq!(tried.status, 201, "{}", tried.body);
    assert_eq!(tried.headers["etag"], "\"1\"");
    assert_eq!(tried.body["status"]["phase"], "Pending");
    let href = tried.body["href"].as_str().unwrap();
    assert_eq!(api.get(href).await.status, 404);
    assert_eq!(traces(&api).await, before);
    let real = api.post("/clusters?dry_run=false", cluster("tried")).await;
    assert_eq!(real.status, 201, "the name is free: {}", real.body);
    let again = api.post("/clusters?dry_run=true", cluster("tried")).await;
    assert_eq!(again.status, 409, "the name is taken: {}", again.body);
    let wrong = api
        .post("/clusters?dry_run=true", cluster("Not A Name"))
        .await;
    assert_eq!(wrong.status, 400, "{}", wrong.body);
}

#[tokio::test]
async fn a_tried_create_leaves_its_idempotency_key_unused() {
    let api = Caller::new().await;
    let key = [("idempotency-key", "once")];
    let send = async |path: &str, name: &str| {
        let body = cluster(name).to_string();
        api.send_with("POST", path, &key, body).await
    };
    assert_eq!(send("/clusters?dry_run=true", "one").await.status, 201);
    let real = send("/clusters", "two").await;
    assert_eq!(real.status, 201, "{}", real.body);
    assert!(!real.headers.contains_key("idempotency-replayed"));
    let replayed = send("/clusters?dry_run=true", "two").await;
    assert_eq!(replayed.body["id"], real.body["id"]);
    assert_eq!(replayed.headers["idempotency-replayed"], "true");
    let reused = send("/clusters?dry_run=true", "three").await;
    assert_eq!(reused.status, 422, "{}", reused.body);
}

#[tokio::test]
async fn a_tried_patch_is_guarded_and_answered_and_not_kept() {
    let api = Caller::new().await;
    let made = api.cluster("patched").await;
    let href = made["href"].as_str().unwrap();
    let before = traces(&api).await;
    let path = format!("{href}?dry_run=true");
    let tried = api.patch(&path, json!({"spec": {"nodes": 7}})).await;
    assert_eq!(tried.status, 200, "{}", tried.body);
    assert_eq!(tried.body["spec"], json!({"nodes": 7}));
    assert_eq!(tried.body["generation"], 2);
    let old = [("if-match", "\"7\"")];
    let body = json!({"spec": {}}).to_string();
    let stale = api.send_with("PATCH", &path, &old, body).await;
    assert_eq!(stale.status, 412, "{}", stale.body);
    let wrong = api.patch(&path, json!({"labels": {"bad key": "x"}})).await;
    assert_eq!(wrong.status, 400, "{}", wrong.body);
    assert_eq!(api.get(href).await.body, made);
    assert_eq!(traces(&api).await, before);
}

#[tokio::test]
async fn a_tried_deletion_says_what_would_become_of_it_and_deletes_nothing() {
    let mut kinds = Kind::defaults();
    kinds[0].required_adapters = vec![AdapterName::try_from("dns").unwrap()];
    kinds[1].on_parent_delete = Some(OnParentDelete::Restrict);
    let api = Caller::with(kinds).await;
    let made = api.cluster("doomed").await;
    let href = made["href"].as_str().unwrap();
    let tried = api.delete(&format!("{href}?dry_run=true")).await;
    assert_eq!(tried.status, 202, "{}", tried.body);
    assert_eq!(tried.body["status"]["phase"], "Terminating");
    assert_eq!(api.get(href).await.body, made);
    let pool = json!({"kind": "NodePool", "name": "keeps-it", "spec": {}});
    let pool = api.post(&format!("{href}/nodepools"), pool).await;
    assert_eq!(pool.status, 201, "{}", pool.body);
    let before = traces(&api).await;
    let refused = api.delete(&format!("{href}?dry_run=true")).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_eq!(traces(&api).await, before);
}

#[tokio::test]
async fn a_tried_force_deletion_removes_nothing() {
    let api = Caller::new().await;
    let made = api.cluster("stuck").await;
    let href = made["href"].as_str().unwrap();
    let force = format!("{href}/force-delete?dry_run=true");
    let reason = json!({"reason": "to see"});
    assert_eq!(api.post(&force, reason.clone()).await.status, 409);
    assert_eq!(api.delete(href).await.status, 202);
    let before = traces(&api).await;
    assert_eq!(api.post(&force, reason).await.status, 204);
    assert_eq!(traces(&api).await, before);
}

#[tokio::test]
async fn watchers_hear_nothing_of_what_was_only_tried() {
    let api = Caller::new().await;
    let made = api.cluster("there").await;
    let href = made["href"].as_str().unwrap();
    let mut watch = api.watch("/clusters?watch=true").await;
    watch.next().await.unwrap();
    api.post("/clusters?dry_run=true", cluster("tried")).await;
    let path = format!("{href}?dry_run=1");
    api.patch(&path, json!({"spec": {"nodes": 7}})).await;
    api.delete(&path).await;
    api.cluster("real").await;
    assert_eq!(watch.change().await.data["name"], "real");
}

#[tokio::test]
async fn who_may_not_do_it_may_not_try_it() {
    let issuer = Issuer::new().await;
    let api = Caller::secured(json!({
        "server": {
            "jwt": {"configs": [issuer.config()]},
            "tenant": {"enabled": true, "dimensions": [{"header": "X-Org", "key": "org", "required": true}]},
        },
        "authorization": {"bindings": [
            {"role": "viewer", "identities": ["vera"]},
            {"role": "operator", "identities": ["ada"]},
        ]},
    }))
    .await;
    let send = async |who: &str, org: &str, method: &str, path: &str, body: Value| {
        let bearer = issuer.bearer(who);
        let headers = [("authorization", bearer.as_str()), ("x-org", org)];
        api.send_with(method, path, &headers, body.to_string())
            .await
    };
    let create = "/clusters?dry_run=true";
    let refused = send("vera", "acme", "POST", create, cluster("no")).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let tried = send("ada", "acme", "POST", create, cluster("yes")).await;
    assert_eq!(tried.status, 201, "{}", tried.body);
    assert_eq!(tried.body["tenancy"], json!({"org": "acme"}));
    let made = send("ada", "acme", "POST", "/clusters", cluster("yes")).await;
    let path = format!("{}?dry_run=true", made.body["href"].as_str().unwrap());
    let change = json!({"labels": {"a": "b"}});
    let refused = send("vera", "acme", "PATCH", &path, change.clone()).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let hidden = send("ada", "other", "PATCH", &path, change).await;
    assert_eq!(hidden.status, 404, "{}", hidden.body);
}

/// A parameter that nobody reads would have the request done instead of tried.
#[tokio::test]
async fn every_write_either_takes_dry_run_or_refuses_it() {
    let api = Caller::new().await;
    let made = api.cluster("there").await;
    let id = made["id"].as_str().unwrap();
    let document = api.get("/openapi").await.body;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let parameters = operation["parameters"].as_array();
            let takes = parameters
                .into_iter()
                .flatten()
                .any(|parameter| parameter["name"] == "dry_run");
            if method == "get" || takes {
                continue;
            }
            let path = path.replace("{id}", id).replace("{parent_id}", id);
            let body = done("dns").to_string();
            let answer = api
                .send(
                    &method.to_uppercase(),
                    &format!("{path}?dry_run=true"),
                    body,
                )
                .await;
            assert_eq!(answer.status, 400, "{method} {path}: {}", answer.body);
            assert_eq!(answer.body["errors"][0]["field"], "dry_run", "{path}");
        }
    }
    for value in ["yes", "", "True"] {
        let path = format!("/clusters?dry_run={value}");
        let answer = api.post(&path, cluster("unsure")).await;
        assert_eq!(answer.status, 400, "{value}: {}", answer.body);
    }
    let twice = "/clusters?dry_run=true&dry_run=false";
    assert_eq!(api.post(twice, cluster("unsure")).await.status, 400);
    assert_eq!(api.get("/clusters").await.body["total"], 1);
}
