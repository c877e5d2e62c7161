//! Putting the parts together: one loop and one source per kind.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hyperfleet_broker::Publisher;
use hyperfleet_client::{Client, Follow};
use hyperfleet_core::shard::Shards;
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_runtime::secret;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::backlog::Backlog;
use crate::clock::Clock;
use crate::engine::{Cycle, Engine};
use crate::follow::Follower;
use crate::handle::{Handle, KindHandle, KindStatus, Question};
use crate::lease::Keeper;
use crate::message::Message;
use crate::metrics::SentinelMetrics;
use crate::options::{KindPlan, Options, OptionsError, Replicas};
use crate::poll::Poller;
use crate::publish::InFlight;
use crate::rate::Rate;
use crate::replicas::{ApiRegistrar, Registrar};
use crate::table::Table;

/// News that wait while the loop is busy; a source that is faster waits too.
const NEWS: usize = 2048;

/// A Sentinel that is set up and not yet running.
pub struct Sentinel {
    kinds: Vec<Kind>,
    handle: Handle,
    /// The options want replicas to meet where only the caller can lead them.
    homeless: bool,
}

struct Kind {
    engine: Engine,
    source: Source,
    keeper: Keeper,
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
    #[error("sentinel.replicas is kubernetes, and this process is connected to none")]
    NoRegistrar,
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
        let registrar: Arc<dyn Registrar> = Arc::new(ApiRegistrar {
            client: client.clone(),
            timeout: options.sentinel.lease_duration.get() / 3,
        });
        let parts = Parts {
            client,
            publisher: Arc::clone(&publisher),
            registrar,
            metrics,
            clock,
        };
        let shares = plans.iter().any(|plan| plan.announcement.shares);
        let mut kinds = Vec::new();
        let mut handles = Vec::new();
        for plan in plans {
            let (kind, handle) = kind(plan, &parts);
            kinds.push(kind);
            handles.push(handle);
        }
        Ok(Sentinel {
            kinds,
            homeless: options.sentinel.replicas == Replicas::Kubernetes,
            handle: Handle {
                kinds: handles,
                publisher,
                shares,
            },
        })
    }

    /// Lets Sentinels find each other elsewhere than through the API.
    #[must_use]
    pub fn with_registrar(mut self, registrar: &Arc<dyn Registrar>) -> Sentinel {
        self.homeless = false;
        for kind in &mut self.kinds {
            kind.keeper.meet_at(Arc::clone(registrar));
        }
        self
    }

    /// To ask it things while it runs.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs until cancelled; returns when replicas had time to take over and the events under way are settled. The
    /// publisher stays open.
    pub async fn run(self, cancel: CancellationToken) -> Result<(), SentinelError> {
        if self.homeless {
            return Err(SentinelError::NoRegistrar);
        }
        // Its own: a part that ends must take the others along, and nobody else.
        let leave = cancel.child_token();
        let stop = CancellationToken::new();
        let (mut tasks, mut keepers) = (JoinSet::new(), JoinSet::new());
        for Kind {
            engine,
            source,
            mut keeper,
            news,
            questions,
        } in self.kinds
        {
            let (leave, ended) = (leave.clone(), stop.clone());
            keepers.spawn(async move {
                keeper.run(&leave).await;
                keeper
            });
            tasks.spawn(async move {
                ended.run_until_cancelled(source.run()).await;
            });
            tasks.spawn(engine.run(news, questions, stop.clone()));
        }
        let mut failure = None;
        let mut gone = Vec::new();
        loop {
            tokio::select! {
                Some(kept) = keepers.join_next() => {
                    match kept {
                        Ok(keeper) => gone.push(keeper),
                        Err(error) => { failure.get_or_insert_with(|| error.to_string()); }
                    }
                    if keepers.is_empty() || failure.is_some() {
                        stop.cancel();
                    }
                }
                Some(ended) = tasks.join_next() => {
                    if let Err(error) = ended {
                        failure.get_or_insert_with(|| error.to_string());
                    } else if !stop.is_cancelled() {
                        failure.get_or_insert_with(|| "its work was not done".to_owned());
                    }
                    // One part alone is of no use.
                    stop.cancel();
                    leave.cancel();
                }
                else => break,
            }
        }
        // Only now is nothing sent any more.
        futures::future::join_all(gone.into_iter().map(Keeper::withdraw)).await;
        failure.map_or(Ok(()), |reason| Err(SentinelError::Ended(reason)))
    }
}

/// What all kinds share.
struct Parts {
    client: Client,
    publisher: Arc<dyn Publisher>,
    registrar: Arc<dyn Registrar>,
    metrics: SentinelMetrics,
    clock: Clock,
}

fn kind(plan: KindPlan, parts: &Parts) -> (Kind, KindHandle) {
    let Parts {
        client,
        publisher,
        registrar,
        metrics,
        clock,
    } = parts;
    let (status, shown) = watch::channel(KindStatus {
        resource_type: plan.resource_type.clone(),
        passes: 0,
        resources: 0,
        pending: 0,
        feed: false,
        api_error: None,
        replicas: 1,
        shards: if plan.announcement.shares {
            0
        } else {
            Shards::COUNT
        },
        overlaps: Vec::new(),
        lease_error: None,
    });
    let (keeper, lease) = Keeper::new(
        Arc::clone(registrar),
        plan.announcement,
        status.clone(),
        metrics.sharing.of(&plan.resource_type, &plan.selector),
    );
    let held = lease.borrow().at(Instant::now());
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
                    order: None,
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
            backlog: Backlog::default(),
            rate: Rate::new(plan.max_events_per_second, Instant::now()),
            held,
            lease,
            noticed: (clock.now(), Instant::now()),
            in_flight: InFlight::new(Arc::clone(publisher), &plan.topic, plan.max_in_flight),
            metrics: metrics.of(&plan.resource_type, &plan.selector),
            status,
            cycle: Cycle::default(),
        },
        keeper,
        news,
        questions,
    };
    let handle = KindHandle {
        status: shown,
        questions: ask,
    };
    (kind, handle)
}
