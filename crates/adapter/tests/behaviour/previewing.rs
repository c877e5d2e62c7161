//! A preview shows what would happen on the live system, and nothing happens.

use chrono::Utc;
use hyperfleet_adapter::dry_run::preview;
use serde_json::json;

use crate::world::{CONFIG_MAP, World, cluster, event, handle};

async fn previewed(world: &World) -> hyperfleet_adapter::dry_run::Trace {
    let event = event("c1", 1);
    let text = json!({"specversion": "1.0", "id": event.id, "source": event.source,
        "type": event.ty, "data": event.data});
    let engine = world.engine(CONFIG_MAP);
    preview(engine, text.to_string().as_bytes(), Utc::now())
        .await
        .unwrap()
}

#[tokio::test]
async fn it_shows_a_new_object_a_changed_field_and_a_deletion_and_changes_nothing() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let text = previewed(&world).await.text(false);
    assert!(text.contains("+ ConfigMap default/settings-c1"), "{text}");
    assert_eq!(
        world.object("ConfigMap", "default", "settings-c1").await,
        None
    );
    assert!(world.api.reports.lock().unwrap().is_empty());

    handle(&world.engine(CONFIG_MAP), &event("c1", 1)).await;
    let made = world.object("ConfigMap", "default", "settings-c1").await;
    let mut changed = cluster("c1", 2);
    changed["spec"]["region"] = json!("us");
    world.api.set("c1", changed.clone());
    let text = previewed(&world).await.text(false);
    assert!(text.contains("~ ConfigMap default/settings-c1"), "{text}");
    assert!(text.contains(".data.region: \"eu\" -> \"us\""), "{text}");

    changed["deleted_time"] = json!("2026-01-31T12:00:00Z");
    world.api.set("c1", changed);
    let text = previewed(&world).await.text(false);
    assert!(text.contains("- ConfigMap default/settings-c1"), "{text}");
    assert!(text.contains("Finalized  True"), "{text}");
    assert_eq!(
        world.object("ConfigMap", "default", "settings-c1").await,
        made
    );
}
