//! Attempts to get in, or to break something. Each is refused, nothing is changed, and the API goes on.
//!
//! | attack | shown by |
//! |---|---|
//! | algorithm confusion | `another_algorithm_does_not_turn_a_public_key_into_a_secret` |
//! | tricks with `kid` | `a_key_id_names_a_key_and_leads_nowhere_else` |
//! | forged, changed and expired tokens | `a_changed_token_is_no_token`, `a_verified_token_is_not_good_for_longer_than_it_says` |
//! | oversized and deeply nested bodies, long URLs | `bodies_that_are_too_large_or_too_deep_are_refused`, `a_url_that_is_too_long_is_refused` |
//! | smuggled identities | `only_a_trusted_proxy_names_the_caller`, `two_tokens_in_one_request_are_none` |
//! | injection by search, label, order | `searches_labels_and_orders_are_never_taken_for_sql` |
//! | a watch that leaks another tenant's change | `a_watch_tells_nothing_of_another_tenant`; more in `tenants.rs` |
//! | CEL that never ends | `a_rule_does_not_work_for_ever_whatever_is_reported`; in adapters, `crates/adapter/tests/behaviour/attacks.rs` |
//! | schemas that read files or addresses | `a_schema_reads_neither_files_nor_addresses` |
//! | templates that never end, file references that lead out, SSRF through `api_call` | `crates/adapter/tests/behaviour/attacks.rs` |
//! | callers that never read their answer | `crates/runtime/tests/slow_readers.rs` |

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use serde_json::{Value, json};

use super::issuer::{Issuer, Key, encode, now};
use crate::caller::{Answer, Caller};

struct World {
    api: Caller,
    issuer: Issuer,
}

impl World {
    async fn new(key: Key) -> World {
        let issuer = Issuer::with(key).await;
        let api = Caller::secured(json!({
            "server": {"jwt": {"configs": [issuer.config()]}},
            "authorization": {"default_role": "admin"},
        }))
        .await;
        World { api, issuer }
    }

    async fn send(&self, token: &str, method: &str, path: &str, body: impl Into<Body>) -> Answer {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        self.api.send_with(method, path, &headers, body).await
    }

    fn good(&self) -> String {
        self.issuer.token(&self.issuer.claims("ada"))
    }

    async fn refused(&self, token: &str) {
        let body = json!({"kind": "Cluster", "name": "intruder", "spec": {}}).to_string();
        let answer = self.send(token, "POST", "/clusters", body).await;
        assert_eq!(answer.status, 401, "{token}: {}", answer.body);
        assert_eq!(answer.body["code"], "HYPERFLEET-AUT-002", "{token}");
        assert!(
            !answer.body.to_string().contains(token),
            "a token is never shown"
        );
    }

    /// Nothing came of it, and the API still works.
    async fn healthy(&self) {
        let answer = self.send(&self.good(), "GET", "/clusters", "").await;
        assert_eq!((answer.status, &answer.body["total"]), (200, &json!(0)));
    }
}

#[tokio::test]
async fn another_algorithm_does_not_turn_a_public_key_into_a_secret() {
    let world = World::new(Key::rsa()).await;
    let claims = world.issuer.claims("eve");
    let unsigned = |header: Value| {
        format!(
            "{}.{}",
            encode(header.to_string()),
            encode(claims.to_string())
        )
    };
    for alg in [
        "none", "None", "NONE", "", "HS256", "HS384", "HS512", "RS1", "PS256", "ES256", "EdDSA",
    ] {
        let message = unsigned(json!({"alg": alg, "kid": "first"}));
        world.refused(&format!("{message}.")).await;
        // The classic: the public key as the secret of an HMAC.
        let modulus = world.issuer.key.jwk("first")["n"]
            .as_str()
            .unwrap()
            .to_owned();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, modulus.as_bytes());
        let tag = ring::hmac::sign(&key, message.as_bytes());
        world
            .refused(&format!("{message}.{}", encode(tag.as_ref())))
            .await;
    }
    world.healthy().await;
}

#[tokio::test]
async fn a_key_id_names_a_key_and_leads_nowhere_else() {
    let world = World::new(Key::ed()).await;
    let own = Key::ed();
    let claims = world.issuer.claims("eve");
    for kid in [
        json!("../../../../dev/null"),
        json!("/etc/passwd"),
        json!("first' OR '1'='1"),
        json!("http://evil.example.com/keys"),
        json!(""),
        json!("first\u{0}"),
        json!("x".repeat(10_000)),
        json!(["first"]),
        json!(7),
    ] {
        let header = json!({"alg": "EdDSA", "kid": kid});
        world.refused(&own.token(&header, &claims)).await;
    }
    // Keys that the token brings along or points at.
    for (name, value) in [
        ("jwk", own.jwk("first")),
        ("jku", json!("http://evil.example.com/keys")),
        ("x5u", json!("http://evil.example.com/cert")),
        ("x5c", json!(["MIIB"])),
    ] {
        let mut header = json!({"alg": "EdDSA", "kid": "first"});
        header[name] = value;
        world.refused(&own.token(&header, &claims)).await;
    }
    let header = json!({"alg": "EdDSA", "kid": "first", "crit": ["b64"], "b64": false});
    world
        .refused(&world.issuer.key.token(&header, &claims))
        .await;
    world.healthy().await;
}

#[tokio::test]
async fn a_changed_token_is_no_token() {
    let world = World::new(Key::ec()).await;
    let good = world.good();
    let parts: Vec<&str> = good.split('.').collect();
    let forged = encode(world.issuer.claims("root").to_string());
    for token in [
        format!("{}.{forged}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}", parts[0], parts[1]),
        format!("{good}.{}", parts[2]),
        format!("{good}="),
        format!("{}.{}.{}", parts[0], parts[1], encode([0; 64])),
        "..".to_owned(),
        format!("a.{}.c", "e".repeat(20_000)),
    ] {
        world.refused(&token).await;
    }
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    world
        .refused(&format!("{}.{}.{}", parts[0], encode(deep), parts[2]))
        .await;
    world.healthy().await;
}

#[tokio::test]
async fn a_verified_token_is_not_good_for_longer_than_it_says() {
    let world = World::new(Key::ed()).await;
    let mut claims = world.issuer.claims("ada");
    // Good by its leeway alone, and then not: remembered tokens expire by the clock, too.
    claims["exp"] = json!(now() - 29);
    let token = world.issuer.token(&claims);
    let expired = async || {
        let answer = world.send(&token, "GET", "/clusters", "").await;
        answer.body["code"] == "HYPERFLEET-AUT-003"
    };
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
    while !expired().await {
        assert!(
            tokio::time::Instant::now() < deadline,
            "the token never expires"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn bodies_that_are_too_large_or_too_deep_are_refused() {
    let world = World::new(Key::ed()).await;
    let good = world.good();
    let large = format!("{{\"name\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    let answer = world.send(&good, "POST", "/clusters", large).await;
    assert_eq!(answer.status, 413, "{}", answer.body);
    let deep = format!(
        "{{\"spec\": {}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let answer = world.send(&good, "POST", "/clusters", deep).await;
    assert_eq!(answer.status, 400, "{}", answer.body);
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    assert_eq!(
        world.send(&good, "POST", "/clusters", deep).await.status,
        400
    );
    // Who is not known does not get as far as the body.
    let large = "x".repeat(2 * 1024 * 1024);
    assert_eq!(world.api.send("POST", "/clusters", large).await.status, 401);
    world.healthy().await;
}

#[tokio::test]
async fn a_url_that_is_too_long_is_refused() {
    let world = World::new(Key::ed()).await;
    let path = format!("/clusters?search={}", "x".repeat(20_000));
    let answer = world.send(&world.good(), "GET", &path, "").await;
    assert_eq!(answer.status, 414, "{}", answer.body);
    world.healthy().await;
}

#[tokio::test]
async fn searches_labels_and_orders_are_never_taken_for_sql() {
    let world = World::new(Key::ed()).await;
    let good = world.good();
    for injected in [
        "name = '' OR 1=1 --",
        "name = ''; DROP TABLE resources; --'",
        "name = 'x' UNION SELECT * FROM audit_log",
        "labels.a' = 'b' OR 'x' = 'x'",
        "id in ('1') OR true",
        "spec.a') = 'b",
        "name = '\\'; DROP TABLE resources; --'",
    ] {
        let encoded: String = injected
            .bytes()
            .map(|byte| format!("%{byte:02X}"))
            .collect();
        for parameter in ["search", "order", "fields", "continue", "ref_type"] {
            let path = format!("/clusters?{parameter}={encoded}");
            let answer = world.send(&good, "GET", &path, "").await;
            assert!(
                [200, 400].contains(&answer.status),
                "{path}: {}",
                answer.body
            );
            if answer.status == 200 {
                assert_eq!(answer.body["items"], json!([]), "{path}");
            }
        }
        let labels = json!({"kind": "Cluster", "name": "x", "spec": {}, "labels": {injected: "x"}});
        let answer = world
            .send(&good, "POST", "/clusters", labels.to_string())
            .await;
        assert_eq!(answer.status, 400, "{}", answer.body);
        let labels = json!({"kind": "Cluster", "name": "x", "spec": {}, "labels": {"x": injected}});
        let answer = world
            .send(&good, "POST", "/clusters", labels.to_string())
            .await;
        assert_eq!(answer.status, 400, "{}", answer.body);
    }
    world.healthy().await;
}

/// An API behind the proxy 192.0.2.1, which names the caller in a header.
async fn behind_a_proxy() -> World {
    let issuer = Issuer::new().await;
    let mut config = issuer.config();
    config["identity_header"] = json!("X-Forwarded-User");
    let api = Caller::secured(json!({
        "server": {"jwt": {"configs": [config], "trusted_proxies": ["192.0.2.1"]}},
        "authorization": {"bindings": [
            {"role": "admin", "identities": ["root"]},
            {"role": "viewer", "identities": ["ada", "proxy"]},
        ]},
    }))
    .await;
    World { api, issuer }
}

async fn as_user(world: &World, peer: &str, who: &str, users: &[&str]) -> Answer {
    let mut request = Request::post("/api/hyperfleet/v1/clusters")
        .header("authorization", world.issuer.bearer(who));
    for user in users {
        request = request.header("x-forwarded-user", *user);
    }
    let peer: SocketAddr = format!("{peer}:4711").parse().unwrap();
    let body = json!({"kind": "Cluster", "name": "by-proxy", "spec": {}}).to_string();
    let request = request.extension(ConnectInfo(peer)).body(Body::from(body));
    world.api.send_request(request.unwrap()).await
}

#[tokio::test]
async fn only_a_trusted_proxy_names_the_caller() {
    let world = behind_a_proxy().await;
    let smuggled = as_user(&world, "198.51.100.7", "ada", &["root"]).await;
    assert_eq!(smuggled.status, 401, "{}", smuggled.body);
    let detail = smuggled.body["detail"].as_str().unwrap();
    assert!(detail.contains("trusted proxies"), "{detail}");
    let unknown = as_user(&world, "192.0.2.2", "ada", &["root"]).await;
    assert_eq!(unknown.status, 401);
    let twice = as_user(&world, "192.0.2.1", "proxy", &["ada", "root"]).await;
    assert_eq!(twice.status, 401, "{}", twice.body);
    let own = as_user(&world, "198.51.100.7", "ada", &[]).await;
    assert_eq!(own.status, 403, "the token's own name: {}", own.body);
    let empty = as_user(&world, "192.0.2.1", "ada", &["  "]).await;
    assert_eq!(
        empty.status, 403,
        "an empty header names nobody: {}",
        empty.body
    );
    let named = as_user(&world, "192.0.2.1", "proxy", &["root"]).await;
    assert_eq!(named.status, 201, "{}", named.body);
    assert_eq!(named.body["created_by"], "root");
}

#[tokio::test]
async fn two_tokens_in_one_request_are_none() {
    let world = World::new(Key::ed()).await;
    let (one, two) = (world.issuer.bearer("ada"), world.issuer.bearer("root"));
    let both = [
        ("authorization", one.as_str()),
        ("authorization", two.as_str()),
    ];
    let answer = world.api.send_with("GET", "/clusters", &both, "").await;
    assert_eq!(answer.status, 401, "{}", answer.body);
    world.healthy().await;
}

#[tokio::test]
async fn a_watch_tells_nothing_of_another_tenant() {
    let issuer = Issuer::new().await;
    let tenant = |who: &str, org: &str| json!({"role": "operator", "identities": [who], "tenant": {"org": org}});
    let api = Caller::secured(json!({
        "server": {
            "jwt": {"configs": [issuer.config()]},
            "tenant": {"enabled": true, "dimensions": [{"header": "X-Org", "key": "org", "required": true}]},
        },
        "authorization": {"bindings": [tenant("ada", "acme"), tenant("eve", "evil")]},
    }))
    .await;
    let eve = issuer.bearer("eve");
    let theirs = [("authorization", eve.as_str()), ("x-org", "acme")];
    let path = "/clusters?watch=true";
    let refused = api.send_with("GET", path, &theirs, "").await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let own = [("authorization", eve.as_str()), ("x-org", "evil")];
    let mut watch = api.watch_with(path, &own).await;
    let ada = issuer.bearer("ada");
    let create = async |bearer: &str, org: &str, name: &str| {
        let headers = [("authorization", bearer), ("x-org", org)];
        let body = json!({"kind": "Cluster", "name": name, "spec": {}}).to_string();
        let made = api.send_with("POST", "/clusters", &headers, body).await;
        assert_eq!(made.status, 201, "{}", made.body);
    };
    create(&ada, "acme", "hidden").await;
    create(&eve, "evil", "visible").await;
    assert_eq!(watch.change().await.data["name"], "visible");
}

#[tokio::test]
async fn a_rule_does_not_work_for_ever_whatever_is_reported() {
    let rules = "
requiredAdapters: [dns]
clusterConditions:
  - type: Cubed
    evaluate:
      cel: 'statuses.all(s, s.data.items.all(a, s.data.items.all(b, s.data.items.all(c, a + b + c >= 0))))'
";
    let api = Caller::ruled(hyperfleet_core::kind::Kind::defaults(), rules).await;
    let cluster = api.cluster("cubed").await;
    let href = cluster["href"].as_str().unwrap();
    let report = async |items: Vec<u32>| {
        let mut report = crate::caller::done("dns");
        report["data"] = json!({ "items": items });
        let answer = api.put(&format!("{href}/statuses"), report).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        let resource = api.get(href).await.body;
        let conditions = resource["status"]["conditions"].as_array().unwrap();
        let found = conditions.iter().find(|one| one["type"] == "Cubed");
        found.unwrap()["status"].clone()
    };
    let endless = report((0..3000).collect()).await;
    assert_ne!(endless, "True", "what cannot be computed does not hold");
    assert_eq!(report(vec![1, 2]).await, "True", "and the next one does");
}

#[test]
fn a_schema_reads_neither_files_nor_addresses() {
    for target in [
        "file:///etc/passwd",
        "/etc/passwd",
        "../../secrets.json",
        "http://169.254.169.254/latest/meta-data/",
        "https://evil.example.com/schema.json",
    ] {
        let mut kind = hyperfleet_core::kind::Kind::new("Thing", "things");
        let schema = json!({"type": "object", "properties": {"a": {"$ref": target}}});
        kind.spec_schema = Some(schema.as_object().unwrap().clone().into());
        let refused = hyperfleet_api::Entities::new(vec![kind]).unwrap_err();
        assert!(refused.to_string().contains(target), "{refused}");
    }
}
