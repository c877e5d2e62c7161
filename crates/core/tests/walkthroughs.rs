//! The scenarios of the status guide, stage by stage: its reports go in, its statuses come out. Where we answer
//! otherwise the scenario says so and why (`differs`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{Rulebook, Rules, Subject, aggregate};
use hyperfleet_core::kind::Kind;
use hyperfleet_core::report::{Report, Verdict};
use hyperfleet_core::resource::{Resource, ResourceStatus};
use hyperfleet_core::time::Time;
use hyperfleet_source::SourceFile;
use serde_json::{Value, json};

#[path = "walkthroughs/scenario.rs"]
mod scenario;

use scenario::{Scenario, document, expected, read, shown};

fn rules(config: &str, mapped: bool) -> Rules {
    let mut kinds = Kind::defaults();
    if mapped {
        kinds[0].conditions = document("conditions.yaml");
    }
    let configs = AggregationConfig::read(&read(config)).unwrap_or_else(|e| panic!("{e}"));
    let (book, odd) = Rulebook::new(&kinds, &configs).unwrap_or_else(|error| panic!("{error}"));
    assert!(odd.is_empty(), "{odd:?}");
    book.rules("Cluster").clone()
}

fn cluster(created: Time) -> Resource {
    serde_json::from_value(json!({
        "id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "kind": "Cluster", "name": "my-cluster",
        "href": "/api/hyperfleet/v1/clusters/0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b",
        "spec": {"cloud": "aws", "region": "us-east-1"}, "generation": 1, "status": ResourceStatus::unknown(created),
        "created_time": created, "updated_time": created, "created_by": "ann", "updated_by": "ann",
    }))
    .unwrap()
}

/// A cluster with its reports, as an API would hold it.
struct World {
    rules: Rules,
    resource: Resource,
    reports: Vec<AdapterStatus>,
}

impl World {
    fn new(rules: Rules, created: Time) -> World {
        let mut world = World {
            rules,
            resource: cluster(created),
            reports: Vec::new(),
        };
        world.aggregate(created);
        world
    }

    fn aggregate(&mut self, now: Time) {
        let subject = Subject {
            resource: &self.resource,
            has_children: false,
        };
        self.resource.status = aggregate(&subject, &self.reports, now, &self.rules).status;
    }

    fn update(&mut self, at: Time) {
        self.resource.generation = self.resource.generation.next();
        self.resource.updated_time = at;
        self.aggregate(at);
    }

    /// Every body arrives at the moment it was observed.
    fn post(&mut self, body: &Value) {
        let time = body.get("last_updated_time");
        let time = time.unwrap_or_else(|| &body["adapter_statuses"][0]["last_updated_time"]);
        let now: Time = serde_json::from_value(time.clone()).unwrap();
        for report in Report::decode_all(body, now).unwrap_or_else(|e| panic!("{e}: {body}")) {
            let stored = self
                .reports
                .iter()
                .position(|r| r.adapter == report.adapter);
            let before = stored.map(|at| &self.reports[at]);
            match report.judge(self.resource.generation, before).unwrap() {
                Verdict::Accept(status) => {
                    self.reports.retain(|r| r.adapter != status.adapter);
                    self.reports.push(status);
                }
                other => panic!("not accepted: {other:?}"),
            }
            self.aggregate(now);
        }
    }
}

fn walk(name: &str) {
    let scenario: Scenario = document(name);
    let mut world = World::new(rules("aggregation.yaml", true), scenario.created);
    for stage in &scenario.stages {
        if let Some(at) = stage.updated {
            world.update(at);
        }
        for report in &stage.reports {
            world.post(report);
        }
        let expected = expected(stage);
        let shown = shown(&json!(world.resource.status), &expected);
        let (guide, stage) = (&scenario.guide, &stage.guide);
        assert_eq!(
            serde_json::to_string_pretty(&shown).unwrap(),
            serde_json::to_string_pretty(&expected).unwrap(),
            "{guide}, {stage}"
        );
    }
}

#[test]
fn a_cluster_is_provisioned_successfully() {
    walk("scenario-1-success.yaml");
}

#[test]
fn a_validation_fails_and_is_tried_again() {
    walk("scenario-2-failure.yaml");
}

#[test]
fn an_unhealthy_optional_adapter_degrades_a_cluster() {
    walk("scenario-3-degraded.yaml");
}

#[test]
fn an_adapter_goes_through_its_lifecycle() {
    walk("lifecycle.yaml");
}

#[test]
fn every_expression_of_the_guide_says_what_the_guide_means() {
    let created = "2025-10-17T12:00:00Z".parse().unwrap();
    let config = read("expressions.yaml");
    let text = format!(
        "requiredAdapters: [validation, dns, controlplane, nodepool]\noptionalAdapters: [validation-backup]\n{}",
        config.text()
    );
    let configs = AggregationConfig::read(&SourceFile::new("expressions.yaml", text)).unwrap();
    let (book, odd) = Rulebook::new(&Kind::defaults(), &configs).unwrap();
    assert!(odd.is_empty(), "{odd:?}");
    // Of each state the conditions that are True. An entry is adapter, Available, Applied, Health, generation.
    let says = |adapters: &[(&str, &str, &str, &str, i64)]| {
        let mut world = World::new(book.rules("Cluster").clone(), created);
        world.update(created);
        for (adapter, available, applied, health, generation) in adapters {
            let condition = |kind: &str, status: &str| json!({"type": kind, "status": status});
            world.post(&json!({
                "adapter": adapter, "observed_generation": generation, "last_updated_time": created,
                "conditions": [
                    condition("Available", available), condition("Applied", applied), condition("Health", health),
                ],
            }));
        }
        let conditions = world.resource.status.conditions.into_iter();
        let ours = |kind: &str| kind.contains("Reconciled") || kind.ends_with("Successful");
        let said = conditions.filter(|c| !ours(&c.kind));
        let said = said.inspect(|c| assert_ne!(c.reason.as_deref(), Some("RuleFailed"), "{c:?}"));
        said.filter(|c| c.status.is_true())
            .map(|c| c.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        says(&[]),
        ["NoStaleAdapters"],
        "nobody has reported: nothing is ready, and nobody's report is stale"
    );
    // "Example Evaluation": half of the required adapters are available.
    assert_eq!(
        says(&[
            ("validation", "False", "True", "True", 2),
            ("dns", "False", "True", "True", 2),
            ("controlplane", "True", "True", "True", 2),
            ("nodepool", "True", "True", "True", 2),
            ("validation-backup", "True", "True", "True", 2),
        ]),
        [
            "AllAdaptersReporting",
            "ValidationOrOptional",
            "Provisioning",
            "NodePoolReady",
            "NodePoolFullyReady",
            "ValidationPathReady",
            "NoStaleAdapters",
            "TwoAdaptersProvisioning",
        ]
    );
    assert_eq!(
        says(&[
            ("validation", "True", "True", "True", 2),
            ("dns", "True", "True", "False", 1),
            ("controlplane", "True", "True", "True", 2),
            ("nodepool", "False", "True", "True", 2),
        ]),
        [
            "AnyAdapterUnhealthy",
            "ValidationAvailable",
            "AtLeastThreeReady",
            "ValidationOrOptional",
            "Provisioning",
            "ValidationPassed",
            "AnyBehind",
            "MajorityAdaptersReady",
            "ValidationPathReady",
            "CoreProvisioning",
        ]
    );
}
