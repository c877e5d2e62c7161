//! Events come in, are worked on side by side, and are settled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use hyperfleet_adapter::serve::{ServeOptions, serve};
use hyperfleet_adapter::{Api, Engine};
use hyperfleet_broker::{Broker, BrokerConfig, Event, Metrics, SubscribeOptions};
use hyperfleet_client::{Answer, Call, CallError, Retry};
use hyperfleet_transport::{OfflineTransport, Target, Unconnected};
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::world::{compiled, event};

/// An API that holds every read until it is let through, and counts.
struct SlowApi {
    gate: Semaphore,
    running: AtomicUsize,
    most: AtomicUsize,
    started: watch::Sender<usize>,
    reports: watch::Sender<usize>,
    /// Reports are taken, and nobody is told.
    mute: AtomicBool,
}

impl SlowApi {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(0),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            started: watch::Sender::new(0),
            reports: watch::Sender::new(0),
            mute: AtomicBool::new(false),
        })
    }

    async fn wait_started(&self, count: usize) {
        let mut started = self.started.subscribe();
        started.wait_for(|seen| *seen >= count).await.unwrap();
    }

    async fn wait_reports(&self, count: usize) {
        let mut reports = self.reports.subscribe();
        reports.wait_for(|seen| *seen >= count).await.unwrap();
    }
}

#[async_trait]
impl Api for SlowApi {
    async fn call(&self, call: Call) -> Result<Answer, CallError> {
        if call.method == hyperfleet_client::Method::PUT {
            self.reports.send_modify(|count| *count += 1);
            if self.mute.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            return Ok(answer(json!({})));
        }
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.started.send_modify(|count| *count += 1);
        self.gate.acquire().await.unwrap().forget();
        self.running.fetch_sub(1, Ordering::SeqCst);
        let id = call.url.rsplit('/').next().unwrap().to_owned();
        Ok(answer(json!({"id": id, "generation": 1})))
    }

    fn retry(&self) -> Retry {
        Retry::NEVER
    }
}

fn answer(body: serde_json::Value) -> Answer {
    Answer {
        status: hyperfleet_client::StatusCode::OK,
        headers: Default::default(),
        body: body.to_string().into(),
        attempts: 1,
    }
}

const TASK: &str = r#"
params:
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .event.id }}"}}
    required: true
"#;

struct Served {
    broker: Broker,
    api: Arc<SlowApi>,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

async fn start(options: ServeOptions) -> Served {
    let metrics = Metrics::new(Default::default()).unwrap();
    let broker = Broker::connect(&BrokerConfig::default(), metrics)
        .await
        .unwrap();
    start_on(broker, SlowApi::new(), options).await
}

/// Unsettled at a time: three that are worked on and one that waits.
const HELD: usize = 4;

async fn start_on(broker: Broker, api: Arc<SlowApi>, options: ServeOptions) -> Served {
    let subscribe = SubscribeOptions {
        concurrency: HELD,
        ..SubscribeOptions::default()
    };
    let mut subscriber = broker.subscribe("t", "s", subscribe).await.unwrap();
    let engine = Engine {
        task: Arc::new(compiled(TASK)),
        identity: hyperfleet_adapter::config::Identity {
            name: "test".to_owned(),
            version: String::new(),
        },
        config: Arc::new(json!({})),
        env: BTreeMap::new(),
        api: api.clone(),
        transport: Arc::new(OfflineTransport::new(Target::Kubernetes, BTreeMap::new())),
        maestro: Arc::new(Unconnected(Target::Maestro)),
        metrics: None,
        keys: None,
    };
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let task = tokio::spawn(async move {
        serve(Arc::new(engine), subscriber.as_mut(), options, stopped).await;
    });
    Served {
        broker,
        api,
        stop,
        task,
    }
}

impl Served {
    async fn publish(&self, event: &Event) {
        self.broker.publisher().publish("t", event).await.unwrap();
    }

    async fn parked(&self, count: usize) -> Vec<hyperfleet_broker::DeadLetter> {
        loop {
            let letters = self.broker.list_dead_letters("t", "s", 10).await.unwrap();
            if letters.len() >= count {
                return letters;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn stop(self) -> Arc<SlowApi> {
        self.stop.cancel();
        self.task.await.unwrap();
        self.api
    }
}

#[tokio::test]
async fn a_resource_is_never_worked_on_twice_at_once_and_duplicates_join_one_run() {
    let served = start(ServeOptions::default()).await;
    served.publish(&event("a", 1)).await;
    served.api.wait_started(1).await;
    for _ in 0..5 {
        served.publish(&event("a", 1)).await;
    }
    // Another resource passes them, which shows that they were taken and wait.
    served.publish(&event("b", 1)).await;
    served.api.wait_started(2).await;
    served.api.gate.add_permits(2);
    // The five that came meanwhile are one run.
    served.api.wait_started(3).await;
    served.api.gate.add_permits(10);
    served.api.wait_reports(3).await;
    let api = served.stop().await;
    assert_eq!(*api.started.borrow(), 3);
    assert_eq!(api.most.load(Ordering::SeqCst), 2);
}

/// `a`, `b` and `c` are worked on, and of many events about `b` the last one waits.
async fn with_a_backlog() -> Served {
    let served = start(ServeOptions::default()).await;
    served.publish(&event("a", 1)).await;
    for _ in 0..50 {
        served.publish(&event("b", 1)).await;
    }
    // This one is behind them all, and there is no room for more than one of them.
    served.publish(&event("c", 1)).await;
    served.api.wait_started(3).await;
    served
}

#[tokio::test]
async fn a_backlog_about_one_resource_takes_one_place_and_holds_up_no_other() {
    let served = with_a_backlog().await;
    served.api.gate.add_permits(100);
    served.api.wait_reports(4).await;
    let api = served.stop().await;
    assert_eq!(*api.started.borrow(), 4, "one more look at b");
}

#[tokio::test]
async fn killed_with_a_backlog_every_resource_is_looked_at_again() {
    let killed = with_a_backlog().await;
    killed.task.abort();
    let _ = killed.task.await;

    let next = start_on(killed.broker, killed.api, ServeOptions::default()).await;
    next.api.wait_started(6).await;
    next.api.gate.add_permits(100);
    next.api.wait_reports(4).await;
    let api = next.stop().await;
    assert_eq!(
        *api.started.borrow(),
        7,
        "a, b, c, and b for the one that waited"
    );
}

#[tokio::test]
async fn no_more_resources_are_worked_on_at_once_than_allowed() {
    let options = ServeOptions {
        max_concurrency: 3,
        ..ServeOptions::default()
    };
    let served = start(options).await;
    for id in 0..10 {
        served.publish(&event(&format!("c{id}"), 1)).await;
    }
    served.api.wait_started(3).await;
    served.api.gate.add_permits(100);
    served.api.wait_reports(10).await;
    let api = served.stop().await;
    assert_eq!(api.most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn an_event_that_names_no_resource_is_parked_at_once() {
    let served = start(ServeOptions::default()).await;
    let mut poison = event("a", 1);
    poison.data = json!({"generation": 1});
    served.publish(&poison).await;
    let letters = served.parked(1).await;
    assert_eq!(letters[0].attempts, 1);
    assert!(
        letters[0].reason.contains("no `id`"),
        "{}",
        letters[0].reason
    );
    served.stop().await;
}

#[tokio::test]
async fn an_event_that_takes_too_long_is_given_up_and_the_worker_goes_on() {
    let options = ServeOptions {
        max_concurrency: 1,
        event_timeout: Duration::from_millis(50),
        ..ServeOptions::default()
    };
    let served = start(options).await;
    served.publish(&event("stuck", 1)).await;
    served.api.wait_started(1).await;
    served.publish(&event("next", 1)).await;
    served.api.wait_started(2).await;
    let api = served.stop().await;
    assert!(
        *api.reports.borrow() > 0,
        "the first was reported as given up"
    );
}

#[tokio::test]
async fn stopping_finishes_what_runs() {
    let served = start(ServeOptions::default()).await;
    served.publish(&event("a", 1)).await;
    served.api.wait_started(1).await;
    served.stop.cancel();
    served.api.gate.add_permits(1);
    let api = served.stop().await;
    assert_eq!(*api.reports.borrow(), 1);
}

#[tokio::test]
async fn killed_between_the_report_and_the_acknowledgement_the_event_is_handled_once_more() {
    let killed = start(ServeOptions::default()).await;
    killed.api.mute.store(true, Ordering::SeqCst);
    killed.api.gate.add_permits(100);
    killed.publish(&event("a", 1)).await;
    killed.api.wait_reports(1).await;
    killed.task.abort();
    let _ = killed.task.await;

    killed.api.mute.store(false, Ordering::SeqCst);
    let next = start_on(killed.broker, killed.api, ServeOptions::default()).await;
    next.api.wait_reports(2).await;
    // Had the first come a third time, it would come before this one.
    next.publish(&event("b", 1)).await;
    next.api.wait_reports(3).await;
    assert!(next.parked(0).await.is_empty());
    let api = next.stop().await;
    assert_eq!(*api.started.borrow(), 3);
}
