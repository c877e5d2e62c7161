//! One reader of the change feed for all watchers of a process.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use hyperfleet_runtime::metrics::{Metrics, MetricsError};
use hyperfleet_runtime::shutdown::Shutdown;
use hyperfleet_store::{Change, Position, Store, StoreError, Wakeup};
use prometheus::{Histogram, IntCounter, IntGauge};
use tokio::sync::{Mutex, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Changes read at once.
const PAGE: u32 = 500;
/// How often the others are told of this process's writes at most.
const ANNOUNCE: Duration = Duration::from_millis(20);
/// How often a quiet watcher hears that nothing happened.
const BOOKMARK: Duration = Duration::from_secs(10);
/// A pause before a database that failed is asked again.
const AFTER_FAILURE: Duration = Duration::from_millis(200);

/// What watchers are told.
#[derive(Debug)]
pub(crate) enum News {
    Change(Box<ChangeNews>),
    /// Everything up to here was told.
    Bookmark(Position),
}

#[derive(Debug)]
pub(crate) struct ChangeNews {
    pub(crate) change: Change,
    /// Written once for all watchers that want it whole.
    whole: OnceLock<Bytes>,
}

impl std::ops::Deref for ChangeNews {
    type Target = Change;

    fn deref(&self) -> &Change {
        &self.change
    }
}

impl From<Change> for News {
    fn from(change: Change) -> News {
        News::Change(Box::new(ChangeNews {
            change,
            whole: OnceLock::new(),
        }))
    }
}

impl ChangeNews {
    pub(crate) fn name(&self) -> &'static str {
        if self.change.deleted {
            "delete"
        } else {
            "upsert"
        }
    }

    /// The event with the whole resource.
    pub(crate) fn whole(&self) -> &Bytes {
        self.whole
            .get_or_init(|| super::event(self.name(), &self.change.position, &self.change.resource))
    }
}

/// Reads the feed while somebody watches, and passes it on.
#[derive(Debug)]
pub struct Hub {
    store: Store,
    sender: broadcast::Sender<Arc<News>>,
    /// Where the reader is; `None` while nobody watches. Held while news are passed on, so that a watcher joins
    /// between two of them and knows where.
    position: Mutex<Option<Position>>,
    stop: CancellationToken,
    metrics: FeedMetrics,
}

/// What an operator can see of the feed.
#[derive(Debug, Clone)]
pub struct FeedMetrics {
    pub(crate) watchers: IntGauge,
    pub(crate) cut_off: IntCounter,
    changes: IntCounter,
    poll: Histogram,
}

impl FeedMetrics {
    pub fn register(metrics: &Metrics) -> Result<FeedMetrics, MetricsError> {
        Ok(FeedMetrics {
            watchers: metrics.int_gauge("feed_watchers", "Open watches.")?,
            cut_off: metrics.counter(
                "feed_watchers_cut_off_total",
                "Watchers that were too slow.",
            )?,
            changes: metrics.counter("feed_changes_total", "Changes read from the change feed.")?,
            poll: metrics.histogram(
                "feed_poll_duration_seconds",
                "Time of one read of the change feed.",
                &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
            )?,
        })
    }
}

impl Hub {
    /// Changes that are kept for watchers that are behind.
    pub const RING: usize = 1024;

    pub fn new(store: Store, metrics: FeedMetrics, ring: usize) -> Hub {
        Hub {
            store,
            sender: broadcast::Sender::new(ring),
            position: Mutex::new(None),
            stop: CancellationToken::new(),
            metrics,
        }
    }

    pub(crate) fn metrics(&self) -> &FeedMetrics {
        &self.metrics
    }

    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Joins: everything after the position comes through the receiver.
    pub(crate) async fn subscribe(
        &self,
    ) -> Result<(broadcast::Receiver<Arc<News>>, Position), StoreError> {
        let mut position = self.position.lock().await;
        let here = match &*position {
            Some(here) => here.clone(),
            None => position.insert(self.store.position().await?).clone(),
        };
        Ok((self.sender.subscribe(), here))
    }

    /// Reads and passes on until told to stop; then every watcher is let go.
    pub async fn run(&self, shutdown: Shutdown) {
        let mut wakeups = self.store.wakeups();
        let mut announce_at: Option<Instant> = None;
        let mut announced = Instant::now();
        let mut bookmarked = Instant::now();
        let mut failing = false;
        loop {
            let wakeup = tokio::select! {
                () = shutdown.requested() => break,
                wakeup = wakeups.next() => wakeup,
                () = until(announce_at) => Wakeup::Timeout,
            };
            if wakeup == Wakeup::Own && announce_at.is_none() {
                announce_at = Some(announced + ANNOUNCE);
            }
            let mut outcome = self.read(&mut bookmarked).await;
            if announce_at.is_some_and(|at| at <= Instant::now()) {
                outcome = outcome.and(self.store.announce().await);
                announce_at = None;
                announced = Instant::now();
            }
            if let Err(error) = &outcome {
                if !failing {
                    tracing::warn!(%error, "the change feed cannot be read; watchers wait");
                }
                tokio::time::sleep(AFTER_FAILURE).await;
            } else if failing {
                tracing::info!("the change feed is read again");
            }
            failing = outcome.is_err();
        }
        self.stop.cancel();
    }

    /// Passes on everything since the last read.
    async fn read(&self, bookmarked: &mut Instant) -> Result<(), StoreError> {
        let mut position = self.position.lock().await;
        if self.sender.receiver_count() == 0 {
            *position = None;
        }
        while let Some(here) = &mut *position {
            let timer = self.metrics.poll.start_timer();
            let found = self.store.changes(here, PAGE).await?;
            timer.observe_duration();
            self.metrics
                .changes
                .inc_by(u64::try_from(found.changes.len()).unwrap_or(0));
            for change in found.changes {
                // Nobody listening any more is no error: the next read notices.
                let _ = self.sender.send(Arc::new(News::from(change)));
            }
            *here = found.position;
            if found.complete {
                if bookmarked.elapsed() >= BOOKMARK {
                    *bookmarked = Instant::now();
                    let bookmark = News::Bookmark(here.clone());
                    let _ = self.sender.send(Arc::new(bookmark));
                }
                break;
            }
        }
        Ok(())
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
