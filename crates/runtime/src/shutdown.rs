//! One cancellation tree, and the order in which a process comes to its end.
//!
//! ```text
//!  signal ─┐                      ┌─ component ─ its tasks
//!  error ──┼─► readiness: draining │
//!          └─► Shutdown (root) ────┼─ component ─ its tasks     joined within the time limit
//!                                  └─ …
//!              observers (health, metrics, traces) stop last, so that the end can be watched
//! ```

use std::future::Future;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

mod process;
mod signals;

#[cfg(feature = "otlp")]
pub(crate) use process::COMPONENT_SPAN;
pub use process::{Process, RunError};
pub use signals::{SignalError, on_signals};

/// A node of the cancellation tree: tells its owner to stop and owns the tasks that must end
/// before it has stopped. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    token: CancellationToken,
    tasks: TaskTracker,
}

impl Shutdown {
    /// A root that is stopped by [`Shutdown::trigger`] alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// A node below this one, with tasks of its own. Stopping this one stops it, not the reverse.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            token: self.token.child_token(),
            tasks: TaskTracker::new(),
        }
    }

    /// Tells everything at and below this node to stop.
    pub fn trigger(&self) {
        self.token.cancel();
    }

    /// Whether it was told to stop.
    pub fn is_requested(&self) -> bool {
        self.token.is_cancelled()
    }

    /// Returns when it is told to stop.
    pub async fn requested(&self) {
        self.token.cancelled().await;
    }

    /// The bare token, for libraries that take one.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    /// Starts a task that this node owns. It stays in the current span, so its log lines name the
    /// same component.
    pub fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tasks.spawn(task.in_current_span())
    }

    /// Returns when all tasks of this node have ended. It does not tell them to.
    pub async fn joined(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
