//! What a trial works with: a broker of its kind and a topic of its own.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hyperfleet_broker::{Broker, Delivery, Event, Metrics, SubscribeOptions, Subscriber};
#[cfg(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs"))]
use libtest_mimic::Completion;
use libtest_mimic::Trial;
use prometheus::Registry;
use serde_json::json;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// Long enough for a slow machine; only a failing trial waits for it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How long something must stay away to count as not coming.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One kind of broker under test.
pub(crate) trait Bench: Send + Sync {
    /// A broker that shares nothing with other trials but the server.
    fn broker(&self, metrics: Metrics) -> BoxFuture<'_, Fixture>;

    /// Whether trials run in simulated time.
    fn simulated_time(&self) -> bool;
}

pub(crate) struct Fixture {
    pub(crate) broker: Broker,
    /// Puts a message into a topic as a foreign producer would.
    pub(crate) publish_raw: Box<dyn Fn(String, Vec<u8>) -> BoxFuture<'static, ()> + Send + Sync>,
}

pub(crate) struct Case {
    pub(crate) broker: Broker,
    pub(crate) topic: String,
    pub(crate) registry: Registry,
    pub(crate) publish_raw: Box<dyn Fn(String, Vec<u8>) -> BoxFuture<'static, ()> + Send + Sync>,
}

pub(crate) type Run = fn(Case) -> Pin<Box<dyn Future<Output = ()>>>;
pub(crate) type Promise = (&'static str, Run);

/// Names an async function as a promise.
#[macro_export]
macro_rules! promise {
    ($($name:ident),* $(,)?) => {
        vec![$((stringify!($name), (|case| Box::pin($name(case))) as $crate::bench::Run)),*]
    };
}

pub(crate) fn promises(kind: &str, bench: &Arc<dyn Bench>, list: Vec<Promise>) -> Vec<Trial> {
    let trial = |(name, run): Promise| {
        let bench = Arc::clone(bench);
        Trial::test(format!("{kind}::{name}"), move || {
            let runtime = match bench.simulated_time() {
                true => Builder::new_current_thread()
                    .start_paused(true)
                    .enable_all()
                    .build()?,
                false => Builder::new_multi_thread()
                    .worker_threads(2)
                    .enable_all()
                    .build()?,
            };
            runtime.block_on(async {
                let case = case(bench.as_ref()).await;
                run(case).await;
            });
            Ok(())
        })
    };
    list.into_iter().map(trial).collect()
}

#[cfg(any(feature = "rabbitmq", feature = "pubsub", feature = "sqs"))]
/// As [`promises`], or all of them ignored, with the reason why there is no server.
pub(crate) fn promises_or_skip(
    kind: &str,
    bench: &Arc<dyn Bench>,
    list: Vec<Promise>,
    unavailable: Option<String>,
) -> Vec<Trial> {
    let Some(reason) = unavailable else {
        return promises(kind, bench, list);
    };
    eprintln!("skipped: the broker {kind}: {reason}");
    let ignored = |(name, _): Promise| {
        let reason = reason.clone();
        Trial::ignorable_test(format!("{kind}::{name}"), || {
            Ok(Completion::ignored_with(reason))
        })
    };
    list.into_iter().map(ignored).collect()
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

async fn case(bench: &dyn Bench) -> Case {
    let registry = Registry::new();
    let metrics = Metrics::new(HashMap::new()).unwrap();
    metrics.register(&registry).unwrap();
    let fixture = bench.broker(metrics).await;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    Case {
        broker: fixture.broker,
        topic: format!("topic-{}-{number}", std::process::id()),
        registry,
        publish_raw: fixture.publish_raw,
    }
}

impl Case {
    pub(crate) async fn subscribe(&self, subscription: &str) -> Box<dyn Subscriber> {
        self.subscribe_with(subscription, SubscribeOptions::default())
            .await
    }

    pub(crate) async fn subscribe_many(&self, subscription: &str, n: usize) -> Box<dyn Subscriber> {
        let options = SubscribeOptions {
            concurrency: n,
            ..SubscribeOptions::default()
        };
        self.subscribe_with(subscription, options).await
    }

    pub(crate) async fn subscribe_with(
        &self,
        subscription: &str,
        options: SubscribeOptions,
    ) -> Box<dyn Subscriber> {
        let subscribing = self.broker.subscribe(&self.topic, subscription, options);
        timeout(PATIENCE, subscribing)
            .await
            .expect("subscribing in time")
            .unwrap()
    }

    pub(crate) async fn publish(&self, ids: impl IntoIterator<Item = &str>) {
        let publisher = self.broker.publisher();
        for id in ids {
            publisher.publish(&self.topic, &event(id)).await.unwrap();
        }
    }

    pub(crate) async fn publish_raw(&self, body: &[u8]) {
        (self.publish_raw)(self.topic.clone(), body.to_vec()).await;
    }

    /// The value of a counter, all its series added up.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        let families = self.registry.gather();
        let family = families
            .iter()
            .find(|f| f.name() == format!("hyperfleet_broker_{name}"));
        let values = family.map(|f| f.get_metric()).unwrap_or_default();
        values
            .iter()
            .map(|m| m.get_counter().get_value() as u64)
            .sum()
    }
}

pub(crate) fn event(id: &str) -> Event {
    let now = chrono::DateTime::from_timestamp(1_790_000_000, 0).unwrap();
    Event::reconcile(
        "Cluster",
        "sentinel-operator/test",
        json!({"id": id}),
        now,
        id,
    )
}

pub(crate) async fn next(subscriber: &mut Box<dyn Subscriber>) -> Delivery {
    timeout(PATIENCE, subscriber.next())
        .await
        .expect("a delivery in time")
        .expect("an open subscriber")
}

/// Takes, acks and names the next `n` messages.
pub(crate) async fn take_ids(subscriber: &mut Box<dyn Subscriber>, n: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for _ in 0..n {
        let delivery = next(subscriber).await;
        ids.push(delivery.event.id.clone());
        delivery.ack().await;
    }
    ids
}

pub(crate) async fn assert_quiet(subscriber: &mut Box<dyn Subscriber>) {
    if let Ok(Some(delivery)) = timeout(QUIET, subscriber.next()).await {
        panic!("unexpected delivery {delivery:?}");
    }
}
