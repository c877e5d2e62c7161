//! What goes wrong on the way deletes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use hyperfleet_core::ownership::{ADAPTER, RESOURCE_ID};
use hyperfleet_sweeper::Sweeper;
use hyperfleet_transport::{
    Delete, Deletion, Failure, Kinds, KubernetesTransport, Mode, ObjectKind, ObjectRef, Operation,
    Page, Scope, Selector, Survey, Target, Transport, TransportError,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::api::Server;
use crate::promises;
use crate::promises::uuid;
use crate::world::World;

promises![
    an_api_that_is_not_there_deletes_nothing,
    an_api_from_an_old_backup_deletes_nothing,
    a_404_from_something_on_the_way_deletes_nothing,
    a_half_finished_pass_deletes_what_is_proven_only,
    an_object_that_changes_before_its_turn_stays,
    an_object_that_is_replaced_before_its_turn_stays,
    a_pass_that_is_stopped_leaves_the_rest_to_the_next,
];

async fn an_api_that_is_not_there_deletes_nothing(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = world.options();
    options.trust_absence = true;
    options.clients.hyperfleet_api.base_url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let swept = world.sweep_with(options).await;
    assert_eq!(swept.of("ours"), ("keep", "unanswered"));
    assert!(!swept.report.complete);
    assert!(world.exists("ours").await);
}

async fn an_api_from_an_old_backup_deletes_nothing(world: World) {
    let (removed, living) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
    );
    world.make("of-removed", &removed).await;
    world.make("of-living", &living).await;
    // It answers every question, and knows neither of them.
    let restored = Server::start().await;
    let mut options = world.options();
    options
        .clients
        .hyperfleet_api
        .base_url
        .clone_from(&restored.url);
    let swept = world.sweep_with(options.clone()).await;
    assert_eq!(swept.of("of-removed"), ("keep", "unproven"));
    assert_eq!(swept.of("of-living"), ("keep", "unproven"));
    options.trust_absence = true;
    let trusting = world.sweep_with(options).await;
    assert_eq!(trusting.of("of-living"), ("keep", "breaker"));
    assert!(world.exists("of-removed").await && world.exists("of-living").await);
    restored.stop().await;
}

async fn a_404_from_something_on_the_way_deletes_nothing(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut options = world.options();
    options.trust_absence = true;
    options.clients.hyperfleet_api.base_url = format!("http://{}", listener.local_addr().unwrap());
    let proxy = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let answer =
                "HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\nconnection: close\r\n\r\nnot found";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    let swept = world.sweep_with(options).await;
    proxy.abort();
    assert_eq!(swept.of("ours"), ("keep", "unanswered"));
    assert!(!swept.report.complete);
    assert!(world.exists("ours").await);
}

async fn a_half_finished_pass_deletes_what_is_proven_only(world: World) {
    let (removed, living) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
    );
    let home = world.sign(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": world.namespace, "labels": {ADAPTER: "dns", RESOURCE_ID: removed}}}),
    );
    world.apply(&home).await;
    world.make("of-removed", &removed).await;
    world.make("of-absent", &uuid("2")).await;
    let secret = world.sign(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {
        "name": "unseen", "namespace": world.namespace,
        "labels": {ADAPTER: "dns", RESOURCE_ID: living}}}));
    world.apply(&secret).await;
    let cluster = Arc::new(Faulty::on(&world, |faulty| {
        faulty.unlistable = Some("Secret")
    }));
    let mut options = world.options();
    options.trust_absence = true;
    let swept = world.sweep_on(cluster, options).await;
    assert_eq!(swept.of("of-removed"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("of-absent"), ("keep", "incomplete"));
    // What lives in it was not seen.
    assert_eq!(swept.of(&world.namespace), ("keep", "incomplete"));
    assert!(!swept.report.complete);
    assert!(world.exists("of-absent").await);
}

async fn an_object_that_changes_before_its_turn_stays(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let cluster = Arc::new(Faulty::on(&world, |faulty| faulty.touched = true));
    let swept = world.sweep_on(cluster, world.options()).await;
    assert_eq!(swept.of("ours"), ("keep", "changed"));
    assert!(world.exists("ours").await);
    assert_eq!(world.sweep().await.of("ours").0, "deleted");
}

async fn an_object_that_is_replaced_before_its_turn_stays(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let cluster = Faulty::on(&world, |faulty| {
        faulty.replaced = Some(world.labelled("ours", "theirs"));
    });
    let swept = world.sweep_on(Arc::new(cluster), world.options()).await;
    assert_eq!(swept.of("ours"), ("keep", "changed"));
    assert!(world.exists("ours").await);
}

async fn a_pass_that_is_stopped_leaves_the_rest_to_the_next(world: World) {
    let removed = world.api.removed("removed").await;
    for index in 0..3 {
        world.make(&format!("gone-{index}"), &removed).await;
    }
    let cluster = Arc::clone(&world.cluster);
    let sweeper = Sweeper::new(world.options(), cluster, None).unwrap();
    let stop = CancellationToken::new();
    let mut deleted = 0;
    let report = sweeper
        .pass(&stop, &mut |row| {
            deleted += usize::from(row.verdict == "deleted");
            if deleted == 1 {
                stop.cancel();
            }
        })
        .await;
    assert_eq!((report.swept, report.kept["stopped"]), (1, 2));
    assert!(!report.complete);
    let next = world.sweep().await;
    assert_eq!(next.report.swept, 2);
}

/// A cluster that fails in one way.
struct Faulty {
    cluster: Arc<KubernetesTransport>,
    /// Lists of this kind break off.
    unlistable: Option<&'static str>,
    /// Somebody changes an object after it was read again.
    touched: bool,
    /// Somebody replaces an object after it was judged.
    replaced: Option<Value>,
    done: AtomicBool,
}

impl Faulty {
    fn on(world: &World, change: impl FnOnce(&mut Faulty)) -> Faulty {
        let mut faulty = Faulty {
            cluster: Arc::clone(&world.cluster),
            unlistable: None,
            touched: false,
            replaced: None,
            done: AtomicBool::new(false),
        };
        change(&mut faulty);
        faulty
    }

    fn first(&self) -> bool {
        !self.done.swap(true, Ordering::SeqCst)
    }
}

#[async_trait]
impl Survey for Faulty {
    async fn kinds(&self) -> Result<Kinds, TransportError> {
        self.cluster.kinds().await
    }

    async fn page(
        &self,
        kind: &ObjectKind,
        label: &str,
        from: Option<&str>,
    ) -> Result<Page, TransportError> {
        if self.unlistable == Some(kind.kind.as_str()) {
            return Err(TransportError {
                target: Target::Kubernetes,
                operation: Operation::List,
                object: kind.to_string(),
                failure: Failure::Unavailable {
                    message: "a test says so".to_owned(),
                },
            });
        }
        self.cluster.page(kind, label, from).await
    }
}

#[async_trait]
impl Transport for Faulty {
    async fn scope(&self, kind: &ObjectKind) -> Result<Scope, TransportError> {
        self.cluster.scope(kind).await
    }

    async fn get(&self, object: &ObjectRef) -> Result<Option<Value>, TransportError> {
        if let Some(other) = &self.replaced
            && self.first()
        {
            self.cluster.delete(object, &Delete::default()).await?;
            self.cluster.create(other).await?;
        }
        self.cluster.get(object).await
    }

    async fn list(
        &self,
        kind: &ObjectKind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Result<Vec<Value>, TransportError> {
        self.cluster.list(kind, namespace, selector).await
    }

    async fn apply(&self, manifest: &Value, mode: Mode) -> Result<Value, TransportError> {
        self.cluster.apply(manifest, mode).await
    }

    async fn create(&self, manifest: &Value) -> Result<Value, TransportError> {
        self.cluster.create(manifest).await
    }

    async fn patch(&self, object: &ObjectRef, patch: &Value) -> Result<Value, TransportError> {
        self.cluster.patch(object, patch).await
    }

    async fn delete(
        &self,
        object: &ObjectRef,
        options: &Delete,
    ) -> Result<Deletion, TransportError> {
        if self.touched && self.first() {
            let change = json!({"data": {"somebody": "was here"}});
            self.cluster.patch(object, &change).await?;
        }
        self.cluster.delete(object, options).await
    }
}
