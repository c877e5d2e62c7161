//! Computes statuses anew where no report does: when a rule that looks at the clock may say something else, and when
//! the rules themselves changed.

use std::time::Duration;

use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_store::{Start, StoreError, Sweep};

use crate::state::ApiState;

/// Resources at once: some milliseconds of one connection.
const BATCH: u32 = 100;
/// Between two looks at what is due.
const EVERY: Duration = Duration::from_secs(1);
/// Between two batches, so that a large change leaves room for others.
const PAUSE: Duration = Duration::from_millis(20);
/// After a failure.
const LATER: Duration = Duration::from_secs(10);

/// The background work of one replica.
#[derive(Debug)]
pub struct Recheck {
    state: ApiState,
    /// The rules that this process last began to apply to everything. It begins once for each: where two replicas
    /// have different rules, they must not undo each other for ever.
    fingerprint: String,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Begun,
    Done,
}

impl Recheck {
    pub fn new(state: ApiState) -> Recheck {
        Recheck {
            fingerprint: state.rules.fingerprint(),
            stage: Stage::New,
            state,
        }
    }

    /// Until told to stop.
    pub async fn run(mut self, shutdown: Shutdown) {
        loop {
            let pause = match self.pass().await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "statuses could not be computed anew; trying again later");
                    LATER
                }
            };
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// One batch of each sort, and how long to wait for the next.
    async fn pass(&mut self) -> Result<Duration, StoreError> {
        let due = self.due().await?;
        let swept = self.sweep().await?;
        Ok(due.min(swept))
    }

    /// What time may have changed.
    async fn due(&self) -> Result<Duration, StoreError> {
        let store = &self.state.store;
        // Rules that do not look at the clock leave nothing behind once they are applied to everything.
        if self.stage == Stage::Done && !self.state.rules.now().watches_the_clock() {
            return Ok(EVERY);
        }
        let now = self.state.now();
        if store.next_recheck().await?.is_none_or(|due| due > now) {
            return Ok(EVERY);
        }
        let Some(done) = store.recheck(now, BATCH, &self.state).await? else {
            return Ok(EVERY);
        };
        if done.changed > 0 {
            tracing::info!(resources = done.changed, "time changed statuses");
        }
        Ok(if done.finished { EVERY } else { PAUSE })
    }

    /// What new rules may have changed.
    async fn sweep(&mut self) -> Result<Duration, StoreError> {
        let fingerprint = self.state.rules.fingerprint();
        if fingerprint != self.fingerprint {
            self.fingerprint = fingerprint;
            self.stage = Stage::New;
        }
        let start = match self.stage {
            Stage::Done => return Ok(EVERY),
            Stage::New => Start::Anew,
            Stage::Begun => Start::Never,
        };
        let (state, now) = (&self.state, self.state.now());
        let swept = state
            .store
            .sweep(&self.fingerprint, start, now, BATCH, state)
            .await?;
        let (stage, pause) = match swept {
            Sweep::Batch(done) => {
                if done.changed > 0 {
                    tracing::info!(resources = done.changed, "new rules changed statuses");
                }
                match done.finished {
                    true => (Stage::Done, EVERY),
                    false => (Stage::Begun, PAUSE),
                }
            }
            Sweep::Done => (Stage::Done, EVERY),
            Sweep::Busy => (self.stage, EVERY),
            // Whoever applies other rules came later, and is right.
            Sweep::Others => (Stage::Done, EVERY),
        };
        self.stage = stage;
        Ok(pause)
    }
}
