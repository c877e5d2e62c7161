//! Everybody writes to one resource at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use hyperfleet_core::identity::AdapterName;
use hyperfleet_core::kind::Kind;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::caller::Caller;
use crate::recomputed::Seen;

const ADAPTERS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
const PATCHERS: u64 = 3;
/// How many changes are acknowledged before the deletion is asked for.
const CHANGES: u32 = 40;
/// How many reports each adapter gets through after the deletion.
const LAST_REPORTS: u64 = 5;
/// Far more than it takes: whoever is not done by then waits for somebody who waits for it.
const PATIENCE: Duration = Duration::from_secs(120);

struct Race {
    api: Caller,
    href: String,
    /// The highest generation anybody was told of.
    generation: AtomicI64,
    /// That of the deletion, once it was asked for.
    deleted: AtomicI64,
    /// One for each change that was acknowledged.
    changes: Semaphore,
    acknowledged: AtomicU64,
}

impl Race {
    fn told(&self, answer: &Value) -> i64 {
        let generation = answer["generation"].as_i64().unwrap();
        self.generation.fetch_max(generation, Ordering::SeqCst);
        generation
    }

    /// Reports until the deletion is known; answers the number of the last accepted report.
    async fn report(self: Arc<Race>, adapter: &'static str) -> (&'static str, u64) {
        let (mut accepted, mut last_reports) = (0, 0);
        for number in 1_u64.. {
            let generation = self.generation.load(Ordering::SeqCst);
            let deleted = self.deleted.load(Ordering::SeqCst);
            let available = if number % 3 == 0 { "False" } else { "True" };
            let body = json!({
                "adapter": adapter,
                "observed_generation": generation,
                "observed_time": chrono::Utc::now(),
                "conditions": [
                    {"type": "Available", "status": available, "reason": "R", "message": number.to_string()},
                    {"type": "Applied", "status": "True"},
                    {"type": "Health", "status": "True"},
                ],
                "data": {"number": number},
            });
            let answer = self.api.put(&format!("{}/statuses", self.href), body).await;
            assert_eq!(answer.status, 201, "{}", answer.body);
            accepted = number;
            last_reports += u64::from(deleted != 0 && generation >= deleted);
            if last_reports == LAST_REPORTS {
                break;
            }
        }
        (adapter, accepted)
    }

    /// Changes the spec until the deletion forbids it.
    async fn patch(self: Arc<Race>, patcher: u64) {
        for number in 1_u64.. {
            let spec = json!({"spec": {"patcher": patcher, "number": number}});
            let answer = self.api.patch(&self.href, spec).await;
            match answer.status {
                200 => {
                    self.told(&answer.body);
                    self.acknowledged.fetch_add(1, Ordering::SeqCst);
                    self.changes.add_permits(1);
                }
                409 => return,
                other => panic!("{other}: {}", answer.body),
            }
        }
    }

    async fn delete(self: Arc<Race>) {
        let _changes = self.changes.acquire_many(CHANGES).await.unwrap();
        let answer = self.api.delete(&self.href).await;
        assert_eq!(answer.status, 202, "{}", answer.body);
        self.deleted
            .store(self.told(&answer.body), Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_that_race_lose_no_report_no_change_and_leave_nothing_stale() {
    let mut kinds = Kind::defaults();
    kinds[0].required_adapters = ADAPTERS
        .map(|name| AdapterName::try_from(name).unwrap())
        .to_vec();
    let api = Caller::with(kinds).await;
    let cluster = api.cluster("contested").await;
    let mut watch = api.watch("/clusters?watch=true").await;
    watch.next().await.unwrap();
    let race = Arc::new(Race {
        api,
        href: cluster["href"].as_str().unwrap().to_owned(),
        generation: AtomicI64::new(1),
        deleted: AtomicI64::new(0),
        changes: Semaphore::new(0),
        acknowledged: AtomicU64::new(0),
    });
    let mut reporters = JoinSet::new();
    for adapter in ADAPTERS {
        reporters.spawn(race.clone().report(adapter));
    }
    let mut others = JoinSet::new();
    for patcher in 0..PATCHERS {
        others.spawn(race.clone().patch(patcher));
    }
    others.spawn(race.clone().delete());
    let finish = async { (reporters.join_all().await, others.join_all().await) };
    let (accepted, _) = tokio::time::timeout(PATIENCE, finish)
        .await
        .expect("nobody waits for ever");

    let api = &race.api;
    let seen = Seen::of(api, &race.href).await.unwrap();
    for (adapter, number) in accepted {
        let stored = seen.report(adapter).unwrap();
        assert_eq!(
            stored["data"]["number"], number,
            "{adapter} lost its last report"
        );
        assert_eq!(stored["conditions"][0]["message"], number.to_string());
    }
    seen.assert_aggregated(api, false);

    let acknowledged = i64::try_from(race.acknowledged.load(Ordering::SeqCst)).unwrap();
    assert_eq!(
        seen.resource["generation"],
        acknowledged + 2,
        "one for the create, one for the deletion"
    );
    let id = cluster["id"].as_str().unwrap();
    let audit = api
        .get(&format!("/audit?resource_id={id}&action=patch&limit=1000"))
        .await;
    let mut generations: Vec<i64> = audit.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["generation"].as_i64().unwrap())
        .collect();
    generations.sort_unstable();
    let expected: Vec<i64> = (2..=acknowledged + 1).collect();
    assert_eq!(generations, expected, "one line for each change");

    loop {
        let told = watch.change().await;
        assert_eq!(told.name, "upsert");
        if told.data == seen.resource {
            break;
        }
    }
}
