//! Where an API may listen.

use hyperfleet_api::{Api, ApiConfig, Entities, SecurityError, StartError};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_store::testing::TestDatabase;
use serde_json::{Value, json};

async fn bind(server: Value) -> Result<Api, StartError> {
    let mut config = json!({ "server": server, "authorization": {"default_role": "viewer"} });
    config["server"]["port"] = json!(0);
    let config: ApiConfig = serde_json::from_value(config).unwrap();
    let registry = MetricsRegistry::new(Build {
        version: "test".into(),
        commit: String::new(),
    });
    let metrics = registry.unwrap().component("api", "api").unwrap();
    let store = TestDatabase::new().await.store;
    let entities = Entities::new(Kind::defaults()).unwrap();
    Api::bind(&config, entities, store, "test", &metrics, &Health::new()).await
}

#[tokio::test]
async fn an_api_that_asks_nobody_who_they_are_listens_where_nobody_else_gets() {
    for host in ["localhost", "127.0.0.1"] {
        assert!(bind(json!({ "host": host })).await.is_ok(), "{host}");
    }
    for host in ["", "0.0.0.0"] {
        let refused = bind(json!({ "host": host })).await.unwrap_err();
        let open = matches!(refused, StartError::Security(SecurityError::Open(_)));
        assert!(open, "{host}: {refused}");
        let said = refused.to_string();
        assert!(said.contains("server.allow_unauthenticated"), "{said}");
    }
}

#[tokio::test]
async fn an_api_that_asks_or_was_told_not_to_listens_anywhere() {
    let told = json!({"host": "0.0.0.0", "allow_unauthenticated": true});
    assert!(bind(told).await.is_ok());
    let asks = json!({"host": "0.0.0.0", "jwt": {"configs": [{"issuer_url": "https://i"}]}});
    assert!(bind(asks).await.is_ok());
    let not_on = json!({"host": "0.0.0.0", "jwt": {"enabled": false, "configs": [{"issuer_url": "https://i"}]}});
    assert!(bind(not_on).await.is_err());
}
