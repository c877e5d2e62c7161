use insta::assert_json_snapshot;
use serde_json::{Value, json};

use crate::caller::{Answer, Caller, done, stable};

fn short(answer: &Answer) -> Value {
    json!([answer.status, answer.body["code"], answer.body["detail"]])
}

#[tokio::test]
async fn a_patch_replaces_whole_fields_and_moves_the_generation_once() {
    let api = Caller::new().await;
    let cluster = api.cluster("patched").await;
    let href = cluster["href"].as_str().unwrap();
    let patched = api
        .patch(href, json!({"spec": {"nodes": 5}, "labels": {"a": "b"}}))
        .await;
    assert_eq!(patched.status, 200);
    assert_eq!(patched.headers["etag"], "\"2\"");
    assert_json_snapshot!("patched_cluster", stable(patched.body.clone()));
    assert_eq!(api.get(href).await.body, patched.body);

    let same = api
        .patch(
            href,
            json!({"spec": {"nodes": 5}, "labels": {"a": "b"}, "references": {}}),
        )
        .await;
    assert_eq!(
        same.body, patched.body,
        "a patch that changes nothing moves nothing"
    );
    let cleared = api.patch(href, json!({"labels": {}})).await;
    assert_eq!(cleared.body["generation"], 3);
    assert_eq!(cleared.body.get("labels"), None);
}

#[tokio::test]
async fn a_patch_that_breaks_a_rule_changes_nothing() {
    let api = Caller::new().await;
    let cluster = api.cluster("firm").await;
    let href = cluster["href"].as_str().unwrap();
    let mut problems = Vec::new();
    for body in [
        json!({}),
        json!({"spec": null}),
        json!({"name": "other"}),
        json!({"spec": []}),
        json!({"labels": {"bad key": "x"}}),
        json!({"references": {"nobody": []}}),
    ] {
        problems.push(short(&api.patch(href, body).await));
    }
    assert_json_snapshot!("invalid_patches", problems);
    assert_eq!(api.get(href).await.body, cluster);
    let missing = "/clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    assert_eq!(api.patch(missing, json!({"spec": {}})).await.status, 404);
}

#[tokio::test]
async fn if_match_guards_against_other_writers_and_not_against_reports() {
    let api = Caller::new().await;
    let cluster = api.cluster("guarded").await;
    let href = cluster["href"].as_str().unwrap();
    let etag = api.get(href).await.headers["etag"]
        .to_str()
        .unwrap()
        .to_owned();
    api.put(&format!("{href}/statuses"), done("dns")).await;
    let body = |nodes: u32| json!({"spec": {"nodes": nodes}}).to_string();
    let guarded = [("if-match", etag.as_str())];
    assert_eq!(
        api.send_with("PATCH", href, &guarded, body(1)).await.status,
        200
    );
    let late = api.send_with("PATCH", href, &guarded, body(2)).await;
    assert_eq!(
        (late.status, &late.body["code"]),
        (412, &json!("HYPERFLEET-CNF-002"))
    );
    let late = api.send_with("DELETE", href, &guarded, "").await;
    assert_eq!(late.status, 412);
    assert_eq!(api.get(href).await.body["deleted_time"], Value::Null);
    let either = [("if-match", "\"7\", \"2\"")];
    assert_eq!(api.send_with("DELETE", href, &either, "").await.status, 202);
}

#[tokio::test]
async fn a_create_with_a_key_can_be_repeated() {
    let api = Caller::new().await;
    let body = json!({"kind": "Cluster", "name": "once", "spec": {}}).to_string();
    let key = [("idempotency-key", "abc-123")];
    let first = api.send_with("POST", "/clusters", &key, body.clone()).await;
    let again = api.send_with("POST", "/clusters", &key, body).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    assert_eq!(again.headers["idempotency-replayed"], "true");
    let other = json!({"kind": "Cluster", "name": "twice", "spec": {}}).to_string();
    let reused = api
        .send_with("POST", "/clusters", &key, other.clone())
        .await;
    assert_eq!(
        (reused.status, &reused.body["code"]),
        (422, &json!("HYPERFLEET-CNF-004"))
    );
    let long = "x".repeat(256);
    let refused = api
        .send_with("POST", "/clusters", &[("idempotency-key", &long)], other)
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(api.get("/clusters").await.body["total"], 1);
}

#[tokio::test]
async fn a_deleted_cluster_waits_for_its_adapters_and_then_leaves_a_record() {
    let api = Caller::new().await;
    let cluster = api.cluster("doomed").await;
    let (id, href) = (
        cluster["id"].as_str().unwrap(),
        cluster["href"].as_str().unwrap(),
    );
    let deleted = api.delete(href).await;
    assert_eq!(deleted.status, 202);
    assert_json_snapshot!("deleted_cluster", stable(deleted.body.clone()));
    let again = api.delete(href).await;
    assert_eq!((again.status, &again.body), (202, &deleted.body));
    assert_eq!(api.patch(href, json!({"spec": {}})).await.status, 409);
    let child = json!({"kind": "NodePool", "name": "late", "spec": {}});
    assert_eq!(
        api.post(&format!("{href}/nodepools"), child).await.status,
        409
    );
    let renamed = api.cluster("doomed").await;
    assert_ne!(renamed["id"], cluster["id"], "the name is free again");

    for adapter in ["validation", "dns"] {
        let mut last = done(adapter);
        last["observed_generation"] = json!(2);
        last["conditions"][0]["status"] = json!("False");
        last["conditions"]
            .as_array_mut()
            .unwrap()
            .push(json!({"type": "Finalized", "status": "True", "reason": "CleanupConfirmed"}));
        assert_eq!(api.put(&format!("{href}/statuses"), last).await.status, 201);
    }
    let gone = api.get(href).await;
    assert_eq!(gone.status, 404);
    assert_json_snapshot!("gone_cluster", stable(gone.body));
    let unknown = api
        .get("/clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b")
        .await;
    assert_eq!(
        unknown.body.get("deletion"),
        None,
        "what never was has no record"
    );
    assert_eq!(api.delete(href).await.body["deletion"]["how"], "finalized");
    assert_eq!(
        api.get(&format!("/resources/{id}/statuses")).await.body["deletion"]["id"],
        id
    );

    let history = api.get(&format!("{href}/history")).await;
    assert_eq!(history.status, 200, "history outlives the resource");
    assert_json_snapshot!("history_of_a_gone_cluster", stable(history.body));
}

#[tokio::test]
async fn force_delete_needs_a_reason_and_a_deletion_that_was_asked_for() {
    let api = Caller::new().await;
    let cluster = api.cluster("stuck").await;
    let href = cluster["href"].as_str().unwrap();
    let force = format!("{href}/force-delete");
    let mut problems = Vec::new();
    for body in [
        json!({}),
        json!({"reason": " "}),
        json!({"reason": 7}),
        json!({"reason": "x".repeat(1025)}),
    ] {
        problems.push(short(&api.post(&force, body).await));
    }
    problems.push(json!(stable(short(
        &api.post(&force, json!({"reason": "early"})).await
    ))));
    assert_json_snapshot!("refused_force_deletes", problems);
    api.delete(href).await;
    let forced = api
        .post(&force, json!({"reason": "the adapter is gone"}))
        .await;
    assert_eq!((forced.status, forced.body), (204, Value::Null));
    let gone = api.get(href).await;
    assert_eq!(gone.body["deletion"]["how"], "forced");
    assert_eq!(gone.body["deletion"]["reason"], "the adapter is gone");
    assert_eq!(
        api.post(&force, json!({"reason": "again"})).await.status,
        404
    );
}

#[tokio::test]
async fn references_are_checked_kept_and_hold_their_targets() {
    let kinds = serde_json::from_value(json!([
        {"kind": "Wif", "plural": "wifs"},
        {"kind": "Cluster", "plural": "clusters",
         "references": [{"ref_type": "wif_config", "target_kind": "Wif", "min": 1, "max": 1}]},
    ]))
    .unwrap();
    let api = Caller::with(kinds).await;
    let wif = api
        .post("/wifs", json!({"kind": "Wif", "name": "login", "spec": {}}))
        .await
        .body;
    let cluster = |references: Value| json!({"kind": "Cluster", "name": "c", "spec": {}, "references": references});
    let mut problems = Vec::new();
    for references in [
        json!({}),
        json!({"wif_config": []}),
        json!({"other": [{"id": wif["id"]}]}),
        json!({"wif_config": [{"id": wif["id"]}, {"id": wif["id"]}]}),
        json!({"wif_config": [{}]}),
        json!({"wif_config": [{"id": "nothing"}]}),
        json!({"wif_config": [{"id": wif["id"], "kind": "Cluster"}]}),
        json!({"wif_config": {}}),
        json!([]),
    ] {
        let answer = api.post("/clusters", cluster(references)).await;
        problems.push(stable(json!([
            answer.status,
            answer.body["detail"],
            answer.body["errors"][0]["field"]
        ])));
    }
    assert_json_snapshot!("invalid_references", problems);
    let made = api
        .post(
            "/clusters",
            cluster(json!({"wif_config": [{"id": wif["id"], "kind": "Wif"}]})),
        )
        .await;
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(
        made.body["references"],
        json!({"wif_config": [{"id": wif["id"], "kind": "Wif", "href": wif["href"]}]})
    );
    let held = api.delete(wif["href"].as_str().unwrap()).await;
    assert_eq!(
        short(&held),
        json!([
            409,
            "HYPERFLEET-CNF-003",
            "cannot delete Wif \"login\": referenced by Cluster \"c\" — remove the reference(s) before deleting"
        ])
    );
}

#[tokio::test]
async fn the_audit_log_is_paged_and_filtered() {
    let api = Caller::new().await;
    let cluster = api.cluster("noted").await;
    let href = cluster["href"].as_str().unwrap();
    api.patch(href, json!({"spec": {"nodes": 9}})).await;
    api.delete(href).await;
    api.cluster("other").await;
    let id = cluster["id"].as_str().unwrap();
    let first = api.get(&format!("/audit?resource_id={id}&limit=2")).await;
    assert_json_snapshot!("audit", stable(first.body.clone()));
    let next = first.body["continue"].as_str().unwrap();
    let rest = api
        .get(&format!("/audit?resource_id={id}&limit=2&continue={next}"))
        .await;
    assert_eq!(rest.body["items"][0]["action"], "create");
    assert_eq!(rest.body.get("continue"), None);
    let creates = api.get("/audit?action=create&kind=Cluster").await;
    assert_eq!(creates.body["items"].as_array().unwrap().len(), 2);
    for bad in ["limit=0", "limit=x", "continue=x", "resource_id=x"] {
        assert_eq!(api.get(&format!("/audit?{bad}")).await.status, 400, "{bad}");
    }
    assert_eq!(
        api.get(&format!("{href}/history?continue=x")).await.status,
        400
    );
}
