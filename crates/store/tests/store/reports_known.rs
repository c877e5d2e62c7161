//! What is remembered of a resource from one report to the next is what is stored, whoever writes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::identity::ResourceId;
use hyperfleet_store::testing::TestDatabase;
use hyperfleet_store::{
    DatabaseOptions, Decision, Observer, Operation, Owner, ReportWrite, Store, StoreError, Stored,
};
use proptest::prelude::*;
use serde_json::json;

use crate::fleet::{Fleet, adapter, author, done, finalized, now, report};

/// Two replicas of an API, and one that remembers nothing.
struct Replicas {
    remembering: [Fleet; 2],
    forgetful: Fleet,
}

impl Replicas {
    async fn new() -> Replicas {
        let database = TestDatabase::new().await;
        let connect = async |report_memory| {
            let options = DatabaseOptions {
                max_connections: 5,
                report_memory,
                ..DatabaseOptions::default()
            };
            Fleet::on(Store::connect(&database.target, &options).await.unwrap())
        };
        let some = DatabaseOptions::default().report_memory;
        Replicas {
            remembering: [connect(some).await, connect(some).await],
            forgetful: connect(0).await,
        }
    }

    async fn stored(&self, id: ResourceId) -> Option<Arc<Stored>> {
        seen(&self.forgetful, id).await
    }
}

/// What a report that leaves nothing behind is judged on.
async fn seen(fleet: &Fleet, id: ResourceId) -> Option<Arc<Stored>> {
    let nothing = |_: &mut Stored| {
        Ok::<_, ()>(Decision {
            answer: (),
            store: ReportWrite::Nothing,
        })
    };
    let (target, adapter) = ((None, Owner::Any, id), adapter("a"));
    let seen = fleet
        .store
        .report(target, &adapter, author(), fleet, nothing);
    seen.await.unwrap().map(|seen| seen.unwrap().1)
}

fn assert_same(one: &Stored, other: &Stored) {
    assert_eq!(one.resource, other.resource);
    assert_eq!(one.reports, other.reports);
    // Nobody looks at the children of what stays.
    if other.resource.is_deleting() {
        assert_eq!(one.has_children, other.has_children);
    }
}

#[derive(Debug, Clone)]
enum Step {
    Report {
        adapter: &'static str,
        well: bool,
        data: i64,
    },
    Label(u8),
    AddChild,
    Delete,
    Finalize(&'static str),
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let adapter = || prop::sample::select(vec!["a", "b", "c-1", "c"]);
    let report =
        (adapter(), any::<bool>(), 0..2_i64).prop_map(|(adapter, well, data)| Step::Report {
            adapter,
            well,
            data,
        });
    let step = prop_oneof![
        12 => report,
        2 => (0..2_u8).prop_map(Step::Label),
        1 => Just(Step::AddChild),
        1 => Just(Step::Delete),
        2 => adapter().prop_map(Step::Finalize),
    ];
    (0..2_usize, step)
}

/// One step on a cluster. Whatever a report was judged on and led to is compared with what is stored.
async fn take(replicas: &Replicas, id: ResourceId, (replica, step): (usize, Step)) {
    let fleet = &replicas.remembering[replica];
    let Some(before) = replicas.stored(id).await else {
        assert!(seen(fleet, id).await.is_none(), "it is gone");
        return;
    };
    let generation = before.resource.generation.get();
    let mut report = match step {
        Step::Report {
            adapter,
            well,
            data,
        } => {
            let available = if well { "True" } else { "False" };
            let mut report = report(adapter, generation, &[("Available", available)]);
            report.data = json!({"b": data, "aa": [1.5, {"x": null}]})
                .as_object()
                .unwrap()
                .into();
            report.metadata = (data == 1).then(|| report.data.clone());
            report
        }
        Step::Finalize(adapter) => finalized(adapter, generation),
        Step::Label(number) => {
            fleet.label(id, "number", &number.to_string()).await;
            return;
        }
        Step::AddChild => {
            let name = format!("child-{}", uuid::Uuid::now_v7().simple());
            let child = fleet.child("NodePool", &name, &before.resource);
            // No child of what is being deleted.
            let _ = fleet.store_new(child).await;
            return;
        }
        Step::Delete => {
            fleet.delete(&before.resource).await.unwrap();
            return;
        }
    };
    if let Some(said) = before.report(&report.adapter) {
        report.created_time = said.created_time;
    }
    let (judged, after) = report_through(fleet, id, &report).await;
    assert_same(&judged, &before);
    match replicas.stored(id).await {
        Some(stored) => assert_same(&after, &stored),
        None => assert!(before.resource.is_deleting()),
    }
}

async fn report_through(
    fleet: &Fleet,
    id: ResourceId,
    report: &AdapterStatus,
) -> (Stored, Arc<Stored>) {
    let decide = |stored: &mut Stored| {
        let judged = stored.clone();
        let Decision { store, .. } = fleet.decide(stored, report);
        Ok::<_, ()>(Decision {
            answer: judged,
            store,
        })
    };
    let target = (None, Owner::Any, id);
    let reported = fleet
        .store
        .report(target, &report.adapter, author(), fleet, decide);
    reported.await.unwrap().unwrap().unwrap()
}

#[test]
fn a_report_is_judged_on_what_is_stored_whoever_wrote_it() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let replicas = runtime.block_on(Replicas::new());
    let steps = prop::collection::vec(step(), 1..40);
    proptest!(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() }, |(steps in steps)| {
        runtime.block_on(async {
            let name = format!("c-{}", uuid::Uuid::now_v7().simple());
            let cluster = replicas.forgetful.create("Cluster", &name).await;
            for step in steps {
                take(&replicas, cluster.id, step).await;
            }
        });
    });
}

/// A cluster that the first replica knows, and that was changed past every revision, so that it cannot notice.
async fn known_and_written_by_hand() -> (Replicas, ResourceId) {
    let replicas = Replicas::new().await;
    let one = &replicas.remembering[0];
    let id = one.create("Cluster", "known").await.id;
    one.report(id, &done("a")).await.unwrap();
    sqlx::query("UPDATE adapter_statuses SET data = '{\"by\": \"hand\"}'")
        .execute(one.store.pool_for_tests())
        .await
        .unwrap();
    (replicas, id)
}

/// Whether a report of `b` is judged on what is stored by now of `a`'s.
async fn notices(fleet: &Fleet, id: ResourceId) -> bool {
    let mut said = done("b");
    said.last_report_time = now();
    let (judged, _) = report_through(fleet, id, &said).await;
    judged.report(&adapter("a")).unwrap().data.text() != "{}"
}

#[tokio::test]
async fn what_is_known_is_not_read_again_unless_somebody_else_wrote() {
    let (replicas, id) = known_and_written_by_hand().await;
    let [one, other] = &replicas.remembering;
    assert!(!notices(one, id).await);
    assert!(!notices(one, id).await);
    assert!(notices(&replicas.forgetful, id).await);
    assert!(notices(other, id).await, "it knows nothing yet");
    assert!(notices(one, id).await, "others wrote since");
}

#[tokio::test]
async fn what_is_known_answers_nobody() {
    let (replicas, id) = known_and_written_by_hand().await;
    let [one, other] = &replicas.remembering;
    let stored = seen(one, id).await.unwrap();
    assert_ne!(
        stored.reports[0].data.text(),
        "{}",
        "nothing to store is said of what is stored"
    );
    other.report(id, &done("b")).await.unwrap();
    let stored = seen(one, id).await.unwrap();
    assert_eq!(stored.reports.len(), 2);
}

/// Hears which reports found their resource remembered.
#[derive(Debug, Default)]
struct Heard(Mutex<Vec<bool>>);

impl Observer for Heard {
    fn call(&self, _: Operation, _: &'static str, _: Duration, _: Option<&StoreError>) {}

    fn unreconciled(&self, _: &str, _: bool) {}

    fn reported(&self, remembered: bool) {
        self.0.lock().unwrap().push(remembered);
    }
}

#[tokio::test]
async fn memory_that_others_make_old_is_not_used_until_they_stop() {
    let replicas = Replicas::new().await;
    let [one, other] = &replicas.remembering;
    let heard = Arc::new(Heard::default());
    let one = Fleet::on(one.store.clone().observed(heard.clone()));
    let id = one.create("Cluster", "shared").await.id;
    let report = async |fleet: &Fleet| {
        let mut said = done("a");
        said.last_report_time = now();
        fleet.report(id, &said).await.unwrap();
    };
    for _ in 0..20 {
        report(&one).await;
        report(other).await;
    }
    let mut remembered = std::mem::take(&mut *heard.0.lock().unwrap());
    remembered.retain(|remembered| *remembered);
    assert_eq!(remembered.len(), 0, "each time the other one wrote since");
    for _ in 0..100 {
        report(&one).await;
    }
    let heard = heard.0.lock().unwrap();
    assert_eq!((heard.first(), heard.last()), (Some(&false), Some(&true)));
}
