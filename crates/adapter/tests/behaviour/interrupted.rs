//! A process may die between any two side effects. The event comes again, and the end is the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chrono::Utc;
use hyperfleet_transport::{
    Delete, Deletion, Mode, ObjectKind, ObjectRef, Scope, Selector, Transport, TransportError,
};
use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use crate::world::{World, cluster, condition, event, handle};

/// Lets a number of calls through and holds the next one for ever: before it is sent, or after it
/// was carried out.
struct Dying {
    inner: Arc<dyn Transport>,
    left: AtomicUsize,
    after: bool,
    died: Arc<Notify>,
}

impl Dying {
    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, TransportError>>,
    ) -> Result<T, TransportError> {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            if self.after {
                let _ = call.await;
            }
            self.died.notify_one();
            return std::future::pending().await;
        }
        self.left.store(left - 1, Ordering::SeqCst);
        call.await
    }
}

#[async_trait]
impl Transport for Dying {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.call(self.inner.scope(kind)).await
    }
    async fn get(&self, object: &ObjectRef) -> Result<Option<Json>, TransportError> {
        self.call(self.inner.get(object)).await
    }
    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Json>, TransportError> {
        self.call(self.inner.list(kind, namespace, selector)).await
    }
    async fn apply(&self, manifest: &Json, mode: Mode) -> Result<Json, TransportError> {
        self.call(self.inner.apply(manifest, mode)).await
    }
    async fn create(&self, manifest: &Json) -> Result<Json, TransportError> {
        self.call(self.inner.create(manifest)).await
    }
    async fn patch(&self, object: &ObjectRef, patch: &Json) -> Result<Json, TransportError> {
        self.call(self.inner.patch(object, patch)).await
    }
    async fn delete(&self, object: &ObjectRef, how: &Delete) -> Result<Deletion, TransportError> {
        self.call(self.inner.delete(object, how)).await
    }
}

const TASK: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
  - name: isDeleting
    source: {expression: cluster.?deleted_time.orValue(null) != null}
resources:
  - name: first
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "first-{{ .clusterId }}", namespace: default}
      data: {generation: "{{ .cluster.generation }}"}
    lifecycle:
      delete: {when: {expression: isDeleting && !resources.?second.hasValue()}}
  - name: second
    recreate_on_change: true
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "second-{{ .clusterId }}", namespace: default}
      data: {generation: "{{ .cluster.generation }}"}
    lifecycle:
      delete: {when: {expression: isDeleting}}
"#;

/// Runs the event, dies at call `at`, and runs it again to the end. Whether it died at all.
async fn dies_and_recovers(
    world: &World,
    id: &str,
    generation: i64,
    at: usize,
    after: bool,
) -> bool {
    let died = Arc::new(Notify::new());
    let dying = Dying {
        inner: Arc::clone(&world.transport),
        left: AtomicUsize::new(at),
        after,
        died: Arc::clone(&died),
    };
    let engine = world.engine_on(TASK, Arc::new(dying));
    let event = event(id, generation);
    let has_died = tokio::select! {
        _ = engine.handle(&event, Utc::now()) => false,
        () = died.notified() => true,
    };
    let run = handle(&world.engine(TASK), &event).await;
    assert_eq!(run.fault, None);
    has_died
}

async fn generations(world: &World, id: &str) -> Vec<Option<Json>> {
    let mut found = Vec::new();
    for name in ["first", "second"] {
        let object = world
            .object("ConfigMap", "default", &format!("{name}-{id}"))
            .await;
        found.push(object.map(|object| object["data"]["generation"].clone()));
    }
    found
}

#[tokio::test]
async fn an_event_cut_short_anywhere_and_delivered_again_ends_in_the_same_state() {
    let world = World::start().await;
    let mut deaths = 0;
    for after in [false, true] {
        for at in 0..12 {
            let id = format!("c{at}{after}");
            for generation in [1, 2] {
                world.api.set(&id, cluster(&id, generation));
                deaths += u32::from(dies_and_recovers(&world, &id, generation, at, after).await);
                let wanted = Some(json!(generation.to_string()));
                assert_eq!(generations(&world, &id).await, [wanted.clone(), wanted]);
                assert_eq!(condition(&world.api.last_report(), "Available").0, "True");
            }
            let mut deleted = cluster(&id, 3);
            deleted["deleted_time"] = json!("2026-01-31T12:00:00Z");
            world.api.set(&id, deleted);
            dies_and_recovers(&world, &id, 3, at, after).await;
            handle(&world.engine(TASK), &event(&id, 3)).await;
            assert_eq!(generations(&world, &id).await, [None, None]);
            assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
        }
    }
    assert!(deaths > 15, "only {deaths} runs were cut short");
}
