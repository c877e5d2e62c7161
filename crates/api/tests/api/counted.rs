//! What is counted when somebody looks.

use hyperfleet_api::{Api, ApiConfig, Entities};
use hyperfleet_core::kind::Kind;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use serde_json::json;

use crate::caller::{Caller, done};

#[tokio::test]
async fn a_scrape_shows_what_is_in_which_phase_and_what_is_not_reconciled() {
    let api = Caller::new().await;
    for name in ["new", "begun", "done"] {
        let cluster = api.cluster(name).await;
        let statuses = format!("{}/statuses", cluster["href"].as_str().unwrap());
        let adapters: &[&str] = match name {
            "new" => &[],
            "begun" => &["dns"],
            _ => &["dns", "validation"],
        };
        for adapter in adapters {
            assert_eq!(api.put(&statuses, done(adapter)).await.status, 201);
        }
    }
    let build = Build {
        version: "test".into(),
        commit: String::new(),
    };
    let registry = MetricsRegistry::new(build).unwrap();
    let metrics = registry.component("api", "api").unwrap();
    let config: ApiConfig = serde_json::from_value(json!({"server": {"port": 0}})).unwrap();
    let entities = Entities::new(Kind::defaults()).unwrap();
    let (store, health) = (api.store.clone(), Health::new());
    let _bound = Api::bind(&config, entities, store, "test", &metrics, &health).await;
    let text = registry.scrape().await.unwrap();
    for (series, count) in [
        ("clusters_total{component=\"api\",phase=\"Pending\"", 1),
        ("clusters_total{component=\"api\",phase=\"Provisioning\"", 1),
        ("clusters_total{component=\"api\",phase=\"Ready\"", 1),
        (
            "resources{component=\"api\",phase=\"Ready\",resource_type=\"cluster\"",
            1,
        ),
        (
            "resource_pending_reconciliation{component=\"api\",is_delete=\"false\",resource_type=\"cluster\"",
            2,
        ),
    ] {
        let series = format!("hyperfleet_api_{series}");
        let line = text.lines().find(|line| line.starts_with(&series));
        let value = line.and_then(|line| line.rsplit(' ').next());
        assert_eq!(
            value,
            Some(count.to_string().as_str()),
            "{series} in\n{text}"
        );
    }
}
