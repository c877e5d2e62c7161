//! What it costs to know who asks: a request that touches no table, without authentication, with a token that is
//! remembered, and with one that is seen for the first time.
//!
//! `cargo bench -p hyperfleet-api --bench authentication`

#![expect(clippy::unwrap_used, reason = "a bench stops where it cannot go on")]

use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use hyperfleet_api::{
    ApiConfig, ApiState, Entities, FeedMetrics, HttpMetrics, Hub, Security, TimeoutsConfig, router,
};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_store::testing::TestDatabase;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use tower::ServiceExt;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

struct Issuer(Ed25519KeyPair);

impl Issuer {
    fn keys(&self) -> Value {
        let x = encode(self.0.public_key());
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": x}]})
    }

    /// As long as tokens usually are.
    fn bearer(&self, number: u64) -> String {
        let header = json!({"alg": "EdDSA", "kid": "k", "typ": "JWT"}).to_string();
        let expires = chrono::Utc::now().timestamp() + 3600;
        let claims = json!({
            "iss": "https://issuer.example.com", "aud": "hyperfleet", "email": "ada@example.com", "exp": expires,
            "jti": number, "groups": ["fleet-admins", "engineering", "everybody"], "name": "Ada", "scope": "x".repeat(400),
        });
        let message = format!("{}.{}", encode(header), encode(claims.to_string()));
        let signature = encode(self.0.sign(message.as_bytes()));
        format!("Bearer {message}.{signature}")
    }
}

async fn api(config: Value) -> axum::Router {
    let config: ApiConfig = serde_json::from_value(config).unwrap();
    let entities = Entities::new(Kind::defaults()).unwrap();
    let security = Security::new(&config, &entities.kinds, Path::new("")).unwrap();
    let registry = MetricsRegistry::new(Build {
        version: "bench".into(),
        commit: String::new(),
    });
    let component = registry.unwrap().component("api", "api").unwrap();
    let store = TestDatabase::new().await.store;
    let feed = FeedMetrics::register(&component).unwrap();
    let state = ApiState {
        hub: Arc::new(Hub::new(store.clone(), feed, Hub::RING)),
        store,
        kinds: entities.kinds,
        schemas: entities.schemas,
        rules: entities.rules,
        timeouts: (&TimeoutsConfig::default()).into(),
        security: Arc::new(security),
        statuses_format: Default::default(),
        version: "bench",
    };
    router(state, HttpMetrics::register(&component).unwrap())
}

fn request(bearer: &str) -> Request<Body> {
    Request::get("/api/hyperfleet/v1/can-i?verb=get&kind=Cluster")
        .header("authorization", bearer)
        .body(Body::empty())
        .unwrap()
}

fn authentication(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let issuer = Issuer(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), issuer.keys().to_string()).unwrap();
    let guarded = json!({
        "server": {"jwt": {"configs": [{
            "issuer_url": "https://issuer.example.com", "jwk_cert_file": file.path(), "audience": "hyperfleet",
        }]}},
        "authorization": {"bindings": [{"role": "admin", "groups": ["fleet-admins"]}]},
    });
    let open = runtime.block_on(api(json!({})));
    let guarded = runtime.block_on(api(guarded));
    let known = issuer.bearer(0);
    let send = |router: &axum::Router, bearer: &str| {
        let answer = router.clone().oneshot(request(bearer));
        let answer = runtime.block_on(answer).unwrap();
        assert_eq!(answer.status(), 200);
    };
    let mut group = c.benchmark_group("authentication");
    group.bench_function("off", |b| b.iter(|| send(&open, &known)));
    group.bench_function("a remembered token", |b| b.iter(|| send(&guarded, &known)));
    let mut number = 0;
    group.bench_function("a new token", |b| {
        b.iter_batched(
            || {
                number += 1;
                issuer.bearer(number)
            },
            |bearer| send(&guarded, &bearer),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, authentication);
criterion_main!(benches);
