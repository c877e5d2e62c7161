//! What a report costs before it is stored. Aim: 8 adapters and 6 rules under 20 µs.

use std::hint::black_box;

use chrono::{DateTime, TimeDelta, Utc};
use criterion::{Criterion, criterion_group, criterion_main};
use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{Rulebook, Rules, Subject, aggregate};
use hyperfleet_core::kind::Kind;
use hyperfleet_core::report::{Report, Verdict};
use hyperfleet_core::resource::Resource;
use hyperfleet_source::SourceFile;
use serde_json::{Value, json};

const CONFIG: &str = r#"
requiredAdapters: [validation, dns, controlplane, nodepool, network, identity]
optionalAdapters: [monitoring, backup]
policies: {staleThreshold: 40m}
defaultBehavior: {timeout: 10m}
clusterConditions:
  - type: AllAdaptersReady
    evaluate: {expr: 'all(requiredAdapters, {.available == "True"})'}
  - type: AdaptersHealthy
    evaluate: {expr: 'none(allAdapters, {.health == "False"})'}
  - type: NodePoolFullyReady
    evaluate: {expr: 'adapters["nodepool"].available == "True" && adapters["nodepool"].observed_generation == currentGeneration'}
  - type: MajorityAdaptersReady
    evaluate: {expr: 'len(filter(requiredAdapters, {.available == "True"})) >= len(requiredAdapters) * 0.75'}
  - type: CoreProvisioning
    evaluate: {expr: 'adapters["validation"].available == "True" && (adapters["dns"].available == "True" || adapters["controlplane"].available == "True")'}
  - type: OptionalReady
    evaluate: {cel: 'optionalAdapters.all(a, a.available == "True")'}
"#;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).expect("a valid time")
}

fn body(adapter: &str) -> Value {
    json!({
        "adapter": adapter,
        "observed_generation": 3,
        "observed_time": now(),
        "conditions": [
            {"type": "Available", "status": "True", "reason": "JobSucceeded", "message": "Job completed successfully"},
            {"type": "Applied", "status": "True", "reason": "JobLaunched", "message": "Job created successfully"},
            {"type": "Health", "status": "True", "reason": "NoErrors", "message": "Adapter is healthy"},
        ],
        "data": {"zone": {"id": "Z1", "records": ["api", "apps"]}},
    })
}

fn report(adapter: &str) -> AdapterStatus {
    let report = Report::decode(&body(adapter), now()).expect("a good report");
    let generation = 3.try_into().expect("a generation");
    match report.judge(generation, None) {
        Ok(Verdict::Accept(status)) => status,
        other => panic!("not accepted: {other:?}"),
    }
}

fn resource() -> Resource {
    let id = "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b";
    let status = hyperfleet_core::resource::ResourceStatus::unknown(now());
    serde_json::from_value(json!({
        "id": id, "kind": "Cluster", "name": "c1", "href": format!("/api/hyperfleet/v1/clusters/{id}"),
        "spec": {"region": "eu"}, "generation": 3, "status": status,
        "created_time": now(), "updated_time": now(), "created_by": "ann", "updated_by": "ann",
    }))
    .expect("a resource")
}

fn rules() -> Rules {
    let configs = AggregationConfig::read(&SourceFile::new("bench.yaml", CONFIG)).expect("rules");
    let (book, _) = Rulebook::new(&Kind::defaults(), &configs).expect("rules that fit");
    book.rules("Cluster").clone()
}

fn aggregation(c: &mut Criterion) {
    let names = [
        "backup",
        "controlplane",
        "dns",
        "identity",
        "monitoring",
        "network",
        "nodepool",
        "validation",
    ];
    let reports: Vec<AdapterStatus> = names.iter().map(|name| report(name)).collect();
    let rules = rules();
    let mut resource = resource();
    let subject = Subject {
        resource: &resource,
        has_children: false,
    };
    let later = now() + TimeDelta::seconds(5);
    let status = aggregate(&subject, &reports, later, &rules).status;
    assert!(status.conditions.iter().all(|c| c.status.is_true()));
    resource.status = status;
    let subject = Subject {
        resource: &resource,
        has_children: false,
    };
    c.bench_function("aggregate_8_adapters_6_rules", |b| {
        b.iter(|| aggregate(black_box(&subject), black_box(&reports), later, &rules));
    });
    let plain = Rules::plain(rules.required().to_vec());
    c.bench_function("aggregate_8_adapters", |b| {
        b.iter(|| aggregate(black_box(&subject), black_box(&reports), later, &plain));
    });
    let body = body("dns");
    c.bench_function("report_decode", |b| {
        b.iter(|| Report::decode(black_box(&body), later));
    });
}

criterion_group!(benches, aggregation);
criterion_main!(benches);
