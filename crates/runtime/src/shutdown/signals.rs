//! SIGINT and SIGTERM.

use super::Shutdown;

/// The process cannot listen for signals.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen for SIGINT and SIGTERM: {0}")]
pub struct SignalError(#[from] std::io::Error);

/// Triggers `shutdown` on the first SIGINT or SIGTERM. The second one ends the process at once
/// with code 1: whoever presses Ctrl-C twice has waited long enough.
pub fn on_signals(shutdown: &Shutdown) -> Result<(), SignalError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let shutdown = shutdown.clone();
    // The only task that nobody joins: it must outlive everything that may hang.
    tokio::spawn(async move {
        let mut next = async || {
            tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            }
        };
        let signal = next().await;
        tracing::info!(signal, "stopping; a second signal ends the process at once");
        shutdown.trigger();
        let signal = next().await;
        tracing::warn!(signal, "ending at once");
        std::process::exit(1);
    });
    Ok(())
}
