//! Putting the parts together: one loop and one source per kind.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hyperfleet_broker::Publisher;
use hyperfleet_client::{Client, Follow};
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_runtime::secret;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::engine::{Cycle, Engine};
use crate::follow::Follower;
use crate::handle::{Handle, KindHandle, KindStatus, Question};
use crate::message::Message;
use crate::metrics::SentinelMetrics;
use crate::options::{KindPlan, Options, OptionsError};
use crate::poll::Poller;
use crate::publish::InFlight;
use crate::table::Table;

/// News that wait while the loop is busy; a source that is faster waits too.
const NEWS: usize = 2048;

/// A Sentinel that is set up and not yet running.
pub struct Sentinel {
    kinds: Vec<Kind>,
    handle: Handle,
}

struct Kind {
    engine: Engine,
    source: Source,
    news: mpsc::Receiver<Message>,
    questions: mpsc::Receiver<Question>,
}

/// Where news of a kind come from.
struct Source {
    /// None when the feed is not wanted.
    follower: Option<Follower>,
    poller: Poller,
}

impl Source {
    async fn run(self) {
        match self.follower {
            Some(follower) => follower.run(self.poller).await,
            None => self.poller.passes().await,
        }
    }
}

/// Why a Sentinel cannot be set up, or ended.
#[derive(Debug, thiserror::Error)]
pub enum SentinelError {
    #[error("sentinel configuration: {0}")]
    Options(#[from] OptionsError),
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    #[error("a part of the sentinel ended by itself: {0}")]
    Ended(String),
}

impl Sentinel {
    /// Checks the options and sets everything up. Nothing is asked or sent before [`Sentinel::run`].
    pub fn new(
        options: &Options,
        client: Client,
        publisher: Arc<dyn Publisher>,
        metrics: &Metrics,
        clock: Clock,
    ) -> Result<Sentinel, SentinelError> {
        let plans = options.plans()?;
        if options.debug_config {
            let mut shown = serde_json::to_value(options).unwrap_or_default();
            secret::redact(&mut shown);
            tracing::info!(config = %shown, "effective configuration");
        }
        let metrics = SentinelMetrics::register(metrics)?;
        let mut kinds = Vec::new();
        let mut handles = Vec::new();
        for plan in plans {
            let (kind, handle) = kind(plan, &client, &publisher, &metrics, &clock);
            kinds.push(kind);
            handles.push(handle);
        }
        Ok(Sentinel {
            kinds,
            handle: Handle {
                kinds: handles,
                publisher,
            },
        })
    }

    /// To ask it things while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs until cancelled; returns when the events under way are settled. The publisher stays open.
    pub async fn run(self, cancel: CancellationToken) -> Result<(), SentinelError> {
        // Its own: a part that ends must take the others along, and nobody else.
        let cancel = cancel.child_token();
        let mut tasks = JoinSet::new();
        for kind in self.kinds {
            let stop = cancel.clone();
            tasks.spawn(async move {
                stop.run_until_cancelled(kind.source.run()).await;
            });
            tasks.spawn(kind.engine.run(kind.news, kind.questions, cancel.clone()));
        }
        let mut failure = None;
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                failure.get_or_insert_with(|| error.to_string());
            } else if !cancel.is_cancelled() {
                failure.get_or_insert_with(|| "its work was not done".to_owned());
            }
            // One part alone is of no use.
            cancel.cancel();
        }
        failure.map_or(Ok(()), |reason| Err(SentinelError::Ended(reason)))
    }
}

fn kind(
    plan: KindPlan,
    client: &Client,
    publisher: &Arc<dyn Publisher>,
    metrics: &SentinelMetrics,
    clock: &Clock,
) -> (Kind, KindHandle) {
    let (status, shown) = watch::channel(KindStatus {
        resource_type: plan.resource_type.clone(),
        passes: 0,
        resources: 0,
        pending: 0,
        feed: false,
        api_error: None,
    });
    let (tell, news) = mpsc::channel(NEWS);
    let (ask, questions) = mpsc::channel(16);
    let kind = Kind {
        source: Source {
            follower: plan.full_pass.map(|full_pass| Follower {
                client: client.clone(),
                clock: clock.clone(),
                follow: Follow {
                    plural: plan.resource_type.clone(),
                    search: plan.query.search.clone(),
                    fields: plan.projection.fields(),
                },
                selector: plan.labels.clone(),
                full_pass,
                news: tell.clone(),
                fetched: AtomicUsize::new(0),
            }),
            poller: Poller {
                client: client.clone(),
                clock: clock.clone(),
                resource_type: plan.resource_type.clone(),
                query: plan.query,
                selector: plan.labels,
                interval: plan.poll_interval,
                news: tell,
            },
        },
        engine: Engine {
            clock: clock.clone(),
            decision: plan.decision,
            form: plan.form,
            projection: plan.projection,
            table: Table::default(),
            queue: VecDeque::new(),
            in_flight: InFlight::new(Arc::clone(publisher), &plan.topic, plan.max_in_flight),
            metrics: metrics.of(&plan.resource_type, &plan.selector),
            status,
            cycle: Cycle::default(),
        },
        news,
        questions,
    };
    let handle = KindHandle {
        status: shown,
        questions: ask,
    };
    (kind, handle)
}
