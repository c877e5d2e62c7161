//! Works at Maestro go by the same rules.

use std::sync::Arc;

use hyperfleet_core::ownership::{ADAPTER, RESOURCE_ID};
use hyperfleet_transport::{Alongside, MaestroConfig, MaestroTransport, Mode, Survey, Transport};
use serde_json::{Value, json};

use crate::promises;
use crate::world::World;

promises![works_of_removed_resources_go_with_one_event_each];

fn work(world: &World, name: &str, owner: &str) -> Value {
    json!({"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork", "metadata": {
            "name": name, "namespace": world.namespace, "labels": {ADAPTER: "dns", RESOURCE_ID: owner}},
        "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "carried", "labels": {ADAPTER: "dns", RESOURCE_ID: owner}}}]}}})
}

async fn works_of_removed_resources_go_with_one_event_each(world: World) {
    let server = maestrosim::Server::start(maestrosim::Options::default()).await;
    let server = server.unwrap();
    server.register(&world.namespace);
    let config = MaestroConfig::new(server.grpc_address(), server.http_address(), "hyperfleet");
    let maestro = Arc::new(MaestroTransport::connect(config).await.unwrap());
    let removed = world.api.removed("removed").await;
    let living = world.api.create("living").await;
    world.make("object", &removed).await;
    for object in [
        world.sign(work(&world, "of-removed", &removed)),
        world.sign(work(&world, "of-living", &living)),
        work(&world, "unsigned", &removed),
    ] {
        maestro.apply(&object, Mode::Commit).await.unwrap();
    }
    let made = server.events();
    let cluster: Arc<dyn Survey> = Arc::clone(&world.cluster) as _;
    let both = Arc::new(Alongside::new(cluster, maestro));
    let swept = world.sweep_on(both.clone(), world.options()).await;
    assert_eq!(swept.of("object"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("of-removed"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("of-living"), ("keep", "owner_exists"));
    assert_eq!(swept.of("unsigned"), ("keep", "unsigned"));
    assert_eq!(server.events(), made + 1, "the work, not what it carries");
    let swept = world.sweep_on(both.clone(), world.options()).await;
    assert_eq!(swept.of("of-removed"), ("keep", "being_deleted"));
    assert!(server.confirm_deletion(&world.namespace, "of-removed"));
    server.set_down(true);
    let swept = world.sweep_on(both, world.options()).await;
    assert!(!swept.report.complete, "what Maestro has was not seen");
    world.api.stop().await;
}
