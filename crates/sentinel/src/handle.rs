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

    /// Readiness follows from `api` and `broker`. Liveness does not: a restart would cure neither.
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
    }
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
