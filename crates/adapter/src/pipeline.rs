//! One event, from its arrival to what becomes of it.
//!
//! ```text
//!  event ─► params ─► preconditions ─► discover ─► plan ─► execute ─► post ─► Outcome
//!             └───────────┴────────────────┴──────────┴───────┴── failed ─► post
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use hyperfleet_broker::Event;
use hyperfleet_core::ownership::Keyring;
use hyperfleet_transport::Transport;
use serde_json::Value as Json;
use tracing::{Instrument, info_span};

use crate::calls::Api;
use crate::config::Identity;
use crate::context::{Context, Fault};
use crate::event::Subject;
use crate::metrics::AdapterMetrics;
use crate::params::{self, Sources, Stop};
use crate::plan::{Operation, Permit};
use crate::post;
use crate::preconditions::{self, Verdict};
use crate::resources::{self, Work};
use crate::task::{Destination, Resource, Task};

/// Everything one adapter needs to handle events. Shared by all its workers.
pub struct Engine {
    /// What it does.
    pub task: Arc<Task>,
    /// Who it is.
    pub identity: Identity,
    /// `config` in expressions, without secrets.
    pub config: Arc<Json>,
    /// The environment variables the task names.
    pub env: BTreeMap<String, String>,
    /// Where resources are read from and reported to.
    pub api: Arc<dyn Api>,
    /// Where objects are applied.
    pub transport: Arc<dyn Transport>,
    /// Where works are handed to.
    pub maestro: Arc<dyn Transport>,
    /// What is counted, if anything is.
    pub metrics: Option<AdapterMetrics>,
    /// What ownership of objects is signed with, if it is.
    pub keys: Option<Arc<Keyring>>,
}

/// What becomes of an event's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is dealt with: acknowledge it.
    Done(Status),
    /// Infrastructure failed: deliver it again.
    Retry {
        /// What failed.
        reason: String,
        /// Not before this time has passed.
        after: Option<Duration>,
    },
    /// It can never be handled: park it.
    Malformed(String),
}

/// How an event that is dealt with went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All was done.
    Success,
    /// Preconditions are not met, or the resource is gone.
    Skipped,
    /// Something failed that another try will not change; it is reported.
    Failed,
}

/// What happened while an event was handled.
#[derive(Debug)]
pub struct Run {
    /// What becomes of the message.
    pub outcome: Outcome,
    /// What was done, or would be, to which object and why.
    pub operations: Vec<Operation>,
    /// What was reported to the API, if a report was accepted.
    pub report: Option<Json>,
    /// What went wrong first.
    pub fault: Option<Fault>,
    /// Why nothing was applied.
    pub skipped: Option<String>,
    /// All values at the end.
    pub context: Option<Context>,
}

/// The state of a run that phases hand on.
pub(crate) struct Progress {
    pub(crate) context: Context,
    pub(crate) fault: Option<Fault>,
    pub(crate) skipped: Option<String>,
    /// An infrastructure failure: what, and when to try again.
    pub(crate) retry: Option<(String, Option<Duration>)>,
    pub(crate) work: Work,
}

impl Progress {
    pub(crate) fn new(context: Context, resources: &[Resource]) -> Self {
        Self {
            context,
            fault: None,
            skipped: None,
            retry: None,
            work: Work::none(resources),
        }
    }

    pub(crate) fn fail(&mut self, fault: Fault) {
        self.context.fail(&fault);
        self.fault.get_or_insert(fault);
    }

    pub(crate) fn retry(&mut self, reason: &str, after: Option<Duration>) {
        self.retry.get_or_insert_with(|| (reason.to_owned(), after));
    }
}

impl Engine {
    /// Where a resource is kept.
    pub(crate) fn transport_of(&self, resource: &Resource) -> &dyn Transport {
        match resource.destination {
            Destination::Kubernetes => self.transport.as_ref(),
            Destination::Maestro { .. } => self.maestro.as_ref(),
        }
    }

    /// Handles one event. `now` is the time in every expression and template of it.
    pub async fn handle(&self, event: &Event, now: DateTime<Utc>) -> Run {
        let subject = match Subject::of(event) {
            Ok(subject) => subject,
            Err(malformed) => return Run::malformed(malformed.to_string()),
        };
        let config = Arc::clone(&self.config);
        let mut context = Context::new(subject, now, &self.identity, config, &self.env);
        context.traceparent = event.traceparent().map(str::to_owned);
        let mut progress = Progress::new(context, &self.task.resources);
        if let Some(permit) = self.prepare(&mut progress).await {
            let work = resources::converge(self, &mut progress, permit);
            work.instrument(info_span!("resources")).await;
        }
        let post = post::report(self, &mut progress);
        let report = post.instrument(info_span!("post")).await;
        if let (Some(fault), Some(metrics)) = (&progress.fault, &self.metrics) {
            metrics.error(fault.phase);
        }
        progress.finish(report)
    }

    /// Says that an event was given up because it took too long.
    pub(crate) async fn report_timeout(&self, event: &Event, message: &str) {
        let Ok(subject) = Subject::of(event) else {
            return;
        };
        let config = Arc::clone(&self.config);
        let context = Context::new(subject, Utc::now(), &self.identity, config, &self.env);
        let fault = Fault {
            phase: "resources",
            step: "deadline".to_owned(),
            reason: "DeadlineExceeded".to_owned(),
            message: message.to_owned(),
        };
        if let Some(metrics) = &self.metrics {
            metrics.error("deadline");
        }
        post::report_fault(self, context, fault).await;
    }

    /// Parameters and preconditions. `None` when nothing may be done to any object.
    async fn prepare(&self, progress: &mut Progress) -> Option<Permit> {
        let api = self.api.as_ref();
        let context = &mut progress.context;
        let from = Sources {
            api,
            env: &self.env,
            transport: self.transport.as_ref(),
        };
        let params = params::resolve(&self.task, &from, context);
        if let Err(stop) = params.instrument(info_span!("params")).await {
            self.stop(progress, stop);
            return None;
        }
        let verdict = preconditions::evaluate(&self.task, api, context);
        let verdict = verdict.instrument(info_span!("preconditions")).await;
        if let Some(metrics) = &self.metrics {
            metrics.preconditions(match &verdict {
                Ok(Verdict::Met) => "met",
                Ok(Verdict::NotMet(_)) => "not_met",
                Err(_) => "error",
            });
        }
        match verdict {
            Ok(Verdict::Met) => Some(Permit::All),
            Ok(Verdict::NotMet(why)) => {
                progress.context.skip(&why);
                progress.skipped = Some(why);
                // Deletions are never held up by preconditions.
                progress.context.deleting.then_some(Permit::DeletesOnly)
            }
            Err(stop) => {
                self.stop(progress, stop);
                None
            }
        }
    }

    fn stop(&self, progress: &mut Progress, stop: Stop) {
        if stop.not_found {
            // Not a failure: it is gone, or not there yet.
            let reason = "ResourceNotFound";
            progress.context.skip(reason);
            progress.skipped = Some(format!("{reason}: {}", stop.fault.message));
            return;
        }
        progress.context.skip(&stop.fault.message);
        if stop.transient {
            progress.retry(&stop.fault.message, None);
        }
        progress.fail(stop.fault);
    }
}

impl Progress {
    fn finish(self, report: Option<Json>) -> Run {
        let outcome = match (&self.retry, &self.fault, &self.skipped) {
            (Some((reason, after)), _, _) => Outcome::Retry {
                reason: reason.clone(),
                after: *after,
            },
            (None, Some(_), _) => Outcome::Done(Status::Failed),
            (None, None, Some(_)) => Outcome::Done(Status::Skipped),
            (None, None, None) => Outcome::Done(Status::Success),
        };
        Run {
            outcome,
            operations: self.work.operations,
            report,
            fault: self.fault,
            skipped: self.skipped,
            context: Some(self.context),
        }
    }
}

impl Run {
    fn malformed(reason: String) -> Self {
        Self {
            outcome: Outcome::Malformed(reason),
            operations: Vec::new(),
            report: None,
            fault: None,
            skipped: None,
            context: None,
        }
    }
}
