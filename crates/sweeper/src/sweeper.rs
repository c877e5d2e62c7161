//! Passes, again and again, by one process at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::Utc;
use hyperfleet_client::Client;
use hyperfleet_core::audit_note::AuditNote;
use hyperfleet_core::ownership::Keyring;
use hyperfleet_runtime::health::Health;
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_transport::{
    Alongside, ConnectError, KubernetesTransport, MaestroError, MaestroTransport, ObjectKind,
    OwnershipError, Survey, pod_namespace,
};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::lease::{Elector, Standing};
use crate::metrics::SweeperMetrics;
use crate::options::{Options, OptionsError};
use crate::pass::{Limits, Pass};
use crate::report::{Report, Row};

/// Why there is no sweeper.
#[derive(Debug, thiserror::Error)]
pub enum SweeperError {
    /// The options cannot be used.
    #[error("sweeper configuration: {0}")]
    Options(#[from] OptionsError),
    /// The keys cannot be read.
    #[error("sweeper configuration: {0}")]
    Ownership(#[from] OwnershipError),
    /// Kubernetes does not answer.
    #[error(transparent)]
    Kubernetes(#[from] Box<ConnectError>),
    /// Maestro does not answer.
    #[error(transparent)]
    Maestro(#[from] MaestroError),
    /// The metrics are registered already.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}

/// A sweeper that is set up.
pub struct Sweeper {
    options: Options,
    limits: Limits,
    cluster: Arc<dyn Survey>,
    client: Client,
    keys: Option<Keyring>,
    metrics: Option<SweeperMetrics>,
    /// What the API could not be told yet, from pass to pass.
    unrecorded: Mutex<VecDeque<AuditNote>>,
    last: watch::Sender<Option<Report>>,
    standing: watch::Sender<Standing>,
}

/// A running sweeper, seen from outside. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    last: watch::Receiver<Option<Report>>,
    standing: watch::Receiver<Standing>,
}

impl Sweeper {
    /// Checks the options, reads the keys, and connects to Kubernetes, and to Maestro if it is configured.
    pub async fn connect(
        options: Options,
        metrics: Option<&Metrics>,
    ) -> Result<Sweeper, SweeperError> {
        options.check()?;
        let cluster = KubernetesTransport::connect(options.kubernetes())
            .await
            .map_err(Box::new)?;
        let mut cluster: Arc<dyn Survey> = Arc::new(cluster);
        if let Some(maestro) = options.maestro()? {
            let maestro = MaestroTransport::connect(maestro).await?;
            cluster = Arc::new(Alongside::new(cluster, Arc::new(maestro)));
        }
        Sweeper::new(options, cluster, metrics)
    }

    /// As [`connect`](Self::connect), with a cluster of the caller's.
    pub fn new(
        options: Options,
        cluster: Arc<dyn Survey>,
        metrics: Option<&Metrics>,
    ) -> Result<Sweeper, SweeperError> {
        options.check()?;
        let keys = options.ownership.load()?;
        if keys.is_none() {
            tracing::warn!(
                "ownership.key_file is not set: nothing can be proven to be ours, and nothing is deleted"
            );
        }
        Ok(Sweeper {
            limits: Limits::of(&options),
            client: options.client()?,
            keys,
            cluster,
            metrics: metrics.map(SweeperMetrics::register).transpose()?,
            options,
            unrecorded: Mutex::default(),
            last: watch::Sender::default(),
            standing: watch::Sender::default(),
        })
    }

    /// To ask it things while it runs.
    pub fn handle(&self) -> Handle {
        Handle {
            last: self.last.subscribe(),
            standing: self.standing.subscribe(),
        }
    }

    /// One pass. `tell` gets every object once; what is already being deleted when `stop` comes is finished.
    pub async fn pass(
        &self,
        stop: &CancellationToken,
        tell: &mut (dyn FnMut(Row) + Send + Sync),
    ) -> Report {
        let started = Instant::now();
        let pass = Pass::new(
            &*self.cluster,
            self.keys.as_ref(),
            &self.limits,
            self.client.clone(),
            std::mem::take(&mut *self.unrecorded()),
            stop,
            tell,
        );
        let (report, unrecorded) = pass.run().await;
        *self.unrecorded() = unrecorded;
        if let Some(metrics) = &self.metrics {
            metrics.passed(&report, started.elapsed(), Utc::now());
        }
        self.last.send_replace(Some(report.clone()));
        report
    }

    /// Passes at every interval while this process holds the Lease, until told to stop.
    pub async fn serve(self, stop: CancellationToken) {
        let lease = &self.options.lease;
        let namespace = match &lease.namespace {
            Some(namespace) => namespace.clone(),
            None => pod_namespace().await,
        };
        let elector = Elector::new(
            Arc::clone(&self.cluster) as _,
            ObjectKind::new("coordination.k8s.io/v1", "Lease").named(Some(&namespace), &lease.name),
            lease.duration.get(),
            self.standing.clone(),
            stop.clone(),
        );
        let done = CancellationToken::new();
        let work = async {
            self.terms(&stop).await;
            done.cancel();
        };
        tokio::join!(elector.run(&done), work);
    }

    async fn terms(&self, stop: &CancellationToken) {
        let mut standing = self.standing.subscribe();
        while let Some(term) = next_term(&mut standing, stop).await {
            tracing::info!("this process sweeps");
            self.leads(true);
            while !term.is_cancelled() {
                let report = self.pass(&term, &mut |_| {}).await;
                tracing::info!(complete = report.complete, "{}", report.summary());
                let pause = sleep(self.options.interval.get());
                term.run_until_cancelled(pause).await;
            }
            self.leads(false);
            tracing::info!("this process no longer sweeps");
        }
    }

    fn unrecorded(&self) -> MutexGuard<'_, VecDeque<AuditNote>> {
        self.unrecorded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn leads(&self, leads: bool) {
        if let Some(metrics) = &self.metrics {
            metrics.leads(leads);
        }
    }
}

/// Waits for the Lease; `None` when told to stop first.
async fn next_term(
    standing: &mut watch::Receiver<Standing>,
    stop: &CancellationToken,
) -> Option<CancellationToken> {
    let is_current = |standing: &Standing| {
        let term = standing.term.as_ref();
        term.is_some_and(|term| !term.is_cancelled())
    };
    let held = stop
        .run_until_cancelled(standing.wait_for(is_current))
        .await?;
    let term = held.ok()?.term.clone();
    term.filter(|_| !stop.is_cancelled())
}

impl Handle {
    /// The last pass, once there was one.
    pub fn last(&self) -> Option<Report> {
        self.last.borrow().clone()
    }

    /// Whether this process is the one that sweeps.
    pub fn leads(&self) -> bool {
        self.standing.borrow().term.is_some()
    }

    /// Waits for the end of a pass that fits.
    pub async fn passed(&mut self, fits: impl Fn(&Report) -> bool) -> Option<Report> {
        let fits = |last: &Option<Report>| last.as_ref().is_some_and(&fits);
        self.last.wait_for(fits).await.ok()?.clone()
    }

    /// Readiness follows from the Lease: one that cannot even see who sweeps is of no use. What a pass could not do is a
    /// note, for a restart would cure none of it.
    pub fn register_checks(&self, health: &Health) {
        let standing = self.standing.clone();
        health.check("sweeper", move || {
            let error = standing.borrow().error.clone();
            async move { error.map_or(Ok(()), Err) }
        });
        let handle = self.clone();
        health.note("sweeper", move || handle.say());
    }

    fn say(&self) -> String {
        let standing = self.standing.borrow();
        let who = match (&standing.term, &standing.holder) {
            (Some(_), _) => "sweeps".to_owned(),
            (None, Some(holder)) => format!("{holder} sweeps"),
            (None, None) => "nobody is known to sweep".to_owned(),
        };
        match &*self.last.borrow() {
            Some(report) => {
                let problems = report.problems.iter().take(3);
                let problems: String = problems.map(|problem| format!("; {problem}")).collect();
                format!("{who}; {}{problems}", report.summary())
            }
            None => who,
        }
    }
}
