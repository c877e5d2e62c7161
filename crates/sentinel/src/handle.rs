//! What others may ask a running Sentinel.

use std::sync::Arc;

use hyperfleet_broker::Publisher;
use hyperfleet_core::due::{Published, View};
use hyperfleet_core::time::Time;
use hyperfleet_runtime::health::Health;
use tokio::sync::{mpsc, oneshot, watch};

/// A running Sentinel, seen from outside. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) kinds: Vec<KindHandle>,
    pub(crate) publisher: Arc<dyn Publisher>,
    /// Whether the work is shared with replicas.
    pub(crate) shares: bool,
}

#[derive(Clone)]
pub(crate) struct KindHandle {
    pub(crate) status: watch::Receiver<KindStatus>,
    pub(crate) questions: mpsc::Sender<Question>,
}

/// How one kind stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindStatus {
    pub resource_type: String,
    /// Complete passes over the list so far.
    pub passes: u32,
    /// Resources that are watched.
    pub resources: usize,
    /// Events that are due and not yet confirmed.
    pub pending: usize,
    /// Whether changes are told as they happen.
    pub feed: bool,
    /// Why the API cannot be asked, as of the last try.
    pub api_error: Option<String>,
    /// How many share the work, as of the last time they were counted.
    pub replicas: u32,
    /// How many of the 64 shards this one sends for.
    pub shards: u32,
    /// Others that may send events about the same resources, by name and selector.
    pub overlaps: Vec<String>,
    /// Why this Sentinel could not announce itself, as of the last try.
    pub lease_error: Option<String>,
}

/// Why a resource was, or was not, looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    pub view: View,
    pub published: Option<Published>,
    pub next: NextEvent,
}

/// When the next event comes.
#[derive(Debug, Clone, PartialEq)]
pub enum NextEvent {
    /// It is decided again at this time.
    At(Time),
    /// It is due and waits for its turn, or for the broker.
    Queued,
    /// It is on its way.
    InFlight,
    /// Another replica takes care of it.
    Elsewhere,
}

pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) answer: oneshot::Sender<Option<Explanation>>,
}

impl Handle {
    /// How every kind stands, in the order of the configuration.
    pub fn status(&self) -> Vec<KindStatus> {
        self.kinds
            .iter()
            .map(|kind| kind.status.borrow().clone())
            .collect()
    }

    /// What is known about a resource and when its next event comes; `None` if it is not watched
    /// or the Sentinel has stopped.
    pub async fn explain(&self, resource_type: &str, id: &str) -> Option<Explanation> {
        for kind in &self.kinds {
            if kind.status.borrow().resource_type != resource_type {
                continue;
            }
            let (answer, answered) = oneshot::channel();
            let question = Question {
                id: id.to_owned(),
                answer,
            };
            if kind.questions.send(question).await.is_ok()
                && let Ok(Some(explanation)) = answered.await
            {
                return Some(explanation);
            }
        }
        None
    }

    /// Readiness follows from `api`, `broker` and, where work is shared, `replicas`. Liveness does not: a restart would
    /// cure none of them. Others that watch the same are a note: it keeps nobody from working.
    pub fn register_checks(&self, health: &Health) {
        let kinds = self.kinds.clone();
        health.check("api", move || {
            let kinds = kinds.clone();
            async move { api(&kinds) }
        });
        let publisher = Arc::clone(&self.publisher);
        health.check("broker", move || {
            let publisher = Arc::clone(&publisher);
            async move { publisher.health().await }
        });
        if self.shares {
            let kinds = self.kinds.clone();
            health.check("replicas", move || {
                let failed = kinds
                    .iter()
                    .find_map(|kind| kind.status.borrow().lease_error.clone());
                async move { failed.map_or(Ok(()), Err) }
            });
        }
        let kinds = self.kinds.clone();
        health.note("sentinels", move || {
            kinds.iter().map(sentinels).collect::<Vec<_>>().join("; ")
        });
    }
}

fn sentinels(kind: &KindHandle) -> String {
    let status = kind.status.borrow();
    let KindStatus {
        resource_type,
        shards,
        replicas,
        ..
    } = &*status;
    let overlaps = match status.overlaps.as_slice() {
        [] => String::new(),
        others => format!("; overlaps with {}", others.join(", ")),
    };
    format!("{resource_type}: {shards} of 64 shards, {replicas} replicas{overlaps}")
}

fn api(kinds: &[KindHandle]) -> Result<(), String> {
    for kind in kinds {
        let status = kind.status.borrow();
        if let Some(error) = &status.api_error {
            return Err(error.clone());
        }
        if status.passes == 0 {
            return Err(format!("{} have not been read yet", status.resource_type));
        }
    }
    Ok(())
}
