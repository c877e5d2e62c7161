use std::sync::Arc;

use hyperfleet_core::kind::Kind;
use insta::assert_json_snapshot;
use serde_json::json;

use crate::caller::{Caller, stable};

#[tokio::test]
async fn a_spec_that_does_not_fit_its_schema_is_refused_with_every_error() {
    let schema = json!({
        "type": "object",
        "required": ["region"],
        "additionalProperties": false,
        "properties": {
            "region": {"type": "string"},
            "gcp": {"type": "object", "required": ["project"]},
            "nodes": {"type": "integer", "minimum": 1},
        },
    });
    let kind = |name: &str, plural: &str| Kind {
        spec_schema: Some(Arc::new(schema.as_object().unwrap().clone())),
        ..Kind::new(name, plural)
    };
    let named = Kind {
        spec_schema_name: Some("ThingSpec".to_owned()),
        ..kind("Thing", "things")
    };
    let api = Caller::with(vec![kind("Cluster", "clusters"), named]).await;
    let spec = json!({"gcp": {}, "nodes": 0, "node": 3});
    let refused = api
        .post(
            "/clusters",
            json!({"kind": "Cluster", "name": "abc", "spec": spec}),
        )
        .await;
    assert_eq!(refused.status, 400);
    assert_json_snapshot!("spec_does_not_fit", stable(refused.body));
    let refused = api
        .post(
            "/resources",
            json!({"kind": "Thing", "name": "abc", "spec": spec}),
        )
        .await;
    assert_eq!(refused.body["detail"], "Invalid ThingSpec");
    let fits = json!({"region": "us", "nodes": 3, "gcp": {"project": "p"}});
    let created = api
        .post(
            "/clusters",
            json!({"kind": "Cluster", "name": "abc", "spec": fits}),
        )
        .await;
    assert_eq!(created.status, 201, "{}", created.body);
    let id = created.body["id"].as_str().unwrap();
    for path in [format!("/clusters/{id}"), format!("/resources/{id}")] {
        let body = json!({"spec": spec}).to_string();
        let patched = api.send("PATCH", &path, body).await;
        assert_eq!(patched.status, 400, "{}", patched.body);
        assert_eq!(patched.body["errors"].as_array().unwrap().len(), 4);
    }
    let labels = json!({"labels": {"a": "b"}}).to_string();
    let patched = api.send("PATCH", &format!("/clusters/{id}"), labels).await;
    assert_eq!(patched.status, 200, "{}", patched.body);
}
