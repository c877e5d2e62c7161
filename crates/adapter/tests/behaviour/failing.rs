//! Every failure becomes conditions that say what failed, and the message is settled accordingly.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use hyperfleet_adapter::{Outcome, Status};
use hyperfleet_transport::{
    Delete, Deletion, Failure, Mode, ObjectKind, ObjectRef, Operation, Scope, Selector, Target,
    Transport, TransportError,
};
use serde_json::{Value as Json, json};

use crate::world::{CONFIG_MAP, World, cluster, condition, event, handle, message};

/// Reads work; whatever is applied is refused.
struct Refusing {
    inner: Arc<dyn Transport>,
    failure: Failure,
}

#[async_trait]
impl Transport for Refusing {
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
    async fn apply(&self, _: &Json, _: Mode) -> Result<Json, TransportError> {
        Err(TransportError {
            target: Target::Kubernetes,
            operation: Operation::Apply,
            object: "ConfigMap default/settings-c1".to_owned(),
            failure: self.failure.clone(),
        })
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

async fn refused(failure: Failure) -> (World, Outcome) {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let transport = Arc::new(Refusing {
        inner: Arc::clone(&world.transport),
        failure,
    });
    let engine = world.engine_on(CONFIG_MAP, transport);
    let outcome = handle(&engine, &event("c1", 1)).await.outcome;
    (world, outcome)
}

#[tokio::test]
async fn what_kubernetes_forbids_is_reported_and_not_tried_again() {
    let message_of = "configmaps is forbidden: User \"adapter\" cannot patch resource".to_owned();
    let (world, outcome) = refused(Failure::Forbidden {
        message: message_of,
    })
    .await;
    assert_eq!(outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    for kind in ["Applied", "Available", "Health"] {
        assert_eq!(
            condition(&report, kind),
            ("False".into(), "Forbidden".into())
        );
    }
    assert!(message(&report, "Health").contains("cannot patch resource"));
}

#[tokio::test]
async fn a_busy_kubernetes_is_reported_and_tried_again_when_it_asked() {
    let after = std::time::Duration::from_secs(7);
    let (world, outcome) = refused(Failure::TooManyRequests {
        retry_after: Some(after),
        message: "slow down".to_owned(),
    })
    .await;
    assert!(matches!(outcome, Outcome::Retry { after: Some(wait), .. } if wait == after));
    assert_eq!(
        condition(&world.api.last_report(), "Health").1,
        "TooManyRequests"
    );
}

#[tokio::test]
async fn a_name_kubernetes_refuses_is_reported_in_its_words() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = CONFIG_MAP.replace("settings-{{", "Settings_{{");
    let run = handle(&world.engine(&task), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Available"),
        ("False".into(), "Invalid".into())
    );
    let said = message(&report, "Available");
    assert!(said.contains("Settings_c1"), "{said}");
}

#[tokio::test]
async fn a_template_without_its_value_blocks_the_object_and_is_reported() {
    let world = World::start().await;
    let mut poor = cluster("c1", 1);
    poor["spec"] = json!({});
    world.api.set("c1", poor);
    let run = handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    assert_eq!(
        world.object("ConfigMap", "default", "settings-c1").await,
        None
    );
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Health"),
        ("False".into(), "TemplateError".into())
    );
    assert!(message(&report, "Health").contains("region"));
}

#[tokio::test]
async fn an_api_that_is_down_changes_nothing_and_brings_the_event_back() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    world.api.down.store(true, Ordering::SeqCst);
    let run = handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    assert!(
        matches!(run.outcome, Outcome::Retry { .. }),
        "{:?}",
        run.outcome
    );
    assert!(run.operations.is_empty());
    assert_eq!(
        world.object("ConfigMap", "default", "settings-c1").await,
        None
    );
}

#[tokio::test]
async fn a_resource_that_is_gone_is_no_failure() {
    let world = World::start().await;
    let run = handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Skipped));
    assert!(world.api.reports.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_kind_the_cluster_does_not_have_is_named() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = CONFIG_MAP
        .replace("apiVersion: v1", "apiVersion: example.org/v1")
        .replace("kind: ConfigMap", "kind: Widget");
    let run = handle(&world.engine(&task), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Available").1, "UnknownKind");
    assert!(message(&report, "Available").contains("Widget"));
}

#[tokio::test]
async fn a_kubernetes_that_is_down_brings_the_event_back_and_is_reported() {
    let mut world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let engine = world.engine(CONFIG_MAP);
    handle(&engine, &event("c1", 1)).await;
    let stopped = world.kubernetes.take().unwrap();
    stopped.shutdown().await;
    let run = handle(&engine, &event("c1", 1)).await;
    assert!(
        matches!(run.outcome, Outcome::Retry { .. }),
        "{:?}",
        run.outcome
    );
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Health"),
        ("False".into(), "KubernetesUnavailable".into())
    );
}

#[tokio::test]
async fn an_event_that_names_nothing_is_malformed() {
    let world = World::start().await;
    let mut nothing = event("c1", 1);
    nothing.data = json!({"hello": "world"});
    let run = handle(&world.engine(CONFIG_MAP), &nothing).await;
    assert!(matches!(run.outcome, Outcome::Malformed(_)));
}
