use serde_json::json;

use crate::api::Api;
use crate::world::{World, at, changed, cluster, reported};

#[tokio::test(start_paused = true)]
async fn a_new_resource_has_its_event_at_once() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api).await;
    world.synced().await;
    let (when, event) = world.events().remove(0);
    assert_eq!((when, world.events().len()), (0.0, 1));
    assert_eq!(event.ty, "com.redhat.hyperfleet.cluster.reconcile.v1");
    assert_eq!(event.source, "sentinel-operator/hyperfleet-sentinel");
    assert_eq!(event.time, Some(at(0.0)));
    assert_eq!(
        event.data,
        json!({"id": "c1", "kind": "Cluster", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 1,
               "resource_type": "clusters", "resource_id": "c1", "reason": "created"})
    );
    assert!(event.traceparent().is_some());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_ready_is_sent_again_after_10_seconds_and_not_before() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Provisioning", 3.0));
    let world = World::of(api).await;
    world.synced().await;
    world.advance(12.9).await;
    assert_eq!(world.log(), []);
    world.advance(0.2).await;
    assert_eq!(world.log(), [(13.0, "backoff-expired".to_owned())]);
    world.advance(9.8).await;
    assert_eq!(
        world.log().len(),
        1,
        "nobody answered, but its backoff has not passed"
    );
    world.advance(0.3).await;
    assert_eq!(world.log()[1..], [(23.0, "backoff-expired".to_owned())]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_postpones_the_next_event() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Provisioning", 1.0));
    let world = World::of(api.clone()).await;
    world.synced().await;
    world.advance(4.0).await;
    api.put("clusters", reported(cluster("c1"), "Provisioning", 4.0));
    world.advance(9.9).await;
    assert_eq!(world.log(), []);
    world.advance(0.2).await;
    assert_eq!(world.log(), [(14.0, "backoff-expired".to_owned())]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_that_changed_the_status_is_told_once_and_one_without_news_is_not() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api.clone()).await;
    world.synced().await;
    assert_eq!(world.log(), [(0.0, "created".to_owned())]);
    world.advance(4.0).await;
    api.put("clusters", reported(cluster("c1"), "Provisioning", 4.0));
    world.advance(2.0).await;
    let told = [(5.0, "status-changed".to_owned())];
    assert_eq!(world.log()[1..], told, "at the next pass");
    for seconds in [7.0, 12.0, 17.0] {
        api.put("clusters", reported(cluster("c1"), "Provisioning", seconds));
        world.advance(5.0).await;
    }
    assert_eq!(world.log()[1..], told, "only its times have moved");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_status_that_flaps_is_told_no_more_often_than_allowed() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::with(api.clone(), |options| {
        options.poll_interval = "1s".parse().unwrap();
        options.backoff_not_ready = "1h".parse().unwrap();
        options.backoff_ready = "1h".parse().unwrap();
    })
    .await;
    world.synced().await;
    for round in 0..100 {
        let phase = ["Ready", "Provisioning"][round % 2];
        api.put("clusters", reported(cluster("c1"), phase, round as f64));
        world.advance(1.0).await;
    }
    let most = usize::from(hyperfleet_core::due::MOST_PROGRESS);
    assert_eq!(world.log().len(), 1 + most);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_ready_and_unchanged_is_refreshed_after_half_an_hour() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Ready", 1.0));
    let world = World::with(api, |options| {
        options.poll_interval = "10m".parse().unwrap()
    })
    .await;
    world.synced().await;
    for _ in 0..30 {
        world.jump(60.0).await;
    }
    world.advance(0.5).await;
    assert_eq!(world.log(), []);
    world.advance(1.0).await;
    assert_eq!(world.log(), [(1801.0, "max-age-expired".to_owned())]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_and_a_deletion_are_sent_as_soon_as_they_are_seen() {
    let api = Api::default();
    let ready = reported(cluster("c1"), "Ready", 1.0);
    api.put("clusters", ready.clone());
    let world = World::of(api.clone()).await;
    world.synced().await;
    world.advance(6.0).await;
    api.put("clusters", changed(ready.clone(), 2, 6.0));
    world.advance(4.1).await;
    assert_eq!(
        world.log(),
        [(10.0, "generation-changed".to_owned())],
        "at the next pass"
    );
    let mut deleted = changed(ready, 3, 11.0);
    deleted["deleted_time"] = json!(at(11.0));
    api.put("clusters", deleted);
    world.advance(5.0).await;
    assert_eq!(world.log()[1..], [(15.0, "deleted".to_owned())]);
    let metrics = world.metrics().await;
    assert!(metrics.contains("hyperfleet_sentinel_change_to_publish_seconds_count{component=\"sentinel\",resource_selector=\"all\",resource_type=\"clusters\",version=\"1\"} 2"), "{metrics}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_changes_to_one_resource_is_one_event() {
    let api = Api::default();
    let ready = reported(cluster("c1"), "Ready", 1.0);
    api.put("clusters", ready.clone());
    let world = World::of(api.clone()).await;
    world.synced().await;
    for generation in 2..=9 {
        api.put("clusters", changed(ready.clone(), generation, 2.0));
    }
    world.advance(6.0).await;
    assert_eq!(world.log().len(), 1);
    assert_eq!(world.events()[0].1.data["generation"], 9);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changes_while_an_event_is_on_its_way_are_one_more_event() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api.clone()).await;
    world.publisher.hold(true);
    world.passes(1).await;
    for generation in 2..=4 {
        api.put("clusters", changed(cluster("c1"), generation, 1.0));
        world.advance(5.0).await;
    }
    assert_eq!(
        world.publisher.attempts(),
        1,
        "never two at once for one resource"
    );
    world.publisher.hold(false);
    world.advance(1.0).await;
    let generations: Vec<_> = world
        .events()
        .iter()
        .map(|(_, event)| event.data["generation"].clone())
        .collect();
    assert_eq!(generations, [1, 4]);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_resources_with_nothing_due_are_silent() {
    let api = Api::default();
    for number in 0..10_000 {
        api.put_new(
            "clusters",
            reported(cluster(&format!("c{number}")), "Ready", 1.0),
        );
    }
    let world = World::with(api, |options| {
        options.poll_interval = "60s".parse().unwrap()
    })
    .await;
    world.synced().await;
    world.jump(60.0).await;
    world.passes(2).await;
    assert_eq!(world.publisher.attempts(), 0);
    assert_eq!(world.handle.status()[0].resources, 10_000);
    let metrics = world.metrics().await;
    assert!(metrics.contains("reason=\"not due\",resource_selector=\"all\",resource_type=\"clusters\",version=\"1\"} 20000"), "{metrics}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn two_kinds_in_one_process_have_their_own_topics() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let mut pool = cluster("n1");
    pool["kind"] = json!("NodePool");
    pool["owner_references"] = json!({"id": "c1", "kind": "Cluster", "href": "/c1"});
    api.put("nodepools", pool);
    let world = World::with(api, |options| {
        options.resource_type = None;
        options.sentinels =
            hyperfleet_sentinel::Options::for_kinds("http://x", ["clusters", "nodepools"])
                .sentinels;
    })
    .await;
    world.synced().await;
    let mut types: Vec<_> = world
        .events()
        .iter()
        .map(|(_, event)| event.ty.clone())
        .collect();
    types.sort();
    assert_eq!(
        types,
        [
            "com.redhat.hyperfleet.cluster.reconcile.v1",
            "com.redhat.hyperfleet.nodepool.reconcile.v1"
        ]
    );
    world.stop().await;
}
