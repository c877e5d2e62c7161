use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use hyperfleet_core::presence::{Announcement, Presence, Standing};
use hyperfleet_core::shard::{Member, assign};
use hyperfleet_sentinel::{Registrar, RegistrarError, Replicas};
use tokio::time::Instant;
use uuid::Uuid;

use crate::api::Api;
use crate::world::{World, changed, cluster, reported};

/// Gives shards out by the test's time, and is away when told to.
#[derive(Clone, Default)]
struct Desk(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    away: bool,
    there: BTreeMap<Uuid, (Member, Instant)>,
}

impl Desk {
    fn set_away(&self, away: bool) {
        self.0.lock().unwrap().away = away;
    }
}

#[async_trait]
impl Registrar for Desk {
    async fn announce(&self, id: Uuid, said: &Announcement) -> Result<Standing, RegistrarError> {
        let mut inner = self.0.lock().unwrap();
        if inner.away {
            return Err(RegistrarError::Failed("away".to_owned()));
        }
        let now = Instant::now();
        inner.there.retain(|_, (_, until)| *until > now);
        let others: Vec<Member> = inner
            .there
            .iter()
            .filter(|(other, _)| **other != id)
            .map(|(_, (member, _))| *member)
            .collect();
        let given = assign(said.keep, said.leaving, &others);
        let member = Member {
            held: given.held,
            leaving: said.leaving,
        };
        let until = now + Duration::from_secs(said.duration_seconds.into());
        inner.there.insert(id, (member, until));
        Ok(Standing {
            held: given.held,
            share: given.share,
            more: given.more,
            replicas: u32::try_from(others.len()).unwrap() + 1,
            overlaps: Vec::<Presence>::new(),
        })
    }

    async fn withdraw(&self, id: Uuid) -> Result<(), RegistrarError> {
        self.0.lock().unwrap().there.remove(&id);
        Ok(())
    }
}

async fn replica(api: &Api, desk: &Desk) -> World {
    let world = World::with_registrar(
        api.clone(),
        |options| options.sentinel.replicas = Replicas::Api,
        Some(Arc::new(desk.clone())),
    )
    .await;
    world.passes(1).await;
    world
}

#[tokio::test(start_paused = true)]
async fn who_cannot_renew_stops_before_its_lease_ends_and_sends_what_is_left_when_it_can() {
    let (api, desk) = (Api::default(), Desk::default());
    let ready = reported(cluster("c1"), "Ready", 1.0);
    api.put("clusters", ready.clone());
    let world = replica(&api, &desk).await;
    world.synced().await;
    world.advance(6.0).await;
    desk.set_away(true);
    // Renewed at 5; ends at 20; stops sending at 17.
    world.advance(10.5).await;
    api.put("clusters", changed(ready.clone(), 2, 14.0));
    world.advance(1.0).await;
    assert_eq!(world.log().len(), 0, "not seen before the next pass");
    world.advance(22.0).await;
    assert_eq!(world.log(), [], "it holds nothing");
    assert_eq!(
        world.handle.status()[0].lease_error.as_deref(),
        Some("away")
    );
    desk.set_away(false);
    world.advance(6.0).await;
    assert_eq!(world.log().len(), 1);
    assert_eq!(world.log()[0].1, "generation-changed");
    world.abandon();
}

#[tokio::test(start_paused = true)]
async fn within_its_lease_a_replica_needs_nobody() {
    let (api, desk) = (Api::default(), Desk::default());
    let ready = reported(cluster("c1"), "Ready", 1.0);
    api.put("clusters", ready.clone());
    let world = replica(&api, &desk).await;
    world.synced().await;
    world.advance(6.0).await;
    desk.set_away(true);
    api.put("clusters", changed(ready, 2, 6.0));
    world.advance(5.0).await;
    assert_eq!(world.log().len(), 1);
    world.abandon();
}

#[tokio::test(start_paused = true)]
async fn what_one_replica_holds_the_other_leaves_alone() {
    let (api, desk) = (Api::default(), Desk::default());
    for number in 0..200 {
        api.put("clusters", cluster(&format!("c{number}")));
    }
    let one = replica(&api, &desk).await;
    one.until("all of them", |world| world.events().len() == 200)
        .await;
    let two = replica(&api, &desk).await;
    two.advance(9.0).await;
    for number in 0..200 {
        api.put("clusters", changed(cluster(&format!("c{number}")), 2, 9.0));
    }
    two.advance(6.0).await;
    let ids = |world: &World| {
        let events = world.events();
        let second = events
            .iter()
            .filter(|(_, event)| event.data["generation"] == 2);
        second
            .map(|(_, event)| event.data["id"].to_string())
            .collect::<Vec<_>>()
    };
    let (first, second) = (ids(&one), ids(&two));
    assert!(first.len() > 50 && second.len() > 50, "both worked");
    let mut all: Vec<String> = first.into_iter().chain(second).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 200, "each by one of them");
    one.abandon();
    two.abandon();
}
