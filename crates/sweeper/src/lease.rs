//! Which of several processes sweeps: the one whose name stands in a Lease.
//!
//! There is no clock that all of them share. A holder counts as gone when its entry has not changed for as long as it
//! said, by the clock of whoever looks and from when that one first saw it. A holder itself reckons from before it asked
//! to renew, and gives up after two thirds of that time: it is never the later of the two.

use std::sync::Arc;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use hyperfleet_transport::{Failure, ObjectRef, Transport, TransportError};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Who may sweep, as of now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// Cancelled when the Lease is lost; `None` while another has it.
    pub(crate) term: Option<CancellationToken>,
    /// Who has it, if that is another.
    pub(crate) holder: Option<String>,
    /// Why that is not known.
    pub(crate) error: Option<String>,
}

/// One process that would like to sweep.
pub(crate) struct Elector {
    cluster: Arc<dyn Transport>,
    lease: ObjectRef,
    identity: String,
    duration: Duration,
    /// The entry of another holder, and when it was first seen so.
    observed: Option<(Value, Instant)>,
    /// When the renewal that holds was asked for.
    held: Option<Instant>,
    standing: watch::Sender<Standing>,
    /// Ends every term too.
    stop: CancellationToken,
}

/// What a try came to.
#[derive(Debug)]
enum Try {
    Held,
    Elsewhere(String),
    /// Somebody was faster, or nothing was learned.
    Undecided(String),
}

impl Elector {
    pub(crate) fn new(
        cluster: Arc<dyn Transport>,
        lease: ObjectRef,
        duration: Duration,
        standing: watch::Sender<Standing>,
        stop: CancellationToken,
    ) -> Elector {
        let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "sweeper".to_owned());
        Elector {
            cluster,
            lease,
            identity: format!("{host}_{}", Uuid::new_v4()),
            duration,
            observed: None,
            held: None,
            standing,
            stop,
        }
    }

    /// Tries to get the Lease and to keep it until `done`, then gives it back.
    pub(crate) async fn run(mut self, done: &CancellationToken) {
        while !done.is_cancelled() {
            self.round().await;
            let pause = self.duration / 5;
            done.run_until_cancelled(sleep(pause)).await;
        }
        self.lose(None, None);
        if let Err(error) = self.release().await {
            tracing::debug!(%error, "the lease was not given back; it runs out by itself");
        }
    }

    /// One try, no longer than a Lease that is held can be believed in.
    pub(crate) async fn round(&mut self) {
        let asked = Instant::now();
        let believed = self.held.unwrap_or(asked) + self.duration * 2 / 3;
        let tried = match timeout_at(believed, self.attempt()).await {
            Ok(tried) => tried,
            Err(_) => Try::Undecided("Kubernetes did not answer in time".to_owned()),
        };
        match tried {
            Try::Held => {
                self.held = Some(asked);
                self.standing.send_modify(|standing| {
                    let term = standing.term.take();
                    *standing = Standing {
                        term: term.or_else(|| Some(self.stop.child_token())),
                        ..Standing::default()
                    };
                });
            }
            Try::Elsewhere(holder) => self.lose(Some(holder), None),
            Try::Undecided(error) if self.held.is_none() || Instant::now() >= believed => {
                self.lose(None, Some(error));
            }
            Try::Undecided(error) => {
                self.standing
                    .send_modify(|standing| standing.error = Some(error));
            }
        }
    }

    fn lose(&mut self, holder: Option<String>, error: Option<String>) {
        self.held = None;
        self.standing.send_modify(|standing| {
            if let Some(term) = standing.term.take() {
                term.cancel();
            }
            (standing.holder, standing.error) = (holder, error);
        });
    }

    async fn attempt(&mut self) -> Try {
        let tried = match self.cluster.get(&self.lease).await {
            Ok(None) => self.create().await,
            Ok(Some(found)) => match self.other(&found) {
                Some(holder) => return Try::Elsewhere(holder),
                None => self.write(&found, &self.identity).await,
            },
            Err(error) => Err(error),
        };
        match tried {
            Ok(()) => Try::Held,
            Err(error) => Try::Undecided(error.to_string()),
        }
    }

    /// Another that has the Lease and was heard of lately enough.
    fn other(&mut self, found: &Value) -> Option<String> {
        let spec = &found["spec"];
        let holder = spec["holderIdentity"].as_str().unwrap_or_default();
        if holder.is_empty() || holder == self.identity {
            self.observed = None;
            return None;
        }
        let now = Instant::now();
        let since = match &self.observed {
            Some((seen, since)) if seen == spec => *since,
            _ => {
                self.observed = Some((spec.clone(), now));
                now
            }
        };
        let said = spec["leaseDurationSeconds"].as_u64();
        let patience = said.map_or(self.duration, Duration::from_secs);
        (now.duration_since(since) < patience).then(|| holder.to_owned())
    }

    async fn create(&self) -> Result<(), TransportError> {
        let lease = &self.lease;
        let now = now();
        let object = json!({
            "apiVersion": lease.kind.api_version,
            "kind": lease.kind.kind,
            "metadata": {
                "name": lease.name,
                "namespace": lease.namespace,
                "labels": {"app.kubernetes.io/part-of": "hyperfleet"},
            },
            "spec": {
                "holderIdentity": self.identity,
                "leaseDurationSeconds": self.duration.as_secs(),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": 0,
            },
        });
        self.cluster.create(&object).await.map(|_| ())
    }

    /// Puts a holder into the Lease, if it is still the version that was read.
    async fn write(&self, found: &Value, holder: &str) -> Result<(), TransportError> {
        let now = now();
        let mut spec = json!({
            "holderIdentity": holder,
            "leaseDurationSeconds": self.duration.as_secs(),
            "renewTime": now,
        });
        if found["spec"]["holderIdentity"] != holder {
            let before = found["spec"]["leaseTransitions"].as_i64().unwrap_or(0);
            spec["leaseTransitions"] = json!(before.saturating_add(1).min(i32::MAX.into()));
            spec["acquireTime"] = json!(now);
        }
        let version = &found["metadata"]["resourceVersion"];
        let patch = json!({"metadata": {"resourceVersion": version}, "spec": spec});
        self.cluster.patch(&self.lease, &patch).await.map(|_| ())
    }

    async fn release(&self) -> Result<(), TransportError> {
        match self.cluster.get(&self.lease).await? {
            Some(found) if found["spec"]["holderIdentity"] == self.identity.as_str() => {
                match self.write(&found, "").await {
                    // Somebody else has it by now.
                    Err(error) if matches!(error.failure, Failure::Conflict { .. }) => Ok(()),
                    written => written,
                }
            }
            _ => Ok(()),
        }
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}
