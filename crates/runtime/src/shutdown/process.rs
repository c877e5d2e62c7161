//! Running components together, and ending them together.

use std::collections::HashMap;
use std::future::Future;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout, timeout_at};
use tracing::{Instrument, Span};

use super::Shutdown;
use crate::health::Health;

/// How long aborted tasks, services and observers get for their last step.
const LAST_STEP: Duration = Duration::from_secs(2);

/// The span around a component: it names the component on every log line. It lives as long as the
/// process, so it is no part of any trace.
pub(crate) const COMPONENT_SPAN: &str = "hyperfleet.component";

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Why a process ends with an error.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A component returned an error.
    #[error("{component} failed: {source}")]
    Failed {
        /// Which.
        component: String,
        /// Its error.
        source: Failure,
    },
    /// A component panicked: a bug.
    #[error("{component} panicked: {message}")]
    Panicked {
        /// Which.
        component: String,
        /// What it said.
        message: String,
    },
}

/// The components of one process.
#[derive(Debug)]
pub struct Process {
    health: Health,
    shutdown: Shutdown,
    services_stop: Shutdown,
    observers_stop: Shutdown,
    shutdown_timeout: Duration,
    components: Group,
    services: Group,
    observers: Group,
}

impl Process {
    /// A process without components. It stops when `shutdown` is triggered, and reports through
    /// `health`.
    pub fn new(shutdown: Shutdown, health: Health, shutdown_timeout: Duration) -> Self {
        Self {
            health,
            shutdown,
            services_stop: Shutdown::new(),
            observers_stop: Shutdown::new(),
            shutdown_timeout,
            components: Group::default(),
            services: Group::default(),
            observers: Group::default(),
        }
    }

    /// Starts a component. It gets a node of the cancellation tree: it returns soon after that is
    /// told to stop, and tasks it spawns there are joined with it. Returning an error stops the
    /// whole process; returning without one does not. `name` is the `component` of its log lines.
    pub fn component<F, Fut, E>(&mut self, name: impl Into<String>, run: F)
    where
        F: FnOnce(Shutdown) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Failure>,
    {
        let name = name.into();
        let span = component_span(&name);
        self.components
            .start(name, span, self.shutdown.child(), run);
    }

    /// Starts a component that the others of this process call: it is told to stop once they have
    /// ended, so that their last calls are answered.
    pub fn service<F, Fut, E>(&mut self, name: impl Into<String>, run: F)
    where
        F: FnOnce(Shutdown) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Failure>,
    {
        let name = name.into();
        let span = component_span(&name);
        self.services
            .start(name, span, self.services_stop.child(), run);
    }

    /// Starts a component that is told to stop only after all others have: the health and metrics
    /// servers, the exporter of traces.
    pub fn observer<F, Fut, E>(&mut self, name: impl Into<String>, run: F)
    where
        F: FnOnce(Shutdown) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Failure>,
    {
        let node = self.observers_stop.child();
        self.observers.start(name.into(), Span::none(), node, run);
    }

    /// Marks the process as started and waits for its end: the shutdown is triggered, a component
    /// fails, or all have returned. Components that overrun the time limit are named in the log
    /// and cut off; that is no error, because everything here can be killed at any moment.
    pub async fn run(mut self) -> Result<(), RunError> {
        self.health.started();
        let failure = tokio::select! {
            () = self.shutdown.requested() => None,
            ended = self.components.until_failure() => ended,
            Some(failure) = self.services.until_failure() => Some(failure),
            Some(failure) = self.observers.until_failure() => Some(failure),
        };
        self.health.draining();
        self.shutdown.trigger();
        let deadline = Instant::now() + self.shutdown_timeout;
        let late = self.components.finish(deadline).await;
        self.services_stop.trigger();
        let one_step = Instant::now() + LAST_STEP;
        let later = self.services.finish(deadline.max(one_step)).await;
        self.observers_stop.trigger();
        let last = self.observers.finish(Instant::now() + LAST_STEP).await;
        failure.or(late).or(later).or(last).map_or(Ok(()), Err)
    }
}

fn component_span(name: &str) -> Span {
    tracing::info_span!(COMPONENT_SPAN, component = %name)
}

#[derive(Debug, Default)]
struct Group {
    tasks: JoinSet<Result<(), Failure>>,
    names: HashMap<Id, String>,
}

impl Group {
    fn start<F, Fut, E>(&mut self, name: String, span: Span, node: Shutdown, run: F)
    where
        F: FnOnce(Shutdown) -> Fut,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Failure>,
    {
        let work = span.in_scope(|| run(node.clone()));
        let life = async move {
            let outcome = work.await.map_err(Into::into);
            // Whatever the component started ends with it, however it ended.
            node.trigger();
            node.joined().await;
            outcome
        };
        let task = self.tasks.spawn(life.instrument(span));
        self.names.insert(task.id(), name);
    }

    /// Returns with the first failure, or with nothing once all have ended well.
    async fn until_failure(&mut self) -> Option<RunError> {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let failure = self.ended(ended);
            if failure.is_some() {
                return failure;
            }
        }
        None
    }

    /// Waits for all until `deadline`, then cuts off the rest. Returns the first failure.
    async fn finish(&mut self, deadline: Instant) -> Option<RunError> {
        let mut first = None;
        while let Ok(Some(ended)) = timeout_at(deadline, self.tasks.join_next_with_id()).await {
            let failure = self.ended(ended);
            first = first.or(failure);
        }
        if !self.tasks.is_empty() {
            let mut unfinished: Vec<&str> = self.names.values().map(String::as_str).collect();
            unfinished.sort_unstable();
            tracing::warn!(
                components = unfinished.join(", "),
                "cutting off what did not finish within the shutdown timeout"
            );
            // A task that blocks its thread cannot even be cut off; it must not hold up the end.
            let _ = timeout(LAST_STEP, self.tasks.shutdown()).await;
        }
        first
    }

    fn ended(&mut self, ended: Result<(Id, Result<(), Failure>), JoinError>) -> Option<RunError> {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, Ok(outcome)),
            Err(error) => (error.id(), Err(error)),
        };
        let component = self.names.remove(&id).unwrap_or_default();
        match outcome {
            Ok(Ok(())) => {
                tracing::debug!(component, "stopped");
                None
            }
            Ok(Err(source)) => Some(RunError::Failed { component, source }),
            Err(error) if error.is_cancelled() => None,
            Err(error) => Some(RunError::Panicked {
                component,
                message: panic_message(error),
            }),
        }
    }
}

fn panic_message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned()),
        Err(error) => error.to_string(),
    }
}
