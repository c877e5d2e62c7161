//! Who asks.

use serde_json::{Value, json};

use super::issuer::{Issuer, Key, now};
use crate::caller::{Answer, Caller};

/// An API where whoever is known may do everything.
async fn open_to(issuers: Value) -> Caller {
    Caller::secured(json!({
        "server": {"jwt": {"configs": issuers}},
        "authorization": {"default_role": "admin"},
    }))
    .await
}

async fn list(api: &Caller, authorization: &str) -> Answer {
    let headers = [("authorization", authorization)];
    api.send_with("GET", "/clusters", &headers, "").await
}

fn refused(answer: &Answer, code: &str) {
    assert_eq!(answer.status, 401, "{}", answer.body);
    assert_eq!(answer.body["code"], format!("HYPERFLEET-{code}"));
    assert_eq!(answer.headers["www-authenticate"], "Bearer");
}

#[tokio::test]
async fn a_token_of_each_algorithm_is_taken() {
    for key in [Key::ed(), Key::ec(), Key::rsa()] {
        let issuer = Issuer::with(key).await;
        let api = open_to(json!([issuer.config()])).await;
        let answer = list(&api, &issuer.bearer("ada@example.com")).await;
        assert_eq!(answer.status, 200, "{}", issuer.key.algorithm());
    }
}

#[tokio::test]
async fn an_algorithm_that_is_not_listed_is_not_taken() {
    let issuer = Issuer::new().await;
    let mut config = issuer.config();
    config["algorithms"] = json!(["RS256", "ES256"]);
    let api = open_to(json!([config])).await;
    refused(&list(&api, &issuer.bearer("ada")).await, "AUT-002");
}

#[tokio::test]
async fn what_was_created_names_who_created_it() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    let body = json!({"kind": "Cluster", "name": "mine", "spec": {}}).to_string();
    let bearer = issuer.bearer(" ada@example.com ");
    let answer = api
        .send_with("POST", "/clusters", &[("authorization", &bearer)], body)
        .await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(answer.body["created_by"], "ada@example.com");
}

#[tokio::test]
async fn public_routes_ask_nobody() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    for path in [
        "/api/hyperfleet",
        "/api/hyperfleet/v1/openapi",
        "/api/hyperfleet/v1/openapi.html",
        "/api/hyperfleet/v1/openapi/swagger-ui.css",
    ] {
        assert_eq!(api.get(path).await.status, 200, "{path}");
    }
    let unknown = api.get("/nothing-here").await;
    assert_eq!(unknown.body["code"], "HYPERFLEET-NTF-000");
}

#[tokio::test]
async fn without_a_token_nothing_is_told_not_even_what_is_missing() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    let answer = api
        .get("/clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b")
        .await;
    refused(&answer, "AUT-001");
    assert_eq!(answer.body["detail"], "missing authorization header");
    refused(&api.post("/clusters", json!({})).await, "AUT-001");
    refused(&list(&api, "Basic YWRhOnNlY3JldA==").await, "AUT-002");
    refused(&list(&api, "Bearer").await, "AUT-002");
    refused(&list(&api, "Bearer not-a-token").await, "AUT-002");
    let lower = issuer.bearer("ada").replacen("Bearer", "bearer", 1);
    assert_eq!(list(&api, &lower).await.status, 200);
}

#[tokio::test]
async fn times_issuer_and_audience_must_fit() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    let with = |key: &str, value: Value| {
        let mut claims = issuer.claims("ada");
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(key)),
            value => claims[key] = value,
        }
        format!("Bearer {}", issuer.token(&claims))
    };
    refused(
        &list(&api, &with("exp", json!(now() - 31))).await,
        "AUT-003",
    );
    assert_eq!(
        list(&api, &with("exp", json!(now() - 20))).await.status,
        200,
        "leeway"
    );
    for (key, value) in [
        ("exp", Value::Null),
        ("exp", json!("soon")),
        ("nbf", json!(now() + 120)),
        ("iss", json!("https://elsewhere.example.com")),
        ("iss", json!([issuer.url])),
        ("iss", Value::Null),
        ("aud", json!("another")),
        ("aud", json!([])),
        ("aud", Value::Null),
    ] {
        refused(&list(&api, &with(key, value)).await, "AUT-002");
    }
    assert_eq!(
        list(&api, &with("aud", json!(["x", "fleet"]))).await.status,
        200
    );
    assert_eq!(
        list(&api, &with("nbf", json!(now() + 10))).await.status,
        200,
        "leeway"
    );
}

#[tokio::test]
async fn several_issuers_each_vouch_for_their_own() {
    let (one, two) = (Issuer::new().await, Issuer::with(Key::ec()).await);
    let mut second = two.config();
    second["header"] = json!("X-Robot-Token");
    let api = open_to(json!([one.config(), second])).await;
    assert_eq!(list(&api, &one.bearer("ada")).await.status, 200);
    refused(&list(&api, &two.bearer("robot")).await, "AUT-002");
    let robot = two.bearer("robot");
    let answer = api
        .send_with("GET", "/clusters", &[("x-robot-token", &robot)], "")
        .await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    // One that has expired says more than one that is nonsense.
    let mut old = two.claims("robot");
    old["exp"] = json!(now() - 600);
    let old = format!("Bearer {}", two.token(&old));
    let both = [
        ("authorization", "Bearer nonsense"),
        ("x-robot-token", &old),
    ];
    refused(
        &api.send_with("GET", "/clusters", &both, "").await,
        "AUT-003",
    );
}

#[tokio::test]
async fn keys_are_found_by_the_discovery_document() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([{"issuer_url": issuer.url}])).await;
    assert_eq!(list(&api, &issuer.bearer("ada")).await.status, 200);
}

#[tokio::test]
async fn keys_in_a_file_need_no_issuer_to_be_there() {
    let issuer = Issuer::new().await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let keys = json!({"keys": [issuer.key.jwk("first")]}).to_string();
    std::fs::write(file.path(), keys).unwrap();
    let config = json!({"issuer_url": issuer.url, "jwk_cert_file": file.path()});
    let api = open_to(json!([config])).await;
    assert_eq!(list(&api, &issuer.bearer("ada")).await.status, 200);
    assert_eq!(issuer.fetched(), 0);
}

#[tokio::test]
async fn a_service_account_of_kubernetes_is_a_caller_like_any_other() {
    let cluster = Issuer::with(Key::rsa()).await;
    let mut config = cluster.config();
    config["identity_claim"] = json!("sub");
    config["identity_claim_pattern"] = json!("system:serviceaccount:hyperfleet:.+");
    let api = open_to(json!([config])).await;
    let create = async |sub: &str| {
        let claims = json!({"iss": cluster.url, "aud": ["fleet"], "sub": sub, "exp": now() + 600,
                            "kubernetes.io": {"namespace": "hyperfleet"}});
        let bearer = format!("Bearer {}", cluster.token(&claims));
        let body = json!({"kind": "Cluster", "name": "of-a-robot", "spec": {}}).to_string();
        api.send_with("POST", "/clusters", &[("authorization", &bearer)], body)
            .await
    };
    refused(
        &create("system:serviceaccount:default:sneaky").await,
        "AUT-001",
    );
    let created = create("system:serviceaccount:hyperfleet:adapter").await;
    assert_eq!(created.status, 201, "{}", created.body);
    assert_eq!(
        created.body["created_by"],
        "system:serviceaccount:hyperfleet:adapter"
    );
}

#[tokio::test]
async fn made_up_keys_do_not_make_us_ask_the_issuer_again_and_again() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    assert_eq!(list(&api, &issuer.bearer("ada")).await.status, 200);
    let asked = issuer.fetched();
    for number in 0..20 {
        let mut header = issuer.header();
        header["kid"] = json!(format!("made-up-{number}"));
        let token = issuer.key.token(&header, &issuer.claims("eve"));
        refused(&list(&api, &format!("Bearer {token}")).await, "AUT-002");
    }
    assert!(issuer.fetched() <= asked + 1, "{}", issuer.fetched());
}

#[tokio::test]
async fn whoever_has_no_name_may_look_and_not_touch() {
    let issuer = Issuer::new().await;
    let api = open_to(json!([issuer.config()])).await;
    let mut claims = issuer.claims("x");
    claims.as_object_mut().unwrap().remove("email");
    let bearer = format!("Bearer {}", issuer.token(&claims));
    let headers = [("authorization", bearer.as_str())];
    let answer = api.send_with("GET", "/clusters", &headers, "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let body = json!({"kind": "Cluster", "name": "mine", "spec": {}}).to_string();
    let answer = api.send_with("POST", "/clusters", &headers, body).await;
    refused(&answer, "AUT-001");
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("Unable to resolve caller identity"),
        "{detail}"
    );
}

#[tokio::test]
async fn an_issuer_without_keys_lets_nobody_in() {
    let issuer = Issuer::new().await;
    issuer.publish(json!([]));
    let api = open_to(json!([issuer.config()])).await;
    let answer = list(&api, &issuer.bearer("ada")).await;
    assert_eq!(answer.status, 503, "{}", answer.body);
}

#[tokio::test]
async fn authentication_that_could_let_nobody_in_or_be_fooled_is_refused_at_the_start() {
    let refused = |jwt: Value| {
        let config = json!({"server": {"jwt": jwt}, "authorization": {"default_role": "admin"}});
        let config: hyperfleet_api::ApiConfig = serde_json::from_value(config).unwrap();
        let kinds = hyperfleet_api::Entities::new(hyperfleet_core::kind::Kind::defaults()).unwrap();
        let made = hyperfleet_api::Security::new(&config, &kinds.kinds, std::path::Path::new(""));
        made.unwrap_err().to_string()
    };
    insta::assert_snapshot!(
        [
            refused(json!({"enabled": true})),
            refused(json!({"configs": [{"issuer_url": "http://issuer.example.com"}]})),
            refused(
                json!({"configs": [{"issuer_url": "https://i", "jwk_cert_url": "http://i/keys"}]})
            ),
            refused(json!({"configs": [{"issuer_url": "https://i", "identity_header": "X-User"}]})),
            refused(
                json!({"configs": [{"issuer_url": "https://i", "identity_header": "Cookie"}],
                       "trusted_proxies": ["10.0.0.1"]})
            ),
            refused(
                json!({"configs": [{"issuer_url": "https://i"}], "trusted_proxies": ["anybody"]})
            ),
            refused(json!({"configs": [{"issuer_url": "https://i", "algorithms": []}]})),
            refused(
                json!({"configs": [{"issuer_url": "https://i", "identity_claim_pattern": "("}]})
            ),
        ]
        .join("\n")
    );
}
