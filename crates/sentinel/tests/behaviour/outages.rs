use std::sync::atomic::Ordering;

use hyperfleet_runtime::health::Health;

use crate::api::Api;
use crate::world::{World, cluster, reported};

#[tokio::test(start_paused = true)]
async fn while_the_api_is_away_timers_go_on_from_memory() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Provisioning", 2.0));
    let world = World::of(api.clone()).await;
    world.synced().await;
    let health = Health::new();
    world.handle.register_checks(&health);
    health.started();
    assert!(health.readiness().await.is_ready());
    api.set_away(true);
    world.advance(33.0).await;
    let moments: Vec<f64> = world.log().iter().map(|(at, _)| *at).collect();
    assert_eq!(moments, [12.0, 22.0, 32.0]);
    let readiness = health.readiness().await;
    assert!(
        readiness.checks["api"].contains("answered 500"),
        "{readiness:?}"
    );
    assert_eq!(readiness.checks["broker"], "ok");
    let errors = "api_errors_total{component=\"sentinel\",error_type=\"fetch_error\"";
    assert!(world.metrics().await.contains(errors));
    let passes = world.handle.status()[0].passes;
    api.set_away(false);
    world.advance(31.0).await;
    assert!(world.handle.status()[0].passes > passes);
    assert!(health.readiness().await.is_ready());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_away_at_the_start_is_waited_for() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    api.set_away(true);
    let world = World::of(api.clone()).await;
    world.advance(5.0).await;
    assert_eq!(world.log(), []);
    api.set_away(false);
    world.advance(31.0).await;
    assert_eq!(world.log()[0].1, "created");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_the_broker_did_not_take_is_sent_later_and_the_broker_is_not_stormed() {
    let api = Api::default();
    for number in 0..500 {
        api.put("clusters", cluster(&format!("c{number}")));
    }
    let world = World::with(api, |options| {
        options.backoff_not_ready = "1h".parse().unwrap()
    })
    .await;
    world.publisher.away.store(true, Ordering::SeqCst);
    world.passes(1).await;
    world.advance(60.0).await;
    let attempts = world.publisher.attempts();
    assert!((3..=64 + 20).contains(&attempts), "{attempts}");
    assert_eq!(world.events().len(), 0);
    assert_eq!(world.handle.status()[0].resources, 500);
    world.publisher.away.store(false, Ordering::SeqCst);
    world.advance(31.0).await;
    world
        .until("all sent", |world| world.events().len() >= 500)
        .await;
    world.advance(31.0).await;
    assert_eq!(world.events().len(), 500, "each once");
    assert!(
        world
            .metrics()
            .await
            .contains("broker_errors_total{component=\"sentinel\",error_type=\"publish_error\"")
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_refused_does_not_hold_up_the_others() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api.clone()).await;
    world.publisher.refusing.store(true, Ordering::SeqCst);
    world.passes(1).await;
    world.advance(20.0).await;
    let refused = world.publisher.attempts();
    assert!((3..=7).contains(&refused), "later and later: {refused}");
    world.publisher.refusing.store(false, Ordering::SeqCst);
    api.put("clusters", cluster("c2"));
    world.advance(5.0).await;
    assert!(
        world
            .events()
            .iter()
            .any(|(_, event)| event.data["id"] == "c2")
    );
    world.advance(31.0).await;
    assert!(
        world
            .events()
            .iter()
            .any(|(_, event)| event.data["id"] == "c1")
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_more_than_the_bound_are_on_their_way_and_the_rest_is_the_backlog() {
    let api = Api::default();
    for number in 0..100 {
        api.put("clusters", cluster(&format!("c{number}")));
    }
    let world = World::with(api, |options| options.max_in_flight = 8).await;
    world.publisher.hold(true);
    world.passes(1).await;
    world
        .until("a full window", |world| world.publisher.attempts() == 8)
        .await;
    world.let_work().await;
    assert_eq!(world.handle.status()[0].pending, 100);
    world.publisher.hold(false);
    world
        .until("all sent", |world| world.events().len() == 100)
        .await;
    assert_eq!(world.publisher.most_at_once.load(Ordering::SeqCst), 8);
    world
        .until("no backlog", |world| world.handle.status()[0].pending == 0)
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_events_on_their_way() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api).await;
    world.publisher.hold(true);
    world
        .until("on its way", |world| world.publisher.attempts() == 1)
        .await;
    world.cancel.cancel();
    world.let_work().await;
    assert!(!world.task.is_finished());
    world.publisher.hold(false);
    world
        .until("stopped", |world| {
            world.task.is_finished() && world.events().len() == 1
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_publisher_that_panics_does_not_make_an_event_forgotten() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::of(api).await;
    world.publisher.panicking.store(true, Ordering::SeqCst);
    world
        .until("tried", |world| world.publisher.attempts() == 1)
        .await;
    world.publisher.panicking.store(false, Ordering::SeqCst);
    world.advance(2.0).await;
    assert_eq!(world.log()[0].1, "created");
    world.stop().await;
}
