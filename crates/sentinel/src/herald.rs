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
