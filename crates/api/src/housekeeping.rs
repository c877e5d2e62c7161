//! Forgetting what is old enough. Every replica does it; what one has forgotten another does not find.

use std::time::Duration;

use chrono::TimeDelta;
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_store::{Forgotten, Retention, Store};

use crate::config::HistoryConfig;

const EVERY: Duration = Duration::from_secs(3600);
/// Between two batches, so that forgetting a lot leaves room for others.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a create can be repeated under its key.
const IDEMPOTENCY: TimeDelta = TimeDelta::hours(24);

pub(crate) async fn run(store: &Store, config: &HistoryConfig, shutdown: Shutdown) {
    let age = |duration: Duration| TimeDelta::from_std(duration).unwrap_or(TimeDelta::MAX);
    let retention = Retention {
        history: age(config.retention.into()),
        deletions: age(config.deletion_retention.into()),
        idempotency: IDEMPOTENCY,
    };
    loop {
        let pause = match store.forget(&retention, chrono::Utc::now()).await {
            Ok(forgotten) if forgotten == Forgotten::default() => EVERY,
            Ok(forgotten) => {
                tracing::info!(?forgotten, "old history is forgotten");
                PAUSE
            }
            Err(error) => {
                tracing::warn!(%error, "old history could not be forgotten; trying again later");
                EVERY
            }
        };
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}
