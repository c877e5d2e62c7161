//! Is the process alive, and should it get work?
//!
//! ```text
//!  component ── check("database", …) ──┐
//!  Process ──── started / draining ────┤ Health ──► GET /healthz  200 always
//!                                      │        └─► GET /readyz   200 or 503, all checks named
//!                     MetricsRegistry ─┴──────────► GET /metrics
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::GoDuration;
use crate::tls::TlsConfig;

mod observed;
mod routes;
mod server;
mod token;

pub use observed::ObserverConfig;
pub use server::{ObserveError, ObserverServers};
pub use token::TokenError;

/// How long a check may take unless it says otherwise.
pub const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Where health is answered, and how long the process may take to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HealthConfig {
    /// Whether health is answered at all.
    pub enabled: bool,
    /// Address to listen on for `/healthz` and `/readyz`. Empty means all addresses.
    pub host: String,
    /// Port to listen on for `/healthz` and `/readyz`.
    pub port: u16,
    /// The path that says whether the process lives.
    pub liveness_path: String,
    /// The path that says whether it should get work.
    pub readiness_path: String,
    /// How long components may take to finish their work once the process is told to stop.
    pub shutdown_timeout: GoDuration,
    /// How what is said there is encrypted, and whether callers must show a certificate.
    pub tls: TlsConfig,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            host: "localhost".to_owned(),
            port: 8080,
            liveness_path: "/healthz".to_owned(),
            readiness_path: "/readyz".to_owned(),
            shutdown_timeout: GoDuration::from_secs(20),
            tls: TlsConfig::default(),
        }
    }
}

type CheckFuture = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

struct Check {
    run: Box<dyn Fn() -> CheckFuture + Send + Sync>,
    timeout: Duration,
}

/// The health of one process. Cloning shares it.
#[derive(Clone, Default)]
pub struct Health(Arc<Inner>);

#[derive(Default)]
struct Inner {
    stage: AtomicU8,
    checks: RwLock<BTreeMap<String, Arc<Check>>>,
    notes: RwLock<BTreeMap<String, Note>>,
    config: RwLock<Option<String>>,
}

type Note = Box<dyn Fn() -> String + Send + Sync>;

/// Where the process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Components are still being set up.
    Starting,
    /// Everything runs.
    Running,
    /// The process was told to stop.
    Draining,
}

/// What `/readyz` answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Readiness {
    /// `ok`, `not_ready` or `shutting_down`.
    pub status: &'static str,
    /// Why it is not ready, when no check says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// `ok` or the reason, by check.
    pub checks: BTreeMap<String, String>,
    /// What is worth knowing and keeps nobody from working.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl Readiness {
    /// Whether the process should get work.
    pub fn is_ready(&self) -> bool {
        self.status == "ok"
    }
}

impl Health {
    /// A process that is starting and has no checks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers `/config` with what the process runs with, as YAML. Whoever asks is shown it: no secrets.
    pub fn show_config(&self, yaml: String) {
        *self.0.config.write() = Some(yaml);
    }

    fn config(&self) -> Option<String> {
        self.0.config.read().clone()
    }

    /// Adds a check that readiness depends on. It is run at every question, so it must be cheap.
    /// The error is shown to whoever asks: no secrets. A second check of the same name replaces
    /// the first.
    pub fn check<F, Fut>(&self, name: impl Into<String>, run: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.check_within(name, CHECK_TIMEOUT, run);
    }

    /// Adds a check with a time limit of its own.
    pub fn check_within<F, Fut>(&self, name: impl Into<String>, timeout: Duration, run: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        let check = Check {
            run: Box::new(move || Box::pin(run())),
            timeout,
        };
        self.0.checks.write().insert(name.into(), Arc::new(check));
    }

    /// Adds something that readiness tells and does not depend on. No secrets.
    pub fn note(&self, name: impl Into<String>, say: impl Fn() -> String + Send + Sync + 'static) {
        self.0.notes.write().insert(name.into(), Box::new(say));
    }

    /// Every component is set up; from now on the checks decide.
    pub fn started(&self) {
        // Never back from draining.
        let _ = self
            .0
            .stage
            .compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The process was told to stop: it must get no new work.
    pub fn draining(&self) {
        self.0.stage.store(2, Ordering::SeqCst);
    }

    /// Where the process is in its life.
    pub fn stage(&self) -> Stage {
        match self.0.stage.load(Ordering::SeqCst) {
            0 => Stage::Starting,
            1 => Stage::Running,
            _ => Stage::Draining,
        }
    }

    /// Runs all checks at the same time and says whether the process should get work.
    pub async fn readiness(&self) -> Readiness {
        let checks: Vec<(String, Arc<Check>)> = self
            .0
            .checks
            .read()
            .iter()
            .map(|(name, check)| (name.clone(), Arc::clone(check)))
            .collect();
        let results = checks.into_iter().map(|(name, check)| async move {
            let outcome = match tokio::time::timeout(check.timeout, (check.run)()).await {
                Ok(Ok(())) => "ok".to_owned(),
                Ok(Err(reason)) => reason,
                Err(_) => format!("no answer within {:?}", check.timeout),
            };
            (name, outcome)
        });
        let checks: BTreeMap<_, _> = futures::future::join_all(results)
            .await
            .into_iter()
            .collect();
        let all_ok = checks.values().all(|outcome| outcome == "ok");
        let (status, reason) = match self.stage() {
            Stage::Draining => ("shutting_down", Some("the process is shutting down")),
            Stage::Starting => ("not_ready", Some("the start is not complete")),
            Stage::Running if all_ok => ("ok", None),
            Stage::Running => ("not_ready", None),
        };
        let notes = self.0.notes.read();
        Readiness {
            status,
            reason,
            checks,
            notes: notes
                .iter()
                .map(|(name, say)| (name.clone(), say()))
                .collect(),
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let checks: Vec<String> = self.0.checks.read().keys().cloned().collect();
        f.debug_struct("Health")
            .field("stage", &self.stage())
            .field("checks", &checks)
            .finish()
    }
}
