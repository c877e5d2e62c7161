//! A server whose owner was killed goes on alone; it is stopped before the next one starts.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::PrivateServerError;

/// Disconnects clients and stops, without waiting for them.
pub(super) const FAST_SHUTDOWN: &str = "-INT";
const PATIENCE: Duration = Duration::from_secs(20);

/// Stops the server that runs in this cluster, if one does.
pub(super) async fn stop(cluster: &Path) -> Result<(), PrivateServerError> {
    let Some(pid) = running(cluster).await else {
        return Ok(());
    };
    tracing::info!(
        pid,
        "stopping the PostgreSQL that a killed process left behind"
    );
    signal(pid, FAST_SHUTDOWN).await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while running(cluster).await == Some(pid) {
        if tokio::time::Instant::now() >= deadline {
            return Err(PrivateServerError::Leftover { pid });
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

/// The process that `postmaster.pid` names, if it lives and is a PostgreSQL server: ids are used again.
async fn running(cluster: &Path) -> Option<i32> {
    let text = tokio::fs::read_to_string(cluster.join("postmaster.pid"))
        .await
        .ok()?;
    let pid: i32 = text.lines().next()?.trim().parse().ok()?;
    let command = tokio::fs::read(format!("/proc/{pid}/cmdline")).await.ok()?;
    let program = command.split(|byte| *byte == 0).next()?;
    String::from_utf8_lossy(program)
        .ends_with("postgres")
        .then_some(pid)
}

/// Sends a signal through `kill`, which needs no unsafe code.
pub(super) async fn signal(pid: i32, signal: &str) {
    let sent = tokio::process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .stderr(Stdio::null())
        .status()
        .await;
    if let Err(error) = sent {
        tracing::warn!(%error, pid, "cannot run `kill`");
    }
}

/// The same where nothing can be awaited.
pub(super) fn signal_now(pid: i32, signal: &str) {
    let sent = std::process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    if let Err(error) = sent {
        tracing::warn!(%error, pid, "cannot run `kill`");
    }
}
