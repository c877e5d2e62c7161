//! What no configuration and no state of the world can make a plan do.

use std::path::Path;
use std::sync::Arc;

use chrono::{TimeDelta, TimeZone, Utc};
use hyperfleet_broker::Event;
use hyperfleet_source::SourceFile;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::config::{Identity, parse_task};
use crate::context::Context;
use crate::event::Subject;
use crate::stamp::{ADAPTER, GENERATION, RESOURCE_ID, Stamp, is_marked};
use crate::task::Task;

/// Every gate asks the event; a gate the event says nothing about cannot be answered.
const GATES: [&str; 7] = [
    "when", "apply", "create", "patch", "recreate", "detach", "delete",
];

fn task(retention: &str) -> Task {
    let gate = |name: &str| format!("{{when: {{expression: event.gates.{name}}}}}");
    let text = format!(
        r#"
resources:
  - name: job
    when: {{expression: event.gates.when}}
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata: {{name: "job-{{{{ .event.version }}}}", namespace: default}}
    discovery:
      namespace: default
      by_selectors: {{label_selector: {{hyperfleet.io/resource-id: c1}}}}
    {retention}
    lifecycle:
      apply: {apply}
      create: {create}
      recreate: {recreate}
      detach: {detach}
      delete: {delete}
      patch:
        - when: {{expression: event.gates.patch}}
          document: {{metadata: {{annotations: {{a: b}}}}}}
"#,
        apply = gate("apply"),
        create = gate("create"),
        recreate = gate("recreate"),
        detach = gate("detach"),
        delete = gate("delete"),
    );
    let file = SourceFile::new("task.yaml", text);
    let (task, _) = parse_task(&file, Path::new(".")).unwrap_or_else(|error| panic!("{error}"));
    task
}

#[derive(Debug, Clone)]
struct State {
    gates: Vec<Option<bool>>,
    versions: Vec<(i64, i64, bool, bool)>,
    deleting: bool,
    retained: Option<u32>,
    permit: bool,
}

fn states() -> impl Strategy<Value = State> {
    let gates = prop::collection::vec(prop::option::weighted(0.9, any::<bool>()), GATES.len());
    // Generation, age in hours, on its way out, marked as ours.
    let version = (
        1_i64..4,
        0_i64..100,
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.8),
    );
    let versions = prop::collection::vec(version, 0..5);
    let retained = prop::option::of(0_u32..3);
    (gates, versions, any::<bool>(), retained, any::<bool>()).prop_map(
        |(gates, versions, deleting, retained, permit)| State {
            gates,
            versions,
            deleting,
            retained,
            permit,
        },
    )
}

fn object(index: usize, (generation, age, going, ours): (i64, i64, bool, bool)) -> Json {
    let now = Utc.with_ymd_and_hms(2026, 1, 31, 12, 0, 0).unwrap();
    let mut object = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {
        "name": format!("job-{index}"), "namespace": "default", "uid": format!("u{index}"),
        "creationTimestamp": (now - TimeDelta::hours(age)).to_rfc3339(),
        "annotations": {GENERATION: generation.to_string()}}});
    if ours {
        object["metadata"]["labels"] = json!({ADAPTER: "dns", RESOURCE_ID: "c1"});
    }
    if going {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-31T11:00:00Z");
    }
    object
}

proptest! {
    #[test]
    fn a_plan_never_does_what_no_gate_allows(state in states()) {
        let task = task(&match state.retained {
            Some(limit) => format!("retention: {{historyLimit: {limit}, ttl: 48h}}"),
            None => String::new(),
        });
        let gates = GATES.iter().zip(&state.gates);
        let gates: serde_json::Map<String, Json> = gates
            .filter_map(|(name, open)| Some(((*name).to_owned(), json!((*open)?))))
            .collect();
        let open = |name: &str| gates.get(name).and_then(Json::as_bool);
        let mut data = json!({"id": "c1", "kind": "Cluster", "generation": 2, "version": "new", "gates": gates});
        if state.deleting {
            data["deleted_time"] = json!("2026-01-31T11:00:00Z");
        }
        let now = Utc.with_ymd_and_hms(2026, 1, 31, 12, 0, 0).unwrap();
        let event = Event::reconcile("Cluster", "test", data, now, "1");
        let subject = Subject::of(&event).unwrap();
        let identity = Identity { name: "dns".to_owned(), version: String::new() };
        let mut context = Context::new(subject, now, &identity, Arc::new(json!({})), &Default::default());
        let mut versions: Vec<Json> = state.versions.iter().enumerate().map(|(index, one)| object(index, *one)).collect();
        crate::discover::order(&mut versions, context.generation);
        let found = Found { versions, drift: Drift::None };
        let resource = &task.resources[0];
        context.set_resource("job", found.current().cloned());
        let stamp = Stamp { adapter: "dns", resource_id: "c1", generation: Some(2), keys: None };
        let permit = if state.permit { Permit::All } else { Permit::DeletesOnly };
        let operation = decide(resource, &context, &stamp, &found, permit);
        let action = operation.action;
        let alive = || found.versions.iter().filter(|one| !is_terminating(one));
        let uids = |targets: &[Target]| targets.iter().filter_map(|one| one.uid.clone()).collect::<Vec<_>>();

        // A question that cannot be answered changes nothing, if it is reached.
        match (open("detach"), open("delete")) {
            (None, _) | (Some(false), None) => prop_assert_eq!(action, Action::Blocked),
            // Letting go comes first, never deletes, and takes every marked version.
            (Some(true), _) => {
                prop_assert!(matches!(action, Action::Detach | Action::Nothing));
                let marked = found.versions.iter().filter(|one| is_marked(one)).count();
                prop_assert_eq!(operation.targets.len(), marked);
            }
            // Deletion spares no version.
            (Some(false), Some(true)) => {
                prop_assert!(matches!(action, Action::Delete | Action::Nothing));
                prop_assert_eq!(operation.targets.len(), alive().count());
            }
            (Some(false), Some(false)) => {
                prop_assert!(!matches!(action, Action::Delete | Action::Detach));
                if state.deleting || !state.permit {
                    prop_assert_eq!(action, Action::Nothing);
                }
            }
        }
        let writes = matches!(action, Action::Create | Action::Update | Action::Recreate | Action::Patch);
        if writes {
            prop_assert!(!state.deleting && state.permit && open("when") == Some(true));
        }
        if action == Action::Blocked {
            prop_assert!(operation.targets.is_empty() && operation.manifest.is_none() && operation.patches.is_empty());
            prop_assert!(operation.cause.is_some());
        }
        // There is one version unless old ones are kept: whatever else there is goes first.
        if let (Action::Recreate, None) = (action, state.retained) {
            prop_assert_eq!(operation.targets.len(), alive().count());
        }
        if state.retained.is_some() {
            prop_assert_ne!(action, Action::Recreate);
        }

        // Pruning takes what is old, never what counts, and only where something was settled.
        let current = match action {
            Action::Create => operation.manifest.clone(),
            _ => found.current().cloned(),
        };
        let pruned = prune(resource, &context, &found, &operation, current.as_ref());
        if let Some(pruned) = &pruned {
            prop_assert!(state.retained.is_some() && !state.deleting && action != Action::Blocked);
            if action != Action::Create {
                let counts = current.as_ref().and_then(|one| one["metadata"]["uid"].as_str()).unwrap();
                prop_assert!(!uids(&pruned.targets).iter().any(|uid| uid == counts));
            }
        }
        if let (Action::Create, Some(limit)) = (action, state.retained) {
            let gone = pruned.map_or(0, |pruned| pruned.targets.len());
            prop_assert!(alive().count() - gone <= limit as usize);
        }
    }
}
