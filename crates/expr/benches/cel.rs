//! What a gate costs. Aims: simple predicate under 300 ns, debounce gate under 2 µs, and a context whose cost does not
//! depend on the size of the objects in it.

use std::hint::black_box;

use chrono::{DateTime, Utc};
use criterion::{Criterion, criterion_group, criterion_main};
use hyperfleet_expr::cel::{Bindings, Environment, Type};
use serde_json::json;

const DEBOUNCE: &str = "!resources.?job.hasValue() || \
    timestamp(resources.job.metadata.creationTimestamp) < timestamp(now()) - duration(\"10m\")";

fn environment() -> Environment {
    let names = [
        "cluster",
        "resources",
        "event",
        "env",
        "config",
        "adapter",
        "clusterId",
        "region",
    ];
    Environment::standard().with_variables(names.map(|name| (name, Type::Dyn)))
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).expect("a valid time")
}

/// About 50 KB, as a cluster with a long spec and many conditions.
fn large_cluster() -> serde_json::Value {
    let nodes: Vec<_> = (0..400)
        .map(|i| json!({"name": format!("node-{i}"), "zone": "eu-west-1a", "labels": {"role": "worker", "index": i}}))
        .collect();
    let conditions: Vec<_> = ["Applied", "Available", "Health", "Ready"]
        .map(|t| json!({"type": t, "status": "True", "last_transition_time": "2026-09-01T10:00:00Z"}))
        .into();
    json!({
        "id": "abc",
        "generation": 7,
        "spec": {"nodes": nodes, "region": "eu-west-1"},
        "status": {"phase": "Ready", "conditions": conditions},
    })
}

fn evaluation(c: &mut Criterion) {
    let env = environment();
    let cluster = large_cluster();
    let resources =
        json!({"job": {"metadata": {"creationTimestamp": "2026-09-01T10:00:00Z", "name": "job"}}});
    let empty = json!({});
    let id = json!("abc");
    let bindings = Bindings::new(now())
        .bind("event", &empty)
        .bind("env", &empty)
        .bind("config", &empty)
        .bind("adapter", &empty)
        .bind("clusterId", &id)
        .bind("region", &id)
        .bind("cluster", &cluster)
        .bind("resources", &resources);
    let mut bench = |name: &str, source: &str| {
        let program = env.compile(source).expect("a valid expression");
        c.bench_function(name, |b| {
            b.iter(|| black_box(program.evaluate(black_box(&bindings))))
        });
    };
    bench("cel/predicate", "cluster.status.phase == 'Ready'");
    bench("cel/debounce", DEBOUNCE);
    bench(
        "cel/exists",
        "cluster.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
    );
    bench(
        "cel/condition_status",
        "conditionStatus(cluster.status.conditions, 'Ready') == 'True'",
    );
    bench(
        "cel/filter_map_400",
        "cluster.spec.nodes.filter(n, n.labels.index % 2 == 0).map(n, n.name).size()",
    );
}

fn context(c: &mut Criterion) {
    let env = environment();
    let cluster = large_cluster();
    let program = env
        .compile_predicate("cluster.generation > 3")
        .expect("a valid expression");
    c.bench_function("cel/context_50kb_and_predicate", |b| {
        b.iter(|| {
            let bindings = Bindings::new(now())
                .bind("cluster", black_box(&cluster))
                .bind("resources", &cluster)
                .bind("event", &cluster)
                .bind("config", &cluster)
                .bind("adapter", &cluster);
            black_box(program.evaluate_bool(&bindings))
        });
    });
}

fn compilation(c: &mut Criterion) {
    let env = environment();
    c.bench_function("cel/compile_debounce", |b| {
        b.iter(|| black_box(env.compile(black_box(DEBOUNCE))))
    });
}

criterion_group!(benches, evaluation, context, compilation);
criterion_main!(benches);
