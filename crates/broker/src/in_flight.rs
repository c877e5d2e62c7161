//! How many deliveries of a subscriber are unsettled, and waiting until none is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bound on unsettled deliveries of one subscriber.
pub(crate) struct InFlight {
    room: Arc<Semaphore>,
    limit: u32,
}

impl InFlight {
    pub(crate) fn new(limit: usize) -> Self {
        let limit = u32::try_from(limit.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX);
        Self {
            room: Arc::new(Semaphore::new(limit as usize)),
            limit,
        }
    }

    /// Leave to hand one more out; safe to cancel. Never returns once drained.
    pub(crate) async fn permit(&self) -> OwnedSemaphorePermit {
        match Arc::clone(&self.room).acquire_owned().await {
            Ok(permit) => permit,
            Err(_) => std::future::pending().await,
        }
    }

    /// Leave to hand out another one, if there is room right now.
    #[cfg_attr(
        not(feature = "sqs"),
        expect(dead_code, reason = "only SQS takes several messages by one request")
    )]
    pub(crate) fn try_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    /// Returns when every delivery is settled, or after `limit` with a warning.
    pub(crate) async fn drain(&self, limit: Duration) {
        let all_back = self.room.acquire_many(self.limit);
        if tokio::time::timeout(limit, all_back).await.is_err() {
            tracing::warn!(
                unsettled = self.limit as usize - self.room.available_permits(),
                waited = ?limit,
                "subscriber closed with unsettled deliveries; they will be delivered again"
            );
        }
        self.room.close();
    }
}
