//! What the transport promises when the server, or an agent, does its part: a test plays them.

use std::time::Duration;

use hyperfleet_transport::{Delete, Deletion, MaestroTransport, Mode, Selector, Target, Transport};
use serde_json::json;

use crate::promises::{applied, at, kind, work};
use crate::{World, promises};

promises![
    a_deleted_work_stays_until_the_agent_confirms,
    what_the_agent_said_is_part_of_the_work,
    many_works_are_listed_page_by_page,
    an_outage_is_told_as_one_and_passes,
    a_short_outage_is_sat_out,
    a_silent_server_is_given_up,
    a_foreign_not_found_is_no_absence,
    the_client_says_who_it_is,
];

async fn a_deleted_work_stays_until_the_agent_confirms(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let object = at("cluster1", "w");
    let options = Delete::default();
    let delete = || world.transport.delete(&object, &options);
    assert_eq!(delete().await.unwrap(), Deletion::Accepted);
    let left = world.transport.get(&object).await.unwrap().unwrap();
    assert!(left["metadata"]["deletionTimestamp"].is_string());
    let late = world
        .transport
        .apply(&work("cluster1", "w", 2), Mode::Commit)
        .await;
    assert_eq!(
        late.unwrap_err().reason(),
        "Conflict",
        "it is on its way out"
    );
    assert!(world.server().confirm_deletion("cluster1", "w"));
    assert_eq!(world.transport.get(&object).await.unwrap(), None);
    assert_eq!(delete().await.unwrap(), Deletion::Absent);
}

async fn what_the_agent_said_is_part_of_the_work(world: World) {
    applied(&world, &work("cluster1", "w", 1)).await;
    let feedback = json!({"values": [{"name": "phase", "fieldValue": {"type": "String", "string": "Active"}}]});
    let said = json!({"conditions": [{"type": "Applied", "status": "True"}],
        "resourceStatus": [{"resourceMeta": {"name": "inner"}, "statusFeedback": feedback}]});
    assert!(world.server().report("cluster1", "w", said));
    let found = world
        .transport
        .get(&at("cluster1", "w"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found["status"]["observedGeneration"], 1);
    assert_eq!(
        found["status"]["resourceStatus"]["manifests"][0]["statusFeedback"],
        feedback
    );
    let next = applied(&world, &work("cluster1", "w", 2)).await;
    assert_eq!(next["metadata"]["generation"], 2);
    assert_eq!(
        next["status"]["observedGeneration"], 1,
        "it is about the version before"
    );
}

async fn many_works_are_listed_page_by_page(world: World) {
    for index in 0..401 {
        let one = work("cluster1", &format!("w{index}"), 1);
        world.transport.create(&one).await.unwrap();
    }
    let all = world
        .transport
        .list(&kind(), Some("cluster1"), &Selector::default())
        .await;
    assert_eq!(all.unwrap().len(), 401);
}

async fn an_outage_is_told_as_one_and_passes(mut world: World) {
    world.server().set_down(true);
    let error = world.transport.get(&at("cluster1", "w")).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.target),
        ("MaestroUnavailable", Target::Maestro)
    );
    assert!(error.is_transient() && error.is_outage());
    world.server().set_down(false);
    applied(&world, &work("cluster1", "w", 1)).await;
    drop(world.server.take());
    let error = world
        .transport
        .create(&work("cluster1", "v", 1))
        .await
        .unwrap_err();
    assert!(error.is_outage(), "{error}");
}

async fn a_short_outage_is_sat_out(world: World) {
    let mut patient = world.config.clone();
    patient.attempts = 3;
    let patient = MaestroTransport::new(patient).unwrap();
    world.server().fail_next(2);
    assert_eq!(patient.get(&at("cluster1", "w")).await.unwrap(), None);
    world.server().fail_next(3);
    assert!(
        patient
            .get(&at("cluster1", "w"))
            .await
            .unwrap_err()
            .is_outage()
    );
}

async fn a_silent_server_is_given_up(world: World) {
    let mut config = world.config.clone();
    config.silence = Duration::from_millis(50);
    let hasty = MaestroTransport::new(config).unwrap();
    world.server().set_mute(true);
    let error = hasty.create(&work("cluster1", "w", 1)).await.unwrap_err();
    assert!(error.is_outage());
    assert!(
        error.to_string().contains("no answer to the event in 50ms"),
        "{error}"
    );
}

async fn a_foreign_not_found_is_no_absence(world: World) {
    let mut elsewhere = world.config.clone();
    elsewhere.http_address = format!("{}/somewhere/else", world.server().http_address());
    assert!(MaestroTransport::connect(elsewhere.clone()).await.is_err());
    let elsewhere = MaestroTransport::new(elsewhere).unwrap();
    let error = elsewhere.get(&at("cluster1", "w")).await.unwrap_err();
    assert_eq!(error.reason(), "MaestroError");
    assert!(error.to_string().contains("http_server_address"), "{error}");
}

async fn the_client_says_who_it_is(world: World) {
    let mut named = world.config.clone();
    named.client_id = "adapter-7".to_owned();
    let named = MaestroTransport::new(named).unwrap();
    named
        .apply(&work("cluster1", "w", 1), Mode::Commit)
        .await
        .unwrap();
    let callers = world.server().callers();
    let ours = callers
        .iter()
        .filter(|caller| caller.starts_with("adapter-7"));
    assert_eq!(ours.count(), 3, "read, event, read: {callers:?}");
}
