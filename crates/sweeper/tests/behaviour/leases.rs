//! One of several sweeps.

use std::sync::Arc;
use std::time::Duration;

use hyperfleet_sweeper::{Handle, Sweeper};
use hyperfleet_transport::{ObjectKind, ObjectRef, Transport};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::promises;
use crate::world::World;

promises![
    one_sweeps_and_the_next_takes_over_when_it_stops,
    a_lease_that_is_taken_away_ends_the_work_at_once,
];

struct Running {
    handle: Handle,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

fn serve(world: &World) -> Running {
    let cluster = Arc::clone(&world.cluster);
    let sweeper = Sweeper::new(world.options(), cluster, None).unwrap();
    let handle = sweeper.handle();
    let stop = CancellationToken::new();
    let task = tokio::spawn(sweeper.serve(stop.clone()));
    Running { handle, stop, task }
}

fn lease(world: &World) -> ObjectRef {
    let kind = ObjectKind::new("coordination.k8s.io/v1", "Lease");
    kind.named(Some(&world.namespace), "hyperfleet-sweeper")
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("waited in vain: {what}");
}

async fn one_sweeps_and_the_next_takes_over_when_it_stops(world: World) {
    let removed = world.api.removed("removed").await;
    let mut first = serve(&world);
    assert!(first.handle.passed(|_| true).await.is_some());
    let mut second = serve(&world);
    world.make("gone", &removed).await;
    assert!(
        first
            .handle
            .passed(|report| report.swept == 1)
            .await
            .is_some()
    );
    assert!(first.handle.leads() && !second.handle.leads());
    assert_eq!(second.handle.last(), None);
    first.stop.cancel();
    first.task.await.unwrap();
    assert!(!first.handle.leads());
    assert!(second.handle.passed(|_| true).await.is_some());
    assert!(second.handle.leads());
    second.stop.cancel();
    second.task.await.unwrap();
    let left = world.cluster.get(&lease(&world)).await.unwrap().unwrap();
    assert_eq!(left["spec"]["holderIdentity"].as_str().unwrap_or(""), "");
}

async fn a_lease_that_is_taken_away_ends_the_work_at_once(world: World) {
    let mut only = serve(&world);
    assert!(only.handle.passed(|_| true).await.is_some());
    let thief = json!({"spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 600}});
    world.cluster.patch(&lease(&world), &thief).await.unwrap();
    until("it gives up", || !only.handle.leads()).await;
    let removed = world.api.removed("removed").await;
    world.make("gone", &removed).await;
    let health = hyperfleet_runtime::health::Health::new();
    only.handle.register_checks(&health);
    let note = health.readiness().await.notes["sweeper"].clone();
    assert!(note.starts_with("somebody sweeps"), "{note}");
    only.stop.cancel();
    only.task.await.unwrap();
    assert!(world.exists("gone").await);
    let left = world.cluster.get(&lease(&world)).await.unwrap().unwrap();
    assert_eq!(
        left["spec"]["holderIdentity"], "somebody",
        "not ours to give back"
    );
}
