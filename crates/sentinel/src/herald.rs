//! Tells the API about a Sentinel that shares its work elsewhere.
//!
//! Its shards come from a Kubernetes Lease. The API is told of it all the same: so `hyperfleet why` knows by what it
//! decides, and those that meet elsewhere learn of each other. Nothing waits for the answer, and an API that keeps no
//! list, or is away, is not missed.

use std::sync::Arc;
use std::time::Duration;

use hyperfleet_core::presence::{Announcement, Presence};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::lease::Lease;
use crate::replicas::{Registrar, RegistrarError};

pub(crate) struct Herald {
    pub(crate) registrar: Arc<dyn Registrar>,
    pub(crate) id: Uuid,
    pub(crate) said: Announcement,
    /// What it holds, as it was given elsewhere.
    pub(crate) lease: watch::Receiver<Lease>,
    /// Those the API knows of that may send events about the same resources.
    pub(crate) overlaps: watch::Sender<Vec<Presence>>,
}

impl Herald {
    /// Tells until told to leave; then says that, too.
    pub(crate) async fn run(mut self, leave: &CancellationToken) {
        let period = Duration::from_secs(self.said.duration_seconds.into()) / 3;
        loop {
            self.said.keep = self.lease.borrow().at(Instant::now());
            let told = self.registrar.announce(self.id, &self.said);
            match tokio::time::timeout(period, told).await {
                Ok(Ok(standing)) => {
                    self.overlaps.send_replace(standing.overlaps);
                }
                Ok(Err(RegistrarError::Absent)) => return,
                Ok(Err(error)) => tracing::debug!(%error, "the API was not told of this Sentinel"),
                Err(_) => tracing::debug!("the API was not told of this Sentinel in time"),
            }
            tokio::select! {
                () = leave.cancelled() => break,
                () = tokio::time::sleep(period) => {}
            }
        }
        let gone = self.registrar.withdraw(self.id);
        if let Ok(Err(error)) = tokio::time::timeout(period, gone).await {
            tracing::debug!(%error, "the API will notice by itself that this Sentinel is gone");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use hyperfleet_core::presence::Standing;
    use hyperfleet_core::shard::Shards;
    use hyperfleet_core::time::Time;
    use serde_json::Map;

    use super::*;

    /// Knows of one other Sentinel, and remembers what it is told.
    #[derive(Default)]
    struct Desk {
        told: Mutex<Vec<String>>,
        absent: bool,
    }

    #[async_trait]
    impl Registrar for Desk {
        async fn announce(&self, _: Uuid, said: &Announcement) -> Result<Standing, RegistrarError> {
            let told = format!("{} keeps {}", said.name, said.keep.count());
            self.told.lock().unwrap().push(told);
            if self.absent {
                return Err(RegistrarError::Absent);
            }
            Ok(Standing {
                held: Shards::NONE,
                share: 0,
                more: false,
                replicas: 1,
                overlaps: vec![Presence {
                    id: Uuid::nil(),
                    name: "other".to_owned(),
                    resource_type: said.resource_type.clone(),
                    selector: BTreeMap::new(),
                    shares: false,
                    held: Shards::NONE,
                    leaving: false,
                    expires_time: Time::UNIX_EPOCH,
                    decides: Map::new(),
                }],
            })
        }

        async fn withdraw(&self, _: Uuid) -> Result<(), RegistrarError> {
            self.told.lock().unwrap().push("gone".to_owned());
            Ok(())
        }
    }

    fn herald(desk: &Arc<Desk>) -> (Herald, watch::Receiver<Vec<Presence>>) {
        let (_, lease) = watch::channel(Lease::FOR_EVER);
        let (overlaps, heard) = watch::channel(Vec::new());
        let herald = Herald {
            registrar: desk.clone(),
            id: Uuid::now_v7(),
            said: Announcement {
                name: "ours".to_owned(),
                resource_type: "clusters".to_owned(),
                selector: BTreeMap::new(),
                shares: true,
                keep: Shards::NONE,
                leaving: false,
                duration_seconds: 15,
                decides: Map::new(),
            },
            lease,
            overlaps,
        };
        (herald, heard)
    }

    #[tokio::test(start_paused = true)]
    async fn the_api_hears_again_and_again_what_is_held_and_at_last_that_it_is_gone() {
        let desk = Arc::new(Desk::default());
        let (herald, heard) = herald(&desk);
        let leave = CancellationToken::new();
        let told = leave.clone();
        let task = tokio::spawn(async move { herald.run(&told).await });
        tokio::time::sleep(Duration::from_secs(6)).await;
        leave.cancel();
        task.await.unwrap();
        let told = desk.told.lock().unwrap().clone();
        assert_eq!(told, ["ours keeps 64", "ours keeps 64", "gone"]);
        assert_eq!(heard.borrow()[0].name, "other");
    }

    #[tokio::test(start_paused = true)]
    async fn an_api_that_keeps_no_list_is_told_once() {
        let absent = true;
        let desk = Arc::new(Desk {
            absent,
            ..Desk::default()
        });
        let (herald, _heard) = herald(&desk);
        herald.run(&CancellationToken::new()).await;
        assert_eq!(*desk.told.lock().unwrap(), ["ours keeps 64"]);
    }
}
