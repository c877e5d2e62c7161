use hyperfleet_sentinel::{Decide, DecisionRules, Param};
use serde_json::json;

use crate::api::Api;
use crate::world::{World, changed, cluster, reported};

fn standard(options: &mut hyperfleet_sentinel::Options) {
    options.message_decision = Some(Decide::Named("default".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_v1_decide_at_every_pass_but_do_not_repeat_the_unchanged() {
    let api = Api::default();
    let mut bare = cluster("c1");
    bare["status"] = json!({});
    api.put("clusters", bare);
    let world = World::with(api, standard).await;
    world.synced().await;
    world.advance(21.0).await;
    let matched = "message decision matched".to_owned();
    assert_eq!(
        world.log(),
        [
            (0.0, matched.clone()),
            (10.0, matched.clone()),
            (20.0, matched)
        ]
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_rules_of_v1_react_to_a_report_that_grows_old_and_to_a_change() {
    let api = Api::default();
    let ready = reported(cluster("c1"), "Ready", 1.0);
    api.put("clusters", ready.clone());
    let world = World::with(api.clone(), standard).await;
    world.synced().await;
    world.advance(11.0).await;
    assert_eq!(world.log(), []);
    api.put("clusters", changed(ready, 2, 11.0));
    world.advance(12.0).await;
    assert_eq!(
        world.log().len(),
        1,
        "generation 2 was not reconciled when it was seen"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn while_the_api_is_away_rules_are_asked_from_memory() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Provisioning", 1.0));
    let world = World::with(api.clone(), standard).await;
    world.synced().await;
    api.set_away(true);
    world.advance(25.0).await;
    assert!(!world.log().is_empty());
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_cannot_be_evaluated_skips_and_is_counted_as_such() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    let world = World::with(api, |options| {
        let param = Param {
            name: "x".to_owned(),
            expr: "resource.spec.missing".to_owned(),
        };
        options.message_decision = Some(Decide::Rules(DecisionRules {
            params: vec![param],
            result: "x == 1".to_owned(),
        }));
    })
    .await;
    world.synced().await;
    world.advance(6.0).await;
    assert_eq!(world.publisher.attempts(), 0);
    let metrics = world.metrics().await;
    assert!(metrics.contains("resources_skipped_total{component=\"sentinel\",reason=\"evaluation_error\",resource_selector=\"all\",resource_type=\"clusters\",version=\"1\"} 2"), "{metrics}");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn message_data_is_filled_in_from_memory_when_the_time_comes() {
    let api = Api::default();
    let mut one = reported(cluster("c1"), "Provisioning", 1.0);
    one["labels"] = json!({"region": "us-east"});
    one["spec"] = json!({"nodes": 3});
    api.put("clusters", one);
    let world = World::with(api, |options| {
        let data = json!({"resource_id": ".id", "region": ".metadata.labels.region", "nodes": "resource.spec.nodes"});
        options.message_data = data.as_object().cloned();
    })
    .await;
    world.synced().await;
    world.advance(11.5).await;
    assert_eq!(
        world.events()[0].1.data,
        json!({"resource_id": "c1", "region": "us-east", "nodes": 3})
    );
    world.stop().await;
}
