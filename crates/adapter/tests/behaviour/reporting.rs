//! What is reported: preconditions with the values they saw, the author's payload, or the standard.

use hyperfleet_adapter::{Outcome, Status};
use serde_json::json;

use crate::world::{CONFIG_MAP, World, cluster, condition, event, handle, message};

fn with(extra: &str) -> String {
    format!("{CONFIG_MAP}{extra}")
}

#[tokio::test]
async fn a_precondition_that_is_not_met_tells_the_values_it_saw() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let structured = with(
        r#"
preconditions:
  - name: clusterIsReady
    conditions:
      - field: cluster.status.phase
        operator: in
        values: [Ready, Installing]
"#,
    );
    let expression = with(
        r#"
preconditions:
  - name: clusterIsReady
    expression: cluster.status.phase == "Ready"
"#,
    );
    for task in [structured, expression] {
        let run = handle(&world.engine(&task), &event("c1", 1)).await;
        assert_eq!(run.outcome, Outcome::Done(Status::Skipped));
        assert!(run.operations.is_empty());
        let report = world.api.last_report();
        assert_eq!(
            condition(&report, "Applied"),
            ("False".into(), "PreconditionsNotMet".into())
        );
        assert_eq!(condition(&report, "Available").0, "False");
        assert_eq!(condition(&report, "Health").0, "True");
        let said = message(&report, "Applied");
        assert!(
            said.contains("clusterIsReady") && said.contains("cluster.status.phase is \"Pending\""),
            "{said}"
        );
    }
}

#[tokio::test]
async fn the_older_form_fetches_and_captures_in_a_precondition() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = r#"
params:
  - {name: clusterId, source: event.id, required: true}
preconditions:
  - name: clusterStatus
    apiCall:
      method: GET
      url: "/api/hyperfleet/v1/clusters/{{ .clusterId }}"
    capture:
      - name: phase
        field: status.phase
      - name: region
        expression: clusterStatus.spec.region
      - name: missing
        field: spec.nothing
        default: none
    conditions:
      - {field: phase, operator: equals, value: Pending}
      - {field: region, operator: in, value: [eu, us]}
      - {field: missing, operator: equals, value: none}
      - {field: clusterStatus.generation, operator: greaterThanOrEqual, value: 1}
resources:
  - name: settings
    manifest: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings-{{ .clusterId }}
        namespace: default
      data:
        {{- if eq .region "eu" }}
        law: gdpr
        {{- end }}
        region: {{ .region }}
"#;
    let run = handle(&world.engine(task), &event("c1", 1)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Success),
        "{:?}",
        run.fault
    );
    let made = world
        .object("ConfigMap", "default", "settings-c1")
        .await
        .unwrap();
    assert_eq!(made["data"], json!({"law": "gdpr", "region": "eu"}));
}

const OWN_POST: &str = r#"
post:
  payloads:
    - name: statusPayload
      build:
        adapter: "{{ .adapter.name }}"
        observed_generation:
          expression: cluster.generation
        observed_time: '{{ now | date "2006-01-02T15:04:05Z07:00" }}'
        conditions:
          - type: Applied
            status:
              expression: 'resources.?settings.hasValue() ? "True" : "False"'
            reason: Settings
            message: "for {{ .clusterId }}"
          - type: Available
            status:
              expression: 'resources.?settings.?data.?region.orValue("") == "eu" ? "True" : "False"'
            reason: Settings
            message:
              field: resources.settings.metadata.name
              default: none
          - type: Health
            status:
              expression: 'adapter.executionStatus == "success" ? "True" : "False"'
            reason:
              expression: 'adapter.errorReason != "" ? adapter.errorReason : "Healthy"'
            message:
              expression: adapter.errorMessage
              default: ok
  post_actions:
    - name: reportStatus
      api_call:
        method: PUT
        url: "clusters/{{ .clusterId }}/statuses"
        body: "{{ .statusPayload }}"
"#;

#[tokio::test]
async fn the_authors_own_payload_is_built_and_sent() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 4));
    let run = handle(&world.engine(&with(OWN_POST)), &event("c1", 4)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Success),
        "{:?}",
        run.fault
    );
    let report = world.api.last_report();
    assert_eq!(report["adapter"], "test");
    assert_eq!(report["observed_generation"], 4);
    assert_eq!(condition(&report, "Available").0, "True");
    assert_eq!(message(&report, "Available"), "settings-c1");
    assert_eq!(run.report, Some(report));
}

#[tokio::test]
async fn a_payload_the_api_refuses_is_replaced_by_the_frameworks_own_report() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = with(&OWN_POST.replace("- type: Health", "- type: Wealth"));
    let run = handle(&world.engine(&task), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Health").0, "False");
    assert!(
        message(&report, "Health").contains("reportStatus"),
        "{report}"
    );
}

#[tokio::test]
async fn a_payload_that_cannot_be_built_is_reported_by_the_framework() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = with(&OWN_POST.replace("for {{ .clusterId }}", "{{ .cluster.spec.nothing }}"));
    let run = handle(&world.engine(&task), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    for kind in ["Applied", "Available", "Health"] {
        assert_eq!(
            condition(&report, kind),
            ("False".into(), "PayloadError".into())
        );
    }
    assert!(message(&report, "Health").contains("nothing"));
}

#[tokio::test]
async fn a_payload_that_is_left_out_takes_its_action_with_it() {
    let world = World::start().await;
    world.api.set("c1", cluster("c1", 1));
    let task = with(&OWN_POST.replace(
        "      build:\n",
        "      when: {expression: adapter.resourcesSkipped}\n      build:\n",
    ));
    let run = handle(&world.engine(&task), &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Success));
    assert_eq!(run.report, None);
}
