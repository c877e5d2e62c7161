use serde_json::json;

use super::*;

struct World {
    kind: KindInfo,
    resource: Value,
    reports: Vec<Value>,
    children: Vec<RemoteResource>,
    sentinels: Option<Vec<String>>,
}

impl World {
    /// A cluster at generation 2 that needs two adapters, and nobody has said anything.
    fn new() -> World {
        let kind = json!({"kind": "Cluster", "plural": "clusters", "singular": "cluster",
                          "required_adapters": ["validation", "dns"]});
        World {
            kind: serde_json::from_value(kind).unwrap(),
            resource: json!({
                "id": "1", "kind": "Cluster", "name": "one", "generation": 2, "updated_by": "me",
                "updated_time": "2026-01-01T00:00:00Z",
                "status": {"phase": "Pending", "conditions": [{"type": "Reconciled", "status": "False",
                    "last_transition_time": "2026-01-01T00:00:00Z"}]},
            }),
            reports: Vec::new(),
            children: Vec::new(),
            sentinels: Some(vec!["sentinel".to_owned()]),
        }
    }

    fn report(mut self, adapter: &str, generation: i64, conditions: Value) -> World {
        let conditions: Vec<Value> = conditions
            .as_object()
            .unwrap()
            .iter()
            .map(|(kind, said)| {
                json!({"type": kind, "status": said[0], "reason": said[1], "message": said[2],
                       "last_transition_time": "2026-01-01T00:00:30Z"})
            })
            .collect();
        self.reports.push(
            json!({"adapter": adapter, "observed_generation": generation,
            "conditions": conditions, "last_report_time": "2026-01-01T00:00:50Z"}),
        );
        self
    }

    fn done(self, adapter: &str) -> World {
        let ok = json!(["True", "Ok", ""]);
        self.report(
            adapter,
            2,
            json!({"Available": ok, "Applied": ok, "Health": ok}),
        )
    }

    fn set(mut self, pointer: &str, value: Value) -> World {
        *self.resource.pointer_mut(pointer).unwrap() = value;
        self
    }

    fn finding(&self) -> Finding {
        Finding::of(&Evidence {
            kind: &self.kind,
            resource: &RemoteResource::from_json(self.resource.clone()).unwrap(),
            statuses: &json!({"adapter_statuses": self.reports}),
            children: &self.children,
            sentinels: self.sentinels.as_deref(),
            events: &[],
            times: Times::Default,
            now: "2026-01-01T00:01:00Z".parse().unwrap(),
        })
    }
}

#[test]
fn what_nobody_has_looked_at_waits_for_its_adapters_or_for_a_sentinel() {
    let world = World::new();
    let finding = world.finding();
    assert_eq!(
        finding.verdict,
        "It waits for validation, dns to report on generation 2"
    );
    assert_eq!(finding.stuck_for().unwrap().num_seconds(), 60);
    let alone = World {
        sentinels: Some(Vec::new()),
        ..world
    };
    let finding = alone.finding();
    assert_eq!(
        finding.verdict,
        "Nobody tells the adapters: no Sentinel watches this cluster"
    );
    assert!(
        finding.try_next[0].contains("sentinel serve"),
        "{:?}",
        finding.try_next
    );
}

#[test]
fn a_false_precondition_is_told_with_its_words() {
    let not_met = json!([
        "False",
        "PreconditionsNotMet",
        "precondition 'zone' not met: phase is \"Pending\""
    ]);
    let ok = json!(["True", "Ok", ""]);
    let world = World::new().done("validation").report(
        "dns",
        2,
        json!({"Available": not_met, "Applied": not_met, "Health": ok}),
    );
    let finding = world.finding();
    assert_eq!(finding.adapters[1].state, State::Waiting);
    assert_eq!(
        finding.verdict,
        "The adapter dns waits: PreconditionsNotMet: precondition 'zone' not met: phase is \"Pending\""
    );
    let blockers: Vec<&str> = finding
        .blocked_by
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(blockers, ["dns"]);
}

#[test]
fn who_is_not_well_comes_before_everything_else() {
    let ok = json!(["True", "Ok", ""]);
    let bad = json!(["False", "ApplyFailed", "403 from the cluster"]);
    let world = World::new()
        .report(
            "dns",
            2,
            json!({"Available": bad, "Applied": bad, "Health": bad}),
        )
        .report(
            "extra",
            2,
            json!({"Available": ok, "Applied": ok, "Health": ok}),
        )
        .set("/status/phase", json!("Degraded"));
    let finding = world.finding();
    assert_eq!(
        finding.verdict,
        "Not ready: the adapter dns is not well: ApplyFailed: 403 from the cluster"
    );
    let order: Vec<(&str, bool)> = finding
        .adapters
        .iter()
        .map(|it| (it.name.as_str(), it.required))
        .collect();
    assert_eq!(
        order,
        [("validation", true), ("dns", true), ("extra", false)]
    );
    assert_eq!(
        finding.try_next.last().unwrap(),
        "hyperfleet history cluster/one"
    );
}

#[test]
fn a_report_on_an_older_generation_is_behind() {
    let ok = json!(["True", "Ok", "fine"]);
    let world = World::new().done("validation").report(
        "dns",
        1,
        json!({"Available": ok, "Applied": ok, "Health": ok}),
    );
    let finding = world.finding();
    assert_eq!(finding.adapters[1].state, State::Behind);
    assert_eq!(
        finding.verdict,
        "It waits for dns to report on generation 2"
    );
}

#[test]
fn a_deletion_is_held_up_by_children_then_by_adapters() {
    let mut world = World::new().done("validation").done("dns");
    world.resource["deleted_time"] = json!("2026-01-01T00:00:00Z");
    world.resource["deleted_by"] = json!("somebody");
    let finding = world.finding();
    assert_eq!(finding.wanted.by, "somebody");
    assert_eq!(finding.verdict, "The adapter validation cleans up: Ok");
    world.children =
        vec![RemoteResource::from_json(json!({"kind": "NodePool", "name": "workers"})).unwrap()];
    let finding = world.finding();
    assert_eq!(
        finding.verdict,
        "It waits until its children are gone: nodepool/workers"
    );
    assert_eq!(finding.try_next[0], "hyperfleet why nodepool/workers");
}

#[test]
fn what_is_ready_says_so() {
    let world = World::new()
        .done("validation")
        .done("dns")
        .set("/status/phase", json!("Ready"));
    assert_eq!(world.finding().verdict, "Nothing is wrong: it is Ready");
}
