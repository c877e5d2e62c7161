use std::path::Path;
use std::sync::Arc;

use chrono::{TimeZone, Utc};
use hyperfleet_broker::Event;
use hyperfleet_source::SourceFile;
use serde_json::json;

use super::*;
use crate::config::{Identity, parse_task};
use crate::context::Context;
use crate::event::Subject;
use crate::stamp::GENERATION;
use crate::stamp::Stamp;

const TASK: &str = r#"
params:
  - {name: clusterId, source: event.id}
resources:
  - name: first
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "first-{{ .clusterId }}", namespace: default}
      data: {a: "1"}
    lifecycle:
      create: {when: {expression: event.?allowed.orValue(true)}}
      delete: {when: {expression: event.?remove.orValue(false) && !resources.?second.hasValue()}}
  - name: second
    recreate_on_change: true
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "second-{{ .clusterId }}", namespace: default}
    lifecycle:
      delete: {when: {expression: event.?remove.orValue(false)}, propagationPolicy: Foreground}
"#;

struct Case {
    event: Json,
    found: Vec<Found>,
    permit: Permit,
}

impl Case {
    fn new(event: Json, found: [Found; 2]) -> Self {
        let mut data = json!({"id": "c1", "kind": "Cluster", "generation": 2});
        data.as_object_mut()
            .unwrap()
            .extend(event.as_object().unwrap().clone());
        Self {
            event: data,
            found: found.into(),
            permit: Permit::All,
        }
    }

    fn plan(&self) -> Vec<Operation> {
        self.plan_of(TASK)
    }

    fn plan_of(&self, task: &str) -> Vec<Operation> {
        let file = SourceFile::new("task.yaml", task);
        let (task, _) = parse_task(&file, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
        let now = Utc.with_ymd_and_hms(2026, 1, 31, 12, 0, 0).unwrap();
        let event = Event::reconcile("Cluster", "test", self.event.clone(), now, "1");
        let subject = Subject::of(&event).unwrap();
        let identity = Identity {
            name: "dns".to_owned(),
            version: String::new(),
        };
        let config = Arc::new(json!({}));
        let mut context = Context::new(subject, now, &identity, config, &Default::default());
        context.set("clusterId", json!("c1"));
        for (resource, found) in task.resources.iter().zip(&self.found) {
            context.set_resource(&resource.name, found.current().cloned());
        }
        let stamp = Stamp {
            adapter: "dns",
            resource_id: "c1",
            generation: context.generation,
            keys: None,
        };
        let resources = task.resources.iter().zip(&self.found);
        resources
            .map(|(resource, found)| decide(resource, &context, &stamp, found, self.permit))
            .collect()
    }

    fn actions(&self) -> Vec<Action> {
        self.plan()
            .iter()
            .map(|operation| operation.action)
            .collect()
    }
}

fn absent() -> Found {
    Found::default()
}

fn at(generation: i64) -> Found {
    Found {
        versions: vec![
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": "x", "namespace": "default", "uid": "u1",
            "annotations": {GENERATION: generation.to_string()}}}),
        ],
        drift: Drift::None,
    }
}

fn terminating() -> Found {
    let mut found = at(2);
    found.versions[0]["metadata"]["deletionTimestamp"] = json!("2026-01-31T12:00:00Z");
    found
}

use Action::{Blocked, Create, Delete, Nothing, Recreate, Skip, Update};

#[test]
fn absent_objects_are_created_and_those_of_this_generation_left_alone() {
    assert_eq!(
        Case::new(json!({}), [absent(), at(2)]).actions(),
        [Create, Skip]
    );
}

#[test]
fn another_generation_older_or_newer_is_a_change() {
    assert_eq!(
        Case::new(json!({}), [at(1), at(1)]).actions(),
        [Update, Recreate]
    );
    assert_eq!(
        Case::new(json!({}), [at(3), at(3)]).actions(),
        [Update, Recreate]
    );
}

#[test]
fn drift_is_repaired_in_place_or_by_replacement_where_nothing_else_helps() {
    let drifted = |drift: Drift| Found { drift, ..at(2) };
    let fields = || drifted(Drift::Fields(vec![".data.a".to_owned()]));
    let stuck = || drifted(Drift::Immutable("field is immutable".to_owned()));
    assert_eq!(
        Case::new(json!({}), [fields(), fields()]).actions(),
        [Update, Update]
    );
    assert_eq!(
        Case::new(json!({}), [stuck(), stuck()]).actions(),
        [Blocked, Recreate]
    );
}

#[test]
fn a_create_gate_counts_only_while_the_object_is_absent() {
    let closed = json!({"allowed": false});
    assert_eq!(
        Case::new(closed.clone(), [absent(), at(2)]).actions(),
        [Skip, Skip]
    );
    assert_eq!(Case::new(closed, [at(1), at(2)]).actions(), [Update, Skip]);
}

#[test]
fn deletion_follows_the_gates_and_the_plan_foresees_what_they_open() {
    let remove = json!({"remove": true, "deleted_time": "2026-01-31T12:00:00Z"});
    let mut plan = Case::new(remove.clone(), [at(2), at(2)]).plan();
    assert_eq!(plan[0].action, Nothing);
    assert_eq!(plan[1].action, Delete);
    let target = plan[1].targets.remove(0);
    assert_eq!(
        (target.uid.as_deref(), target.propagation),
        (Some("u1"), Propagation::Foreground)
    );
    assert_eq!(
        Case::new(remove.clone(), [at(2), absent()]).actions(),
        [Delete, Nothing]
    );
    assert_eq!(
        Case::new(remove, [at(2), terminating()]).actions(),
        [Nothing, Nothing]
    );
}

#[test]
fn nothing_is_applied_while_the_owner_is_being_deleted() {
    let deleting = json!({"deleted_time": "2026-01-31T12:00:00Z"});
    assert_eq!(
        Case::new(deleting.clone(), [absent(), at(1)]).actions(),
        [Nothing, Nothing]
    );
}

#[test]
fn an_object_on_its_way_out_is_waited_for() {
    assert_eq!(
        Case::new(json!({}), [terminating(), at(2)]).actions(),
        [Nothing, Skip]
    );
}

#[test]
fn a_gate_that_fails_blocks_and_never_falls_through() {
    let broken = json!({"allowed": "maybe", "remove": "maybe"});
    let plan = Case::new(broken, [absent(), absent()]).plan();
    assert_eq!((plan[0].action, plan[1].action), (Blocked, Blocked));
    assert_eq!(plan[0].cause, Some("GateError"));
    assert!(
        plan[0].reason.contains("lifecycle.delete.when"),
        "{}",
        plan[0].reason
    );
}

#[test]
fn a_power_that_only_a_template_asks_for_is_refused_when_it_is_rendered() {
    let task = r#"
params:
  - {name: clusterId, source: event.id}
resources:
  - name: pod
    manifest:
      apiVersion: v1
      kind: Pod
      metadata: {name: pod, namespace: default}
      spec: {hostNetwork: '{{ eq .clusterId "c1" }}', containers: []}
    lifecycle:
      delete: {when: {expression: event.?remove.orValue(false)}}
"#;
    let plan = Case::new(json!({}), [absent(), absent()]).plan_of(task);
    assert_eq!(
        (plan[0].action, plan[0].cause),
        (Blocked, Some("DangerousManifest"))
    );
    assert!(
        plan[0].reason.contains("`hostNetwork`"),
        "{}",
        plan[0].reason
    );
    let allowed = task.replace("- name: pod\n", "- name: pod\n    allow: [hostNetwork]\n");
    let plan = Case::new(json!({}), [absent(), absent()]).plan_of(&allowed);
    assert_eq!(plan[0].action, Create);
    // What is there already can still be taken away.
    let remove = json!({"remove": true, "deleted_time": "2026-01-31T12:00:00Z"});
    let plan = Case::new(remove, [at(2), absent()]).plan_of(task);
    assert_eq!(plan[0].action, Delete);
}

#[test]
fn unmet_preconditions_hold_up_everything_but_deletions() {
    let mut case = Case::new(json!({"remove": true}), [absent(), at(1)]);
    case.permit = Permit::DeletesOnly;
    assert_eq!(case.actions(), [Nothing, Delete]);
}

#[test]
fn a_plan_can_be_printed() {
    let plan = Case::new(json!({}), [absent(), at(2)]).plan();
    let printed = serde_json::to_value(&plan).unwrap();
    assert_eq!(printed[0]["action"], "create");
    assert_eq!(printed[0]["object"]["name"], "first-c1");
    assert_eq!(printed[1]["reason"], "generation 2 unchanged");
}
