//! Settlements under way on a real broker.

use std::future::Future;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::TaskTracker;

/// Runs each to its end, even if nobody waits for it.
pub(crate) struct Settling {
    tasks: TaskTracker,
    /// A delivery may be dropped outside of the runtime.
    runtime: Handle,
}

impl Settling {
    /// On the runtime of the caller.
    pub(crate) fn new() -> Self {
        Self {
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
        }
    }

    /// `permit` is given back when it is done.
    pub(crate) fn carry_out(
        &self,
        work: impl Future<Output = ()> + Send + 'static,
        permit: OwnedSemaphorePermit,
    ) -> BoxFuture<'static, ()> {
        let work = async move {
            work.await;
            drop(permit);
        };
        let task = self.tasks.spawn_on(work, &self.runtime);
        async move {
            if let Err(error) = task.await {
                tracing::error!(%error, "settling a message ended early; it comes again");
            }
        }
        .boxed()
    }

    /// Waits for all there are.
    pub(crate) async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
