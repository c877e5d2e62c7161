use std::path::Path;

use hyperfleet_source::SourceFile;
use serde_json::json;

use super::*;
use crate::config::parse_task;

const TASK: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
resources:
  - name: job
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "check-{{ .clusterId }}", namespace: "{{ .cluster.spec.namespace }}"}
"#;

async fn tried(responses: Json, discovery: Json) -> Trace {
    tried_task(TASK, responses, discovery).await
}

async fn tried_task(task: &str, responses: Json, discovery: Json) -> Trace {
    let file = SourceFile::new("task.yaml", task);
    let (task, _) = parse_task(&file, Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let event = json!({"specversion": "1.0", "id": "e1", "source": "s",
        "type": "com.redhat.hyperfleet.cluster.reconcile.v1",
        "data": {"id": "c1", "kind": "Cluster", "generation": 1, "href": "clusters/c1"}});
    let mut deployment = Deployment::default();
    deployment.adapter.name = "check".to_owned();
    let inputs = Inputs {
        event: event.to_string().into_bytes(),
        responses: Some(responses.to_string().into_bytes()),
        discovery: Some(discovery.to_string().into_bytes()),
        environment: BTreeMap::new(),
    };
    dry_run(&deployment, task, inputs, Utc::now())
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

fn answers(body: Json) -> Json {
    json!({"responses": [{"match": {"method": "GET", "urlPattern": "/clusters/c1$"},
        "responses": [{"statusCode": 200, "body": body}]}]})
}

#[tokio::test]
async fn a_new_object_would_be_created_and_the_recorded_state_reported() {
    let cluster = json!({"id": "c1", "generation": 1, "spec": {"namespace": "ns"}});
    let done = json!({"check-c1x": {}, "check-c2": {"apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "check-c2", "namespace": "ns"}}});
    let trace = tried(answers(cluster), done).await;
    assert_eq!((trace.status, trace.exit_code()), ("success", 0));
    let text = trace.text(false);
    assert!(
        text.contains("create   job: Job ns/check-c1  (it does not exist)"),
        "{text}"
    );
    assert!(text.contains("Available  False   JobPending"), "{text}");
    assert!(
        text.contains("GET http://api.invalid/api/hyperfleet/v1/clusters/c1 -> 200\n"),
        "{text}"
    );
    assert!(text.ends_with("Result: SUCCESS\n"), "{text}");
}

#[tokio::test]
async fn what_would_fail_exits_with_one_and_says_where() {
    let trace = tried(
        answers(json!({"id": "c1", "generation": 1, "spec": {}})),
        json!({}),
    )
    .await;
    assert_eq!((trace.status, trace.exit_code()), ("failed", 1));
    assert_eq!(trace.failed_at.as_deref(), Some("resources/job"));
    assert!(
        trace.text(true).contains("namespace"),
        "{}",
        trace.text(true)
    );
}

#[test]
fn a_recording_without_answers_or_with_a_broken_pattern_is_refused() {
    let client = ApiClient::default();
    let with = |endpoint: Json| {
        let text = json!({"responses": [endpoint]}).to_string();
        RecordedApi::new(Some(text.as_bytes()), &client).is_err()
    };
    assert!(with(json!({"match": {"urlPattern": "x"}, "responses": []})));
    assert!(with(
        json!({"match": {"urlPattern": "("}, "responses": [{}]})
    ));
    assert!(!with(
        json!({"match": {"urlPattern": "x"}, "responses": [{}]})
    ));
}

use crate::config::ApiClient;

#[tokio::test]
async fn a_recorded_work_is_found_whatever_cluster_it_is_for() {
    const WORK: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
resources:
  - name: work
    transport: {client: maestro, maestro: {target_cluster: east}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "work-{{ .clusterId }}"}
      spec: {workload: {manifests: [{apiVersion: v1, kind: Namespace, metadata: {name: inner}}]}}
    nested_discoveries:
      - {name: inner, discovery: {by_name: inner}}
"#;
    let recorded = |generation: &str| {
        json!({"work-c1": {"apiVersion": "work.open-cluster-management.io/v1", "kind": "ManifestWork",
            "metadata": {"name": "work-c1", "annotations": {"hyperfleet.io/generation": generation}},
            "spec": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": "inner", "annotations": {"hyperfleet.io/generation": generation}}}]}},
            "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]}}})
    };
    let answer = answers(json!({"id": "c1", "generation": 1}));
    let trace = tried_task(WORK, answer.clone(), json!({})).await;
    assert!(
        trace
            .text(false)
            .contains("create   work: ManifestWork east/work-c1"),
        "{}",
        trace.text(false)
    );
    let trace = tried_task(WORK, answer.clone(), recorded("0")).await;
    assert!(
        trace.text(false).contains("update   work"),
        "{}",
        trace.text(false)
    );
}
