//! What goes, and what stays.

use std::sync::Arc;

use futures::StreamExt as _;
use hyperfleet_core::ownership::{ADAPTER, OWNERSHIP, RESOURCE_ID};
use hyperfleet_sweeper::Sweeper;
use hyperfleet_transport::Transport;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::api::registry;
use crate::promises;
use crate::world::World;

promises![
    what_a_removed_resource_left_behind_goes_and_nothing_else,
    a_forged_label_deletes_nothing,
    a_copied_signature_deletes_nothing,
    without_a_key_nothing_is_deleted,
    a_dry_run_tells_everything_and_deletes_nothing,
    a_namespace_goes_when_nobody_lives_in_it,
    absence_is_trusted_for_a_few_objects_only,
    two_sweepers_at_once_delete_what_one_would,
    a_pass_deletes_no_more_than_it_may_and_the_next_one_the_rest,
    a_pass_is_counted,
    what_is_on_a_later_page_is_found,
    every_deletion_is_in_the_audit_log_of_the_api,
];

async fn what_a_removed_resource_left_behind_goes_and_nothing_else(world: World) {
    let (removed, living, leaving) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
        world.api.create("leaving").await,
    );
    world.api.delete(&leaving).await;
    world.make("of-removed", &removed).await;
    world.make("of-living", &living).await;
    world.make("of-leaving", &leaving).await;
    let job = world.sign(json!({"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "job", "namespace": world.namespace,
            "labels": {ADAPTER: "dns", RESOURCE_ID: removed}},
        "spec": {"template": {
            "metadata": {"labels": {ADAPTER: "dns", RESOURCE_ID: removed}},
            "spec": {"restartPolicy": "Never",
                "containers": [{"name": "c", "image": "i"}]}}}}));
    world.apply(&job).await;
    let swept = world.sweep().await;
    assert_eq!(swept.of("of-removed"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("job"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("of-living"), ("keep", "owner_exists"));
    assert_eq!(swept.of("of-leaving"), ("keep", "owner_deleting"));
    assert!(swept.report.complete, "{:?}", swept.report);
    assert!(!world.exists("of-removed").await);
    assert!(world.exists("of-living").await);
    assert!(world.exists("of-leaving").await);
    world.api.stop().await;
}

async fn a_forged_label_deletes_nothing(world: World) {
    let removed = world.api.removed("removed").await;
    world.apply(&world.labelled("unsigned", &removed)).await;
    let mut made_up = world.labelled("made-up", &removed);
    made_up["metadata"]["annotations"] = json!({OWNERSHIP: "v1.AAAA"});
    world.apply(&made_up).await;
    let swept = world.sweep().await;
    assert_eq!(swept.of("unsigned"), ("keep", "unsigned"));
    assert_eq!(swept.of("made-up"), ("keep", "forged"));
    assert!(world.exists("unsigned").await && world.exists("made-up").await);
}

async fn a_copied_signature_deletes_nothing(world: World) {
    let removed = world.api.removed("removed").await;
    let living = world.api.create("living").await;
    let ours = world.sign(world.labelled("ours", &removed));
    // Another object with the same labels and signature, and one of a living owner that is made to look like a dead
    // one's.
    let mut victim = world.labelled("victim", &removed);
    victim["metadata"]["annotations"] = ours["metadata"]["annotations"].clone();
    world.apply(&victim).await;
    let mut relabelled = world.sign(world.labelled("relabelled", &living));
    relabelled["metadata"]["labels"][RESOURCE_ID] = json!(removed);
    world.apply(&relabelled).await;
    let swept = world.sweep().await;
    assert_eq!(swept.of("victim"), ("keep", "forged"));
    assert_eq!(swept.of("relabelled"), ("keep", "forged"));
    assert!(world.exists("victim").await && world.exists("relabelled").await);
}

async fn without_a_key_nothing_is_deleted(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let mut options = world.options();
    options.ownership.key_file = None;
    let swept = world.sweep_with(options).await;
    assert_eq!(swept.of("ours"), ("keep", "no_key"));
    assert!(world.exists("ours").await);
}

async fn a_dry_run_tells_everything_and_deletes_nothing(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("ours", &removed).await;
    let mut options = world.options();
    options.dry_run = true;
    let swept = world.sweep_with(options).await;
    assert_eq!(swept.of("ours"), ("would delete", "owner_removed"));
    assert!(swept.report.complete && swept.report.dry_run);
    assert!(world.exists("ours").await);
}

async fn a_namespace_goes_when_nobody_lives_in_it(world: World) {
    let (removed, living) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
    );
    let home = world.sign(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": world.namespace, "labels": {ADAPTER: "dns", RESOURCE_ID: removed}}}),
    );
    world.apply(&home).await;
    world.make("of-living", &living).await;
    let first = world.sweep().await;
    assert_eq!(first.of(&world.namespace), ("keep", "inhabited"));
    assert!(world.exists("of-living").await);
    world.api.remove(&living).await;
    let second = world.sweep().await;
    assert_eq!(second.of("of-living"), ("deleted", "owner_removed"));
    assert_eq!(second.of(&world.namespace), ("deleted", "owner_removed"));
}

async fn absence_is_trusted_for_a_few_objects_only(world: World) {
    let living = world.api.create("living").await;
    let absent = uuid("1");
    world.make("of-living", &living).await;
    for index in 0..3 {
        world.make(&format!("absent-{index}"), &absent).await;
    }
    let mut options = world.options();
    options.trust_absence = true;
    options.min_objects = 2;
    let broken = world.sweep_with(options.clone()).await;
    assert_eq!(broken.of("absent-0"), ("keep", "breaker"));
    assert!(!broken.report.complete);
    assert!(world.exists("absent-0").await);
    options.min_objects = 3;
    let trusted = world.sweep_with(options.clone()).await;
    assert_eq!(trusted.of("absent-0"), ("deleted", "owner_absent"));
    assert_eq!(trusted.of("of-living"), ("keep", "owner_exists"));
    // An API that knows nobody is not trusted with even one.
    world.make("absent-3", &absent).await;
    world
        .cluster
        .delete(&world.named("of-living"), &Default::default())
        .await
        .unwrap();
    let empty = world.sweep_with(options).await;
    assert_eq!(empty.of("absent-3"), ("keep", "breaker"));
    assert!(world.exists("absent-3").await);
}

async fn two_sweepers_at_once_delete_what_one_would(world: World) {
    let (removed, living) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
    );
    for index in 0..10 {
        world.make(&format!("gone-{index}"), &removed).await;
        world.make(&format!("stays-{index}"), &living).await;
    }
    let (one, two) = tokio::join!(world.sweep(), world.sweep());
    let deleted = |name: &str| {
        let by = [&one, &two].map(|swept| {
            let row = swept.rows.iter().find(|row| row.object.name == name);
            row.is_some_and(|row| row.verdict == "deleted")
        });
        by.into_iter().filter(|deleted| *deleted).count()
    };
    for index in 0..10 {
        assert_eq!(deleted(&format!("gone-{index}")), 1);
        assert!(!world.exists(&format!("gone-{index}")).await);
        assert_eq!(deleted(&format!("stays-{index}")), 0);
        assert!(world.exists(&format!("stays-{index}")).await);
    }
    assert!(one.report.complete && two.report.complete);
}

async fn a_pass_deletes_no_more_than_it_may_and_the_next_one_the_rest(world: World) {
    let removed = world.api.removed("removed").await;
    for index in 0..3 {
        world.make(&format!("gone-{index}"), &removed).await;
    }
    let mut options = world.options();
    options.max_deletions = 2;
    let first = world.sweep_with(options.clone()).await;
    assert_eq!((first.report.swept, first.report.kept["later"]), (2, 1));
    let second = world.sweep_with(options).await;
    assert_eq!(second.report.swept, 1);
}

async fn a_pass_is_counted(world: World) {
    let removed = world.api.removed("removed").await;
    world.make("gone", &removed).await;
    world.apply(&world.labelled("unsigned", &removed)).await;
    let registry = registry();
    let metrics = registry.component("sweeper", "sweeper").unwrap();
    let cluster = Arc::clone(&world.cluster);
    let sweeper = Sweeper::new(world.options(), cluster, Some(&metrics)).unwrap();
    world.pass(&sweeper, &CancellationToken::new()).await;
    let text = registry.encode().unwrap();
    for line in [
        r#"hyperfleet_sweeper_objects_deleted_total{component="sweeper",version="test"} 1"#,
        r#"hyperfleet_sweeper_passes_total{component="sweeper",outcome="complete",version="test"} 1"#,
        r#"hyperfleet_sweeper_objects_kept{component="sweeper",reason="unsigned""#,
        "hyperfleet_sweeper_last_success_timestamp_seconds",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// An id that no API has given out.
pub(crate) fn uuid(digit: &str) -> String {
    format!("0192e4f0-7b1c-7d3a-8f7e-{}", digit.repeat(12))
}

async fn what_is_on_a_later_page_is_found(world: World) {
    let removed = world.api.removed("removed").await;
    let living = world.api.create("living").await;
    // Lists come in pages of 500; of these the names sort last.
    let world = &world;
    let fill = futures::stream::iter(0..510).for_each_concurrent(16, |index| {
        let living = &living;
        async move { world.make(&format!("a-{index:04}"), living).await }
    });
    fill.await;
    world.make("z-last", &removed).await;
    let swept = world.sweep().await;
    assert!(swept.report.complete, "{:?}", swept.report);
    assert_eq!(swept.of("z-last"), ("deleted", "owner_removed"));
    assert_eq!(swept.of("a-0509"), ("keep", "owner_exists"));
    assert!(!world.exists("z-last").await);
    assert!(world.exists("a-0000").await);
}

async fn every_deletion_is_in_the_audit_log_of_the_api(world: World) {
    let (removed, living) = (
        world.api.removed("removed").await,
        world.api.create("living").await,
    );
    world.make("of-removed", &removed).await;
    world.make("of-living", &living).await;
    let swept = world.sweep().await;
    assert_eq!(swept.of("of-removed").0, "deleted");
    assert_eq!(swept.report.unrecorded, 0);
    let lines = world.api.audit("object.deleted").await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    let line = &lines[0];
    assert_eq!(line["resource_id"], removed.as_str());
    assert_eq!(
        (&line["kind"], &line["name"]),
        (&json!("Cluster"), &json!("removed"))
    );
    assert_eq!(line["detail"]["object"]["name"], "of-removed");
    assert_eq!(
        line["detail"]["object"]["namespace"],
        world.namespace.as_str()
    );
}
