use hyperfleet_sentinel::{NextEvent, Selector};
use serde_json::json;

use crate::api::Api;
use crate::world::{World, at, cluster, reported};

#[tokio::test(start_paused = true)]
async fn the_list_is_asked_for_in_pages_of_a_stable_order_with_the_selector() {
    let api = Api::default();
    for number in 0..250 {
        let mut cluster = cluster(&format!("c{number}"));
        cluster["labels"] = json!({"owner": if number < 240 { "o'neil" } else { "another" }});
        api.put("clusters", cluster);
    }
    let selector = Selector {
        label: "owner".to_owned(),
        value: "o'neil".to_owned(),
    };
    let world = World::with(api.clone(), |options| {
        options.resource_selector = vec![selector]
    })
    .await;
    world.synced().await;
    let asked = api.asked();
    assert_eq!(asked.len(), 3);
    for (page, query) in (1..).zip(&asked) {
        assert_eq!(query["page"], page.to_string());
        assert_eq!(query["size"], "100");
        assert_eq!(query["order"], "created_time asc");
        assert_eq!(query["search"], "labels.owner='o''neil'");
    }
    assert_eq!(
        world.events().len(),
        240,
        "also from an API that ignores the search"
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_on_two_shifted_pages_is_sent_once() {
    let api = Api::default();
    for number in 0..250 {
        api.put("clusters", cluster(&format!("c{number}")));
    }
    api.set_shift(7);
    let world = World::of(api).await;
    world.synced().await;
    assert_eq!(
        (world.events().len(), world.handle.status()[0].resources),
        (250, 250)
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_two_passes_do_not_show_is_gone() {
    let api = Api::default();
    api.put("clusters", cluster("c1"));
    api.put("clusters", cluster("c2"));
    let world = World::of(api.clone()).await;
    world.synced().await;
    api.remove("clusters", "c1");
    world.advance(5.5).await;
    assert_eq!(
        world.handle.status()[0].resources,
        2,
        "one pass may have missed it"
    );
    world.advance(5.0).await;
    assert_eq!(world.handle.status()[0].resources, 1);
    world.advance(11.0).await;
    let late: Vec<_> = world
        .events()
        .into_iter()
        .filter(|(at, _)| *at > 10.5)
        .collect();
    assert!(late.iter().all(|(_, event)| event.data["id"] == "c2") && !late.is_empty());
    assert_eq!(world.handle.explain("clusters", "c1").await, None);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_without_an_id_is_left_alone() {
    let api = Api::default();
    api.put("clusters", cluster(""));
    api.put("clusters", cluster("c1"));
    let world = World::of(api).await;
    world.synced().await;
    assert_eq!(
        (world.events().len(), world.handle.status()[0].resources),
        (1, 1)
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn it_can_be_asked_when_the_next_event_comes_and_why() {
    let api = Api::default();
    api.put("clusters", reported(cluster("c1"), "Provisioning", 3.0));
    let world = World::of(api).await;
    world.synced().await;
    let explanation = world.handle.explain("clusters", "c1").await.unwrap();
    assert_eq!(explanation.next, NextEvent::At(at(13.0)));
    assert!(!explanation.view.ready && explanation.published.is_none());
    assert_eq!(world.handle.explain("nodepools", "c1").await, None);
    world.stop().await;
}
