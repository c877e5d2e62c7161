//! Works handed to Maestro, beside objects in Kubernetes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use hyperfleet_adapter::config::Deployment;
use hyperfleet_adapter::dry_run::preview;
use hyperfleet_adapter::plan::Action;
use hyperfleet_adapter::{Engine, Outcome, Run, Status};
use hyperfleet_core::ownership::{Key, Keyring};
use hyperfleet_transport::{MaestroConfig, MaestroTransport, ObjectKind, Transport};
use serde_json::{Value as Json, json};

use crate::world::{World, cluster, compiled, condition, event, handle, message};

const TASK: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
  - {name: placement, source: {expression: "cluster.spec.?placement.orValue('cluster1')"}}
  - {name: isDeleting, source: {expression: "cluster.?deleted_time.orValue(null) != null"}}
resources:
  - name: note
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "note-{{ .clusterId }}", namespace: default}
    lifecycle: {delete: {when: {expression: "isDeleting && !resources.?work.hasValue()"}}}
  - name: work
    transport: {client: maestro, maestro: {target_cluster: "{{ .placement }}"}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "work-{{ .clusterId }}", namespace: overwritten}
      spec:
        workload:
          manifests:
            - apiVersion: v1
              kind: Namespace
              metadata: {name: "{{ .clusterId }}", labels: {part: ns}}
            - apiVersion: v1
              kind: ConfigMap
              metadata:
                name: settings
                namespace: "{{ .clusterId }}"
                annotations: {hyperfleet.io/generation: "7"}
              data: {region: "{{ .cluster.spec.region }}"}
    discovery: {by_name: "work-{{ .clusterId }}"}
    nested_discoveries:
      - {name: space, discovery: {by_selectors: {label_selector: {part: ns}}}}
      - {name: settings, discovery: {namespace: "{{ .clusterId }}", by_name: settings}}
    lifecycle:
      delete: {when: {expression: isDeleting}}
      detach: {when: {expression: "cluster.spec.?release.orValue(false)"}}
      patch:
        - when: {expression: "cluster.spec.?pause.orValue(false)"}
          document: {metadata: {annotations: {paused: "true"}}}
"#;

struct Target {
    server: maestrosim::Server,
    transport: Arc<dyn Transport>,
}

impl Target {
    async fn start() -> Self {
        let server = maestrosim::Server::start(maestrosim::Options::default()).await;
        let server = server.unwrap();
        server.register("cluster1");
        let mut config =
            MaestroConfig::new(server.grpc_address(), server.http_address(), "hyperfleet");
        config.attempts = 1;
        config.timeout = Duration::from_secs(5);
        let transport = Arc::new(MaestroTransport::connect(config).await.unwrap());
        Self { server, transport }
    }

    fn engine(&self, world: &World, task: &str) -> Engine {
        Engine {
            maestro: Arc::clone(&self.transport),
            ..world.engine(task)
        }
    }

    async fn work(&self, name: &str) -> Option<Json> {
        let kind = ObjectKind::new("work.open-cluster-management.io/v1", "ManifestWork");
        let found = self
            .transport
            .get(&kind.named(Some("cluster1"), name))
            .await;
        found.unwrap()
    }
}

fn action(run: &Run, resource: &str) -> Action {
    let done = run.operations.iter().find(|one| one.resource == resource);
    done.unwrap_or_else(|| panic!("nothing was done to {resource}: {:?}", run.fault))
        .action
}

async fn started() -> (World, Target, Engine) {
    let (world, target) = (World::start().await, Target::start().await);
    world.api.set("c1", cluster("c1", 1));
    let engine = target.engine(&world, TASK);
    (world, target, engine)
}

#[tokio::test]
async fn a_work_and_an_object_live_in_one_adapter() {
    let (world, target, engine) = started().await;
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Success),
        "{:?}",
        run.fault
    );
    assert_eq!(action(&run, "note"), Action::Create);
    assert_eq!(action(&run, "work"), Action::Create);
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_some()
    );
    let work = target.work("work-c1").await.unwrap();
    let metadata = &work["metadata"];
    assert_eq!(
        metadata["namespace"], "cluster1",
        "the target cluster is where a work lives"
    );
    assert_eq!(
        metadata["labels"],
        json!({"hyperfleet.io/adapter": "test", "hyperfleet.io/resource-id": "c1"})
    );
    assert_eq!(metadata["annotations"]["hyperfleet.io/generation"], "1");
    let carried = &work["spec"]["workload"]["manifests"];
    let generation = |index: usize| {
        carried[index]["metadata"]["annotations"]["hyperfleet.io/generation"].clone()
    };
    assert_eq!(generation(0), "1", "a gap is filled");
    assert_eq!(generation(1), "7", "what is written stays");
    assert_eq!(
        carried[0]["metadata"]["labels"],
        json!({"part": "ns"}),
        "only the work says whose it is"
    );
}

#[tokio::test]
async fn an_unchanged_generation_writes_nothing_and_a_new_one_updates() {
    let (world, target, engine) = started().await;
    handle(&engine, &event("c1", 1)).await;
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(action(&run, "work"), Action::Skip);
    assert_eq!(target.server.events(), 1);
    let mut changed = cluster("c1", 2);
    changed["spec"]["region"] = json!("us");
    world.api.set("c1", changed);
    let run = handle(&engine, &event("c1", 2)).await;
    assert_eq!(action(&run, "work"), Action::Update, "{:?}", run.fault);
    let work = target.work("work-c1").await.unwrap();
    assert_eq!(
        work["metadata"]["annotations"]["hyperfleet.io/generation"],
        "2"
    );
    assert_eq!(
        work["spec"]["workload"]["manifests"][1]["data"]["region"],
        "us"
    );
    assert_eq!(target.server.events(), 2);
}

#[tokio::test]
async fn a_work_somebody_changed_is_put_right() {
    let (_world, target, engine) = started().await;
    handle(&engine, &event("c1", 1)).await;
    let kind = ObjectKind::new("work.open-cluster-management.io/v1", "ManifestWork");
    let object = kind.named(Some("cluster1"), "work-c1");
    let meddling = json!({"spec": {"deleteOption": {"propagationPolicy": "Orphan"}}});
    target.transport.patch(&object, &meddling).await.unwrap();
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(action(&run, "work"), Action::Update, "{:?}", run.operations);
    let work = target.work("work-c1").await.unwrap();
    assert_eq!(work["spec"]["deleteOption"], Json::Null);
}

#[tokio::test]
async fn it_is_available_when_the_agent_says_so_of_this_version() {
    let (world, target, engine) = started().await;
    handle(&engine, &event("c1", 1)).await;
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Available"),
        ("False".into(), "Progressing".into())
    );
    assert_eq!(condition(&report, "Applied").0, "True");
    let feedback = json!({"values": [{"name": "phase", "fieldValue": {"type": "String", "string": "Active"}}]});
    let well = json!({
        "conditions": [{"type": "Applied", "status": "True"}, {"type": "Available", "status": "True"}],
        "resourceStatus": [{"resourceMeta": {"kind": "Namespace", "name": "c1", "namespace": ""},
            "statusFeedback": feedback, "conditions": [{"type": "Available", "status": "True"}]}],
    });
    assert!(target.server.report("cluster1", "work-c1", well.clone()));
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(condition(&world.api.last_report(), "Available").0, "True");
    let context = run.context.unwrap();
    let space = context.resource("space").unwrap();
    assert_eq!(space["statusFeedback"], feedback);
    assert_eq!(space["conditions"][0]["type"], "Available");
    assert_eq!(
        context.resource("settings").unwrap()["data"]["region"],
        "eu"
    );

    let mut changed = cluster("c1", 2);
    changed["spec"]["region"] = json!("us");
    world.api.set("c1", changed);
    handle(&engine, &event("c1", 2)).await;
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Available").0,
        "False",
        "the agent spoke of the version before"
    );
    assert!(target.server.report("cluster1", "work-c1", well));
    handle(&engine, &event("c1", 2)).await;
    assert_eq!(condition(&world.api.last_report(), "Available").0, "True");
}

#[tokio::test]
async fn feedback_is_read_in_expressions() {
    let (world, target, _) = started().await;
    let task = TASK.replace(
        "  - name: note\n",
        "  - name: note\n    when: {expression: \"resources.?space.hasValue() && statusFeedbackValue(resources.space.statusFeedback, 'phase') == 'Active'\"}\n",
    );
    let engine = target.engine(&world, &task);
    handle(&engine, &event("c1", 1)).await;
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_none()
    );
    let said = json!({"resourceStatus": [{"resourceMeta": {"kind": "Namespace", "name": "c1"},
        "statusFeedback": {"values": [{"name": "phase", "fieldValue": {"type": "String", "string": "Active"}}]}}]});
    target.server.report("cluster1", "work-c1", said);
    handle(&engine, &event("c1", 1)).await;
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_some()
    );
}

#[tokio::test]
async fn a_cluster_that_maestro_does_not_know_is_named_in_the_report() {
    let (world, target, engine) = started().await;
    let mut misplaced = cluster("c1", 1);
    misplaced["spec"]["placement"] = json!("nobody");
    world.api.set("c1", misplaced);
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    for kind in ["Applied", "Available", "Health"] {
        assert_eq!(condition(&report, kind).0, "False", "{kind}");
    }
    let told = message(&report, "Health");
    assert!(
        told.contains("consumer \"nobody\" is not registered in Maestro"),
        "{told}"
    );
    assert_eq!(target.server.bundles().len(), 0);
}

#[tokio::test]
async fn an_outage_of_maestro_is_reported_and_passes() {
    let (world, target, engine) = started().await;
    target.server.set_down(true);
    let run = handle(&engine, &event("c1", 1)).await;
    assert!(
        matches!(run.outcome, Outcome::Retry { .. }),
        "{:?}",
        run.outcome
    );
    assert_eq!(
        condition(&world.api.last_report(), "Health"),
        ("False".into(), "MaestroUnavailable".into())
    );
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_none(),
        "nothing is touched half seen"
    );
    target.server.set_down(false);
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Success));
    assert_eq!(condition(&world.api.last_report(), "Health").0, "True");
}

#[tokio::test]
async fn deletion_waits_for_the_agent_and_what_depends_on_it_waits_too() {
    let (world, target, engine) = started().await;
    handle(&engine, &event("c1", 1)).await;
    let mut deleted = cluster("c1", 2);
    deleted["deleted_time"] = json!("2026-01-31T12:00:00Z");
    world.api.set("c1", deleted);
    let run = handle(&engine, &event("c1", 2)).await;
    assert_eq!(action(&run, "work"), Action::Delete, "{:?}", run.fault);
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "False");
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_some()
    );
    assert!(target.server.confirm_deletion("cluster1", "work-c1"));
    handle(&engine, &event("c1", 2)).await;
    assert!(
        world
            .object("ConfigMap", "default", "note-c1")
            .await
            .is_none()
    );
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
}

#[tokio::test]
async fn a_work_is_signed_patched_and_let_go() {
    let (world, target, mut engine) = started().await;
    let keys = Keyring {
        current: Key::new(&[7; 32]).unwrap(),
        previous: None,
    };
    engine.keys = Some(Arc::new(keys));
    handle(&engine, &event("c1", 1)).await;
    let work = target.work("work-c1").await.unwrap();
    let claim = hyperfleet_transport::claim(&work).unwrap();
    assert_eq!((claim.namespace, claim.name), ("cluster1", "work-c1"));
    let signed = work["metadata"]["annotations"]["hyperfleet.io/ownership"].as_str();
    assert!(
        engine
            .keys
            .as_ref()
            .unwrap()
            .verify(&claim, signed.unwrap())
    );

    let mut paused = cluster("c1", 1);
    paused["spec"]["pause"] = json!(true);
    world.api.set("c1", paused);
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(action(&run, "work"), Action::Patch, "{:?}", run.fault);
    let work = target.work("work-c1").await.unwrap();
    assert_eq!(work["metadata"]["annotations"]["paused"], "true");

    let mut released = cluster("c1", 1);
    released["spec"]["release"] = json!(true);
    world.api.set("c1", released);
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(action(&run, "work"), Action::Detach, "{:?}", run.fault);
    let work = target.work("work-c1").await.unwrap();
    assert_eq!(work["metadata"]["labels"], json!({}));
    assert_eq!(
        work["metadata"]["annotations"]["hyperfleet.io/ownership"],
        Json::Null
    );
    assert_eq!(
        work["metadata"]["annotations"]["hyperfleet.io/generation"], "1",
        "the generation stays"
    );
    assert_eq!(
        work["spec"]["workload"]["manifests"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn old_versions_of_a_work_are_kept_and_pruned() {
    let (world, target) = (World::start().await, Target::start().await);
    let task = r#"
params:
  - {name: clusterId, source: event.id, required: true}
resources:
  - name: run
    transport: {client: maestro, maestro: {target_cluster: cluster1}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "run-{{ .clusterId }}-{{ .event.generation }}"}
      spec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}]}}
    discovery: {by_selectors: {label_selector: {hyperfleet.io/resource-id: "{{ .clusterId }}"}}}
    retention: {historyLimit: 1}
"#;
    let engine = target.engine(&world, task);
    for generation in 1..=3 {
        world.api.set("c1", cluster("c1", generation));
        let run = handle(&engine, &event("c1", generation)).await;
        assert_eq!(
            run.outcome,
            Outcome::Done(Status::Success),
            "{:?}",
            run.fault
        );
    }
    let going = |name: &str| {
        let bundles = target.server.bundles();
        let found = bundles
            .into_iter()
            .find(|one| one["metadata"]["name"] == name);
        found.unwrap()["deleted_at"].is_string()
    };
    assert!(going("run-c1-1"));
    assert!(!going("run-c1-2") && !going("run-c1-3"));
}

#[tokio::test]
async fn a_preview_of_a_work_changes_nothing() {
    let (world, target, engine) = started().await;
    let event = event("c1", 1);
    let text = json!({"specversion": "1.0", "id": event.id, "source": event.source, "type": event.ty, "data": event.data});
    let trace = preview(engine, text.to_string().as_bytes(), Utc::now())
        .await
        .unwrap();
    let shown = trace.text(false);
    assert!(shown.contains("+ ManifestWork cluster1/work-c1"), "{shown}");
    assert_eq!(target.server.bundles().len(), 0);
    assert!(world.api.reports.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_adapter_of_works_alone_needs_no_kubernetes() {
    let (world, target) = (World::start().await, Target::start().await);
    let mut deployment = Deployment::default();
    deployment.adapter.name = "works".to_owned();
    deployment
        .clients
        .hyperfleet_api
        .base_url
        .clone_from(&world.api_url);
    let works = r#"
resources:
  - name: work
    transport: {client: maestro, maestro: {target_cluster: cluster1}}
    manifest:
      apiVersion: work.open-cluster-management.io/v1
      kind: ManifestWork
      metadata: {name: "work-{{ .event.id }}"}
      spec: {workload: {manifests: [{apiVersion: v1, kind: Namespace, metadata: {name: a}}]}}
"#;
    let connect = async |deployment: &Deployment, task: &str| {
        Engine::connect(deployment, compiled(task), &BTreeMap::new(), None).await
    };
    let error = connect(&deployment, works).await.err().unwrap().to_string();
    assert!(
        error.contains("goes to Maestro, but the deployment has no clients.maestro"),
        "{error}"
    );
    let maestro = &mut deployment.clients.maestro;
    maestro.grpc_server_address = target.server.grpc_address();
    maestro.http_server_address = target.server.http_address();
    maestro.source_id = "works".to_owned();
    maestro.retry_attempts = 1;
    maestro.insecure = true;
    world.api.set("c1", cluster("c1", 1));
    let engine = connect(&deployment, works)
        .await
        .unwrap_or_else(|e| panic!("{e}"));
    let run = handle(&engine, &event("c1", 1)).await;
    assert_eq!(
        run.outcome,
        Outcome::Done(Status::Success),
        "{:?}",
        run.fault
    );
    assert_eq!(target.server.bundles().len(), 1);
    assert!(
        connect(&deployment, TASK).await.is_err(),
        "its other object needs one"
    );
    target.server.set_down(true);
    let error = connect(&deployment, works).await.err().unwrap().to_string();
    assert!(error.contains("does not answer"), "{error}");
}
