//! Keeping a message hidden from other consumers as long as somebody works on it.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::Trouble;
use super::places::Places;

/// A message in our hands; dropping it lets the message come back when its time is over.
pub(super) struct Lease {
    stop: DropGuard,
    extending: JoinHandle<()>,
}

impl Lease {
    pub(super) fn start(places: Arc<Places>, queue: String, receipt: String) -> Self {
        let token = CancellationToken::new();
        let stopped = token.clone();
        let seconds = places.config().visibility_timeout_seconds;
        // A third of the time leaves room for two failures.
        let pause = Duration::from_secs(u64::from(seconds)) / 3;
        let extending = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stopped.cancelled() => return,
                    () = sleep(pause) => {}
                }
                if let Err(trouble) = hide(&places, &queue, &receipt, seconds).await {
                    let reason = trouble.text();
                    tracing::warn!(queue, reason, "cannot keep a message hidden from others");
                }
            }
        });
        Self {
            stop: token.drop_guard(),
            extending,
        }
    }

    /// Ends it; no extension is under way any more, so that none can undo what comes next.
    pub(super) async fn end(self) {
        drop(self.stop);
        if let Err(error) = self.extending.await {
            tracing::error!(%error, "extending the lease of a message ended early");
        }
    }
}

/// Hides a received message for so many seconds from now; 0 shows it at once.
pub(super) async fn hide(
    places: &Places,
    queue: &str,
    receipt: &str,
    seconds: u32,
) -> Result<(), Trouble> {
    let hiding = places.aws.sqs.change_message_visibility();
    let hiding = hiding.queue_url(queue).receipt_handle(receipt);
    let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
    hiding.visibility_timeout(seconds).send().await?;
    Ok(())
}
