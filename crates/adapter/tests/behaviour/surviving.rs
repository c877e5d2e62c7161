//! Whatever one event meets, its conditions say so, and the worker goes on with the next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyperfleet_adapter::Engine;
use hyperfleet_adapter::serve::{ServeOptions, serve};
use hyperfleet_broker::{Broker, BrokerConfig, Metrics, SubscribeOptions};
use hyperfleet_transport::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError,
};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::world::{CONFIG_MAP, World, cluster, condition, event, message};

/// Refuses to apply what bears one of these names, each in its own way.
struct Moody {
    inner: Arc<dyn Transport>,
    moods: BTreeMap<&'static str, Failure>,
}

#[async_trait]
impl Transport for Moody {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.inner.scope(kind).await
    }
    async fn get(&self, object: &ObjectRef) -> Result<Option<Json>, TransportError> {
        self.inner.get(object).await
    }
    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Json>, TransportError> {
        self.inner.list(kind, namespace, selector).await
    }
    async fn apply(&self, manifest: &Json, mode: Mode) -> Result<Json, TransportError> {
        let name = manifest["metadata"]["name"].as_str().unwrap();
        let mood = self.moods.iter().find(|(word, _)| name.ends_with(*word));
        match mood {
            None => self.inner.apply(manifest, mode).await,
            Some((_, failure)) => Err(TransportError {
                target: Target::Kubernetes,
                operation: Operation::Apply,
                object: format!("ConfigMap default/{name}"),
                failure: failure.clone(),
            }),
        }
    }
    async fn create(&self, manifest: &Json) -> Result<Json, TransportError> {
        self.inner.create(manifest).await
    }
    async fn patch(&self, object: &ObjectRef, patch: &Json) -> Result<Json, TransportError> {
        self.inner.patch(object, patch).await
    }
    async fn delete(&self, object: &ObjectRef, how: &Delete) -> Result<Deletion, TransportError> {
        self.inner.delete(object, how).await
    }
}

/// Sends an event about `id` and one about `good`, one after the other to a single worker, and waits for both reports.
async fn report_on(world: &World, engine: Engine, id: &str) -> Json {
    let metrics = Metrics::new(Default::default()).unwrap();
    let broker = Broker::connect(&BrokerConfig::default(), metrics)
        .await
        .unwrap();
    let mut subscriber = broker
        .subscribe("t", "s", SubscribeOptions::default())
        .await
        .unwrap();
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let options = ServeOptions {
        max_concurrency: 1,
        ..ServeOptions::default()
    };
    let worker = tokio::spawn(async move {
        serve(Arc::new(engine), subscriber.as_mut(), options, stopped).await;
    });
    world.api.set("good", cluster("good", 1));
    world.api.reports.lock().unwrap().clear();
    for id in [id, "good"] {
        let publisher = broker.publisher();
        publisher.publish("t", &event(id, 1)).await.unwrap();
    }
    let reports = tokio::time::timeout(Duration::from_secs(60), async {
        loop {
            let reports = world.api.reports.lock().unwrap().clone();
            if reports.len() >= 2 {
                return reports;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let reports = reports.await.expect("the worker did not survive");
    stop.cancel();
    worker.await.unwrap();
    let (failed, good) = (&reports[0], &reports[1]);
    assert_eq!(condition(good, "Available").0, "True", "{good}");
    for kind in ["Applied", "Available", "Health"] {
        assert_eq!(condition(failed, kind).0, "False", "{failed}");
    }
    failed.clone()
}

#[tokio::test]
async fn what_kubernetes_refuses_is_told_by_its_reason_and_the_next_event_is_handled() {
    let words = || "the server's words".to_owned();
    let moods = BTreeMap::from([
        ("forbidden", Failure::Forbidden { message: words() }),
        ("quota", Failure::QuotaExceeded { message: words() }),
        ("unavailable", Failure::Unavailable { message: words() }),
        (
            "admission",
            Failure::WebhookDenied {
                webhook: "policy.example.org".to_owned(),
                message: words(),
            },
        ),
        (
            "kind",
            Failure::UnknownKind {
                api_version: "example.org/v1".to_owned(),
                kind: "the server's words".to_owned(),
            },
        ),
    ]);
    let reasons = [
        ("forbidden", "Forbidden"),
        ("quota", "QuotaExceeded"),
        ("unavailable", "KubernetesUnavailable"),
        ("admission", "AdmissionDenied"),
        ("kind", "UnknownKind"),
    ];
    let world = World::start().await;
    for (id, reason) in reasons {
        world.api.set(id, cluster(id, 1));
        let moody = Moody {
            inner: Arc::clone(&world.transport),
            moods: moods.clone(),
        };
        let engine = world.engine_on(CONFIG_MAP, Arc::new(moody));
        let report = report_on(&world, engine, id).await;
        assert_eq!(condition(&report, "Health").1, reason);
        let said = message(&report, "Health");
        assert!(said.contains("the server's words"), "{said}");
    }
}

#[tokio::test]
async fn an_answer_of_fifty_megabytes_is_not_read_and_the_next_event_is_handled() {
    let world = World::start().await;
    let mut huge = cluster("huge", 1);
    huge["spec"]["notes"] = json!("x".repeat(50 * 1024 * 1024));
    world.api.set("huge", huge);
    let report = report_on(&world, world.engine(CONFIG_MAP), "huge").await;
    assert_eq!(condition(&report, "Health").1, "ApiCallFailed");
    let said = message(&report, "Health");
    assert!(said.contains("more than the 16777216 bytes"), "{said}");
}

#[tokio::test]
async fn an_api_that_does_not_answer_in_time_is_told_and_the_next_event_is_handled() {
    let world = World::start().await;
    world.api.set("slow", cluster("slow", 1));
    world.api.never_answer("slow");
    let task = CONFIG_MAP.replace("method: GET", "method: GET\n        timeout: 200ms");
    let report = report_on(&world, world.engine(&task), "slow").await;
    assert_eq!(condition(&report, "Health").1, "ApiUnavailable");
}

#[tokio::test]
async fn an_expression_that_fails_is_told_and_the_next_event_is_handled() {
    let world = World::start().await;
    let mut odd = cluster("odd", 1);
    odd["spec"]["region"] = json!(7);
    world.api.set("odd", odd);
    let task = CONFIG_MAP.replace(
        "  - name: isDeleting\n",
        "  - name: letters\n    source: {expression: cluster.spec.region.size()}\n    required: true\n  - name: isDeleting\n",
    );
    let report = report_on(&world, world.engine(&task), "odd").await;
    let said = message(&report, "Health");
    assert!(said.contains("letters"), "{said}");
}
