//! Whatever is asked in whatever order, what is stored stays consistent.

use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::recomputed::Seen;

/// The last one is not required.
const ADAPTERS: [&str; 3] = ["validation", "dns", "extra"];
/// Each case is a dozen requests and more; `PROPTEST_CASES` asks for another number.
const CASES: u32 = 40;

#[derive(Debug, Clone)]
enum Step {
    /// Sets the spec, perhaps to what it is.
    Spec(u8),
    Labels(u8),
    Delete,
    ForceDelete,
    Report(Report),
    AddChild,
    RemoveChild,
}

#[derive(Debug, Clone)]
struct Report {
    adapter: usize,
    /// Relative to the resource's.
    generation: i64,
    available: &'static str,
    finalized: bool,
    /// How long ago it was observed.
    seconds_ago: i64,
    data: u8,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..3_u8).prop_map(Step::Spec),
        1 => (0..3_u8).prop_map(Step::Labels),
        1 => Just(Step::Delete),
        1 => Just(Step::ForceDelete),
        8 => report().prop_map(Step::Report),
        1 => Just(Step::AddChild),
        1 => Just(Step::RemoveChild),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    let available = prop::sample::select(vec!["True", "True", "False", "Unknown"]);
    let generation = prop::sample::select(vec![-1, 0, 0, 0, 1]);
    (
        0..3_usize,
        generation,
        available,
        any::<bool>(),
        0..3_i64,
        0..2_u8,
    )
        .prop_map(
            |(adapter, generation, available, finalized, seconds_ago, data)| Report {
                adapter,
                generation,
                available,
                finalized,
                seconds_ago,
                data,
            },
        )
}

impl Report {
    fn body(&self, generation: i64, now: DateTime<Utc>) -> Value {
        let finalized = if self.finalized { "True" } else { "False" };
        json!({
            "adapter": ADAPTERS[self.adapter],
            "observed_generation": (generation + self.generation).max(1),
            "observed_time": now - TimeDelta::seconds(self.seconds_ago),
            "conditions": [
                {"type": "Available", "status": self.available, "reason": "R"},
                {"type": "Applied", "status": "True"},
                {"type": "Health", "status": "True"},
                {"type": "Finalized", "status": finalized},
            ],
            "data": {"n": self.data},
        })
    }
}

/// One cluster, and what must hold of it.
struct Cluster<'a> {
    api: &'a Caller,
    href: String,
    seen: Seen,
    children: Vec<String>,
}

/// What a step may have done.
#[derive(Debug, PartialEq)]
enum Effect {
    Nothing,
    NextGeneration,
    /// The status at most.
    Known,
    Gone,
}

impl Cluster<'_> {
    async fn new(api: &Caller) -> Cluster<'_> {
        let name = format!("c-{}", uuid::Uuid::now_v7().simple());
        let created = api.cluster(&name).await;
        let href = created["href"].as_str().unwrap().to_owned();
        Cluster {
            api,
            seen: Seen::of(api, &href).await.unwrap(),
            href,
            children: Vec::new(),
        }
    }

    fn generation(&self) -> i64 {
        self.seen.resource["generation"].as_i64().unwrap()
    }

    fn is_deleting(&self) -> bool {
        self.seen.resource["deleted_time"].is_string()
    }

    async fn take(&mut self, step: &Step) -> Effect {
        match step {
            Step::Spec(n) => self.patch("spec", json!({ "n": n })).await,
            Step::Labels(n) => self.patch("labels", json!({ "n": n.to_string() })).await,
            Step::Delete => {
                let deleted = self.api.delete(&self.href).await;
                assert_eq!(deleted.status, 202, "{}", deleted.body);
                if self.is_deleting() {
                    return Effect::Nothing;
                }
                // No adapter is required for them, so that nothing waits.
                self.children.clear();
                Effect::NextGeneration
            }
            Step::ForceDelete => {
                let path = format!("{}/force-delete", self.href);
                let answer = self.api.post(&path, json!({"reason": "a test"})).await;
                if self.is_deleting() {
                    assert_eq!(answer.status, 204, "{}", answer.body);
                    Effect::Gone
                } else {
                    assert_eq!(answer.status, 409, "{}", answer.body);
                    Effect::Nothing
                }
            }
            Step::Report(report) => self.report(report).await,
            Step::AddChild => {
                let name = format!("n-{}", self.children.len());
                let body = json!({"kind": "NodePool", "name": name, "spec": {}});
                let path = format!("{}/nodepools", self.href);
                let answer = self.api.post(&path, body).await;
                assert_eq!(answer.status, if self.is_deleting() { 409 } else { 201 });
                if let Some(href) = answer.body["href"].as_str() {
                    self.children.push(href.to_owned());
                }
                Effect::Nothing
            }
            Step::RemoveChild => {
                if let Some(child) = self.children.pop() {
                    assert_eq!(self.api.delete(&child).await.status, 202);
                }
                Effect::Nothing
            }
        }
    }

    async fn patch(&self, field: &str, value: Value) -> Effect {
        let answer = self.api.patch(&self.href, json!({ field: value })).await;
        if self.is_deleting() {
            assert_eq!(answer.status, 409, "{}", answer.body);
            return Effect::Nothing;
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        if self.seen.resource[field] == value {
            Effect::Nothing
        } else {
            Effect::NextGeneration
        }
    }

    /// A report, and the same once more, which must change nothing.
    async fn report(&self, report: &Report) -> Effect {
        let body = report.body(self.generation(), Utc::now());
        let path = format!("{}/statuses", self.href);
        let answer = self.api.put(&path, body.clone()).await;
        match answer.status {
            204 => return Effect::Nothing,
            201 => {}
            other => panic!("{other}: {}", answer.body),
        }
        let Some(after) = Seen::of(self.api, &self.href).await else {
            return Effect::Gone;
        };
        let stored = after.report(ADAPTERS[report.adapter]).unwrap();
        assert_eq!(stored["data"], body["data"]);
        assert_eq!(stored["observed_generation"], body["observed_generation"]);
        let again = self.api.put(&path, body).await;
        assert!(matches!(again.status, 201 | 204), "{}", again.body);
        assert_eq!(Seen::of(self.api, &self.href).await, Some(after));
        Effect::Known
    }

    /// Looks at what became of it; false when it is gone.
    async fn check(&mut self, effect: Effect) -> bool {
        let Some(now) = Seen::of(self.api, &self.href).await else {
            assert_eq!(effect, Effect::Gone);
            return false;
        };
        let before = std::mem::replace(&mut self.seen, now);
        let now = &self.seen;
        let moved = self.generation() - before.resource["generation"].as_i64().unwrap();
        match effect {
            Effect::Nothing => assert_eq!(before, *now),
            Effect::NextGeneration => assert_eq!(moved, 1),
            Effect::Known => {
                assert_eq!(moved, 0);
                assert_eq!(before.resource["spec"], now.resource["spec"]);
                assert_eq!(
                    before.resource["updated_time"],
                    now.resource["updated_time"]
                );
            }
            Effect::Gone => panic!("it is still there: {}", now.resource),
        }
        now.assert_aggregated(self.api, !self.children.is_empty());
        true
    }
}

#[test]
fn no_sequence_of_requests_turns_a_generation_back_or_leaves_a_stale_status() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let api = runtime.block_on(Caller::new());
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    proptest!(config, |(steps in prop::collection::vec(step(), 1..16))| {
        runtime.block_on(async {
            let mut cluster = Cluster::new(&api).await;
            for step in &steps {
                let effect = cluster.take(step).await;
                if !cluster.check(effect).await {
                    let late = cluster.api.patch(&cluster.href, json!({"spec": {}})).await;
                    assert_eq!(late.status, 404, "{}", late.body);
                    break;
                }
            }
        });
    });
}
