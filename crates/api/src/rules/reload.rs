//! Reading the rules again when their file changes.
//!
//! The content is compared, not a time stamp: a mounted ConfigMap is replaced by moving a link.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_runtime::shutdown::Shutdown;
use prometheus::{Gauge, IntGauge};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::RulesInForce;
use super::file::RulesFile;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(2);

/// Replaces the rules in force when their file says other ones.
#[derive(Debug)]
pub(crate) struct Reload {
    rules: RulesInForce,
    file: RulesFile,
    valid: IntGauge,
    last_reload: Gauge,
    /// What `/readyz` says.
    note: Arc<ArcSwap<String>>,
    /// What was read last, good or bad.
    seen: Result<String, String>,
}

impl Reload {
    /// `None` when the rules come from no file. Registers the metrics and the note on readiness.
    pub(crate) fn new(
        rules: &RulesInForce,
        metrics: &Metrics,
        health: &Health,
    ) -> Result<Option<Reload>, MetricsError> {
        let Some(file) = rules.0.file.clone() else {
            return Ok(None);
        };
        let note = Arc::new(ArcSwap::from_pointee("ok".to_owned()));
        let shown = note.clone();
        health.note("aggregation", move || shown.load().to_string());
        let mut reload = Reload {
            rules: rules.clone(),
            seen: file.text().map_err(|error| error.to_string()),
            file,
            valid: metrics.int_gauge(
                "aggregation_config_valid",
                "Whether the aggregation rules in force are those of the file (1) or older ones (0).",
            )?,
            last_reload: metrics.gauge(
                "aggregation_config_last_reload_timestamp_seconds",
                "When the aggregation rules in force were taken from the file.",
            )?,
            note,
        };
        reload.taken();
        Ok(Some(reload))
    }

    /// Until told to stop.
    pub(crate) async fn run(mut self, shutdown: Shutdown) {
        let mut hangup = signal(SignalKind::hangup())
            .inspect_err(
                |error| tracing::warn!(%error, "SIGHUP cannot be heard; the file is still watched"),
            )
            .ok();
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(EVERY) => self.look(),
                () = heard(&mut hangup) => {
                    tracing::info!("SIGHUP: reading the aggregation rules again");
                    self.look();
                }
            }
        }
    }

    /// Reads the file, and acts if it is another one than before.
    fn look(&mut self) {
        let text = self.file.text().map_err(|error| error.to_string());
        if text == self.seen {
            return;
        }
        self.seen = text;
        let read = match &self.seen {
            Ok(text) => self.file.read(text).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        match read {
            Ok(read) => {
                for warning in &read.warnings {
                    tracing::warn!("{warning}");
                }
                self.rules.replace(read.book, read.fingerprint);
                self.taken();
                tracing::info!(file = %self.file.path().display(), "new aggregation rules are in force");
            }
            Err(error) => {
                self.valid.set(0);
                let note = format!("older rules are in force: {error}");
                self.note.store(Arc::new(note));
                tracing::error!("the aggregation rules stay as they are: {error}");
            }
        }
    }

    fn taken(&mut self) {
        self.valid.set(1);
        let now = chrono::Utc::now();
        self.last_reload.set(now.timestamp_millis() as f64 / 1000.0);
        self.note.store(Arc::new("ok".to_owned()));
    }
}

/// Waits for ever when the signal cannot be heard.
async fn heard(hangup: &mut Option<Signal>) {
    if let Some(signal) = hangup
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
