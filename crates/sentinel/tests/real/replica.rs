//! One Sentinel of several.

use std::sync::Arc;

use hyperfleet_broker::Publisher;
use hyperfleet_runtime::GoDuration;
use hyperfleet_runtime::metrics::MetricsRegistry;
use hyperfleet_sentinel::{Clock, Handle, Options, Replicas, Sentinel, SentinelError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api::registry;

pub(crate) struct Replica {
    pub(crate) handle: Handle,
    pub(crate) registry: MetricsRegistry,
    cancel: CancellationToken,
    task: JoinHandle<Result<(), SentinelError>>,
}

/// A Sentinel for clusters that shares its work, repeats nothing by itself, and is quick about leases.
pub(crate) fn options(url: &str) -> Options {
    let mut options = Options::for_kinds(url, ["clusters"]);
    options.backoff_not_ready = GoDuration::from_mins(60);
    options.sentinel.replicas = Replicas::Api;
    options.sentinel.lease_duration = GoDuration::from_secs(3);
    options
}

impl Replica {
    pub(crate) fn start(options: &Options, publisher: Arc<dyn Publisher>) -> Replica {
        Replica::start_with(options, publisher, Clock::system())
    }

    pub(crate) fn start_with(
        options: &Options,
        publisher: Arc<dyn Publisher>,
        clock: Clock,
    ) -> Replica {
        let registry = registry();
        let metrics = registry.component("sentinel", "sentinel").unwrap();
        let client = options.client().unwrap();
        let sentinel = Sentinel::new(options, client, publisher, &metrics, clock).unwrap();
        let handle = sentinel.handle();
        let cancel = CancellationToken::new();
        let task = tokio::spawn(sentinel.run(cancel.clone()));
        Replica {
            handle,
            registry,
            cancel,
            task,
        }
    }

    pub(crate) fn shards(&self) -> u32 {
        self.handle.status()[0].shards
    }

    pub(crate) fn followed(&self) -> bool {
        self.handle.status()[0].feed
    }

    /// As by `kill -9`: it says nothing and lets go of nothing.
    pub(crate) async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    /// As by SIGTERM.
    pub(crate) async fn stop(self) {
        self.cancel.cancel();
        self.task.await.unwrap().unwrap();
    }
}
