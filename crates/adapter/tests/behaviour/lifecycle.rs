//! What happens to an object after it was first applied: every example of the lifecycle design, tried on a server.
//!
//! Each promise runs on kubesim and, where there is one, on a real kube-apiserver. Two things are added to the examples
//! as they are written: `api_version` and `kind` where they show no manifest, and `lower` where a time becomes part of a
//! name, because Kubernetes takes no capitals there.

use chrono::{DateTime, TimeDelta, Utc};
use hyperfleet_adapter::plan::Action;
use hyperfleet_adapter::{Engine, Run};
use hyperfleet_transport::{Delete, ObjectKind, ObjectRef, Selector};
use serde_json::{Value as Json, json};

use crate::world::{World, cluster, condition, event, message};

/// Values the examples use without saying where they come from.
const PARAMS: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - {name: resourceId, source: event.id}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
  - {name: generation, source: cluster.generation}
  - {name: clusterStatus, source: {expression: cluster.status.phase}}
  - {name: tier, source: {expression: cluster.spec.region}}
  - {name: namespace, source: {expression: "'default'"}}
"#;

/// The examples' own example: a Job with history, that is not started again before ten minutes have passed.
const HISTORY: &str = r#"
resources:
  - alias: provisioningJob
    when:
      expression: >
        !resources.?provisioningJob.hasValue()
        || timestamp(resources.provisioningJob.metadata.creationTimestamp)
           < timestamp(now()) - duration("10m")
    transport:
      client: "kubernetes"
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: "{{ .clusterId }}-job-{{ .now | replace \":\" \"-\" | lower }}"
        namespace: "{{ .namespace }}"
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: busybox}]}}}
    discovery:
      namespace: "{{ .namespace }}"
      by_selectors:
        label_selector:
          hyperfleet.io/resource-id: "{{ .resourceId }}"
    retention:
      historyLimit: 2
      ttl: 48h
    lifecycle:
      recreate:
        when:
          expression: >
            resources.provisioningJob.status.?conditions.orValue([]).exists(
              c, c.type == "Complete" && c.status == "True")
            || resources.provisioningJob.status.?conditions.orValue([]).exists(
              c, c.type == "Failed" && c.status == "True")
            || resources.provisioningJob.metadata.annotations.?done.hasValue()
      delete:
        when:
          expression: is_deleting
"#;

pub(crate) fn task(resources: &str) -> String {
    format!("{PARAMS}{resources}")
}

pub(crate) async fn at(engine: &Engine, id: &str, generation: i64, now: DateTime<Utc>) -> Run {
    let run = engine.handle(&event(id, generation), now).await;
    assert_eq!(run.fault, None);
    run
}

pub(crate) fn actions(run: &Run) -> Vec<Action> {
    run.operations.iter().map(|one| one.action).collect()
}

pub(crate) fn deleted(id: &str, generation: i64) -> Json {
    let mut cluster = cluster(id, generation);
    cluster["deleted_time"] = json!("2026-01-31T12:00:00Z");
    cluster
}

pub(crate) async fn of_cluster(world: &World, kind: &ObjectKind, id: &str) -> Vec<Json> {
    let selector = Selector {
        labels: [("hyperfleet.io/resource-id".to_owned(), id.to_owned())].into(),
    };
    let found = world.transport.list(kind, Some("default"), &selector).await;
    found.unwrap()
}

pub(crate) fn jobs() -> ObjectKind {
    ObjectKind::new("batch/v1", "Job")
}

/// What a Job's controller would say; an annotation does, where there is no kubelet.
pub(crate) async fn finish(world: &World, job: &Json) {
    let name = job["metadata"]["name"].as_str().unwrap();
    let patch = json!({"metadata": {"annotations": {"done": "yes"}}});
    let object = jobs().named(Some("default"), name);
    world.transport.patch(&object, &patch).await.unwrap();
}

pub(crate) async fn remove(world: &World, object: &ObjectRef) {
    let gone = world.transport.delete(object, &Delete::default()).await;
    gone.unwrap();
}

pub(crate) async fn remove_all(world: &World, kind: &ObjectKind, id: &str) {
    for object in of_cluster(world, kind, id).await {
        let name = object["metadata"]["name"].as_str().unwrap();
        remove(world, &kind.named(Some("default"), name)).await;
    }
}

pub(crate) async fn a_job_is_started_again_at_most_once_in_ten_minutes_and_history_is_kept(
    world: World,
) {
    world.api.set("h1", cluster("h1", 1));
    let engine = world.engine(&task(HISTORY));
    let start = Utc::now();
    let after = |minutes: i64| start + TimeDelta::minutes(minutes);
    assert_eq!(
        actions(&at(&engine, "h1", 1, start).await),
        [Action::Create]
    );
    let first = of_cluster(&world, &jobs(), "h1").await.remove(0);
    finish(&world, &first).await;

    // Younger than ten minutes: nothing is even asked.
    let run = at(&engine, "h1", 1, after(5)).await;
    assert_eq!(actions(&run), [Action::Skip]);
    assert_eq!(run.operations[0].gate, Some("when"));

    // Older: done, so a new one beside it, and again. The clock of the event moves, not the server's.
    for minute in [11, 22, 33] {
        let run = at(&engine, "h1", 1, after(minute)).await;
        assert_eq!(
            run.operations[0].action,
            Action::Create,
            "{:?}",
            run.operations
        );
        assert_eq!(run.operations[0].gate, Some("lifecycle.recreate.when"));
        let newest = run.operations[0].object.clone().unwrap();
        let object = world.transport.get(&newest).await.unwrap().unwrap();
        finish(&world, &object).await;
        // The old ones were made by a server whose clock did not move: all are as old as the first, so which of them
        // counts is told by their names.
        assert!(of_cluster(&world, &jobs(), "h1").await.len() <= 3);
    }
    // Two days later the old ones are too old, and the current one never is.
    world.api.set("h1", cluster("h1", 1));
    let run = at(&engine, "h1", 1, after(60 * 49)).await;
    assert_eq!(
        run.operations[1].action,
        Action::Prune,
        "{:?}",
        run.operations
    );
    assert_eq!(run.operations[1].gate, Some("retention"));
    let left = of_cluster(&world, &jobs(), "h1").await;
    let alive: Vec<&Json> = left
        .iter()
        .filter(|job| job["metadata"]["deletionTimestamp"].is_null())
        .collect();
    assert_eq!(alive.len(), 1, "only the newest: {left:?}");

    // The owner goes: every version goes with it.
    world.api.set("h1", deleted("h1", 2));
    at(&engine, "h1", 2, after(60 * 50)).await;
    remove_all(&world, &jobs(), "h1").await;
}

const CREATE_ONLY: &str = r#"
resources:
  - name: "bootstrapNamespace"
    transport:
      client: "kubernetes"
    manifest:
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .clusterId }}"
        labels: {region: "{{ .cluster.spec.region }}"}
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
    discovery:
      by_name: "{{ .clusterId }}"
    lifecycle:
      apply:
        when:
          expression: "!resources.?bootstrapNamespace.hasValue()"
"#;

pub(crate) async fn what_is_only_created_is_never_written_again(world: World) {
    world.api.set("co1", cluster("co1", 1));
    let engine = world.engine(&task(CREATE_ONLY));
    assert_eq!(
        actions(&at(&engine, "co1", 1, Utc::now()).await),
        [Action::Create]
    );
    let mut changed = cluster("co1", 2);
    changed["spec"]["region"] = json!("us");
    world.api.set("co1", changed);
    let run = at(&engine, "co1", 2, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Skip]);
    assert_eq!(run.operations[0].gate, Some("lifecycle.apply.when"));
    let object = ObjectKind::new("v1", "Namespace").named(None, "co1");
    let found = world.transport.get(&object).await.unwrap().unwrap();
    assert_eq!(found["metadata"]["labels"]["region"], "eu");
    remove(&world, &object).await;
}

const PATCHED: &str = r#"
resources:
  - name: "clusterNamespace"
    transport:
      client: "kubernetes"
    discovery:
      api_version: v1
      kind: Namespace
      by_name: "{{ .clusterId }}"
    lifecycle:
      patch:
        - when:
            expression: >
              resources.?clusterNamespace.hasValue()
              && dig(resources.clusterNamespace.metadata.annotations, "example.io/status") != clusterStatus
          document:
            metadata:
              annotations:
                example.io/status: "{{ .clusterStatus }}"
                example.io/old: null
        - when:
            expression: >
              resources.?clusterNamespace.hasValue()
              && dig(resources.clusterNamespace.metadata.labels, "example.io/tier") != tier
          document:
            metadata:
              labels:
                example.io/tier: "{{ .tier }}"
"#;

pub(crate) async fn each_patch_is_sent_while_its_own_question_is_answered_with_yes(world: World) {
    world.api.set("p1", cluster("p1", 1));
    let engine = world.engine(&task(PATCHED));
    // Somebody else's object: not there, so there is nothing to patch and nothing to create it from.
    let run = at(&engine, "p1", 1, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Skip]);

    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "p1",
        "labels": {"keep": "me"}, "annotations": {"example.io/old": "x", "example.io/keep": "y"}}});
    world.transport.create(&namespace).await.unwrap();
    let run = at(&engine, "p1", 1, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Patch]);
    assert_eq!(run.operations[0].patches.len(), 2);
    let object = ObjectKind::new("v1", "Namespace").named(None, "p1");
    let found = world.transport.get(&object).await.unwrap().unwrap();
    let annotations = &found["metadata"]["annotations"];
    assert_eq!(annotations["example.io/status"], "Pending");
    assert_eq!(annotations["example.io/keep"], "y");
    assert_eq!(annotations["example.io/old"], json!(null), "null removes");
    assert_eq!(found["metadata"]["labels"]["example.io/tier"], "eu");
    assert_eq!(found["metadata"]["labels"]["keep"], "me");

    // As it should be: nothing fires. One of the two differs: one fires.
    assert_eq!(
        actions(&at(&engine, "p1", 1, Utc::now()).await),
        [Action::Skip]
    );
    let mut ready = cluster("p1", 1);
    ready["status"]["phase"] = json!("Ready");
    world.api.set("p1", ready);
    let run = at(&engine, "p1", 1, Utc::now()).await;
    assert_eq!(run.operations[0].patches.len(), 1);
    remove(&world, &object).await;
}

const LET_GO: &str = r#"
resources:
  - name: "provisioningJob"
    transport:
      client: "kubernetes"
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .clusterId }}-job", namespace: default}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: busybox}]}}}
    discovery:
      namespace: default
      by_name: "{{ .clusterId }}-job"
    lifecycle:
      orphan:
        when:
          expression: >
            is_deleting
            && resources.?provisioningJob.hasValue()
            && "hyperfleet.io/adapter" in resources.provisioningJob.metadata.labels
      delete:
        when:
          expression: is_deleting && cluster.spec.region == "nowhere"
"#;

pub(crate) async fn what_is_let_go_stays_and_its_owner_is_finalized(world: World) {
    world.api.set("o1", cluster("o1", 1));
    let engine = world.engine(&task(LET_GO));
    at(&engine, "o1", 1, Utc::now()).await;
    world.api.set("o1", deleted("o1", 2));
    let run = at(&engine, "o1", 2, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Detach]);
    assert_eq!(run.operations[0].gate, Some("lifecycle.detach.when"));
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
    let found = world.object("Job", "default", "o1-job").await.unwrap();
    let metadata = &found["metadata"];
    assert_eq!(metadata["labels"]["hyperfleet.io/adapter"], json!(null));
    assert_eq!(metadata["labels"]["hyperfleet.io/resource-id"], json!(null));
    assert_eq!(
        metadata["annotations"]["hyperfleet.io/generation"], "1",
        "it belongs to the object"
    );

    // Told again, it is left alone, and the answer is the same.
    let run = at(&engine, "o1", 2, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Nothing]);
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
    let again = world.object("Job", "default", "o1-job").await.unwrap();
    assert_eq!(again["metadata"]["uid"], metadata["uid"]);
    let object = jobs().named(Some("default"), "o1-job");
    remove(&world, &object).await;
}

const OWNED: &str = r#"
resources:
  - alias: clusterSettings
    transport:
      client: "kubernetes"
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ .clusterId }}"
        namespace: default
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
    lifecycle:
      delete: {when: {expression: is_deleting}, propagationPolicy: Foreground}
  - alias: provisioningJob
    owner:
      resource: clusterSettings
    transport:
      client: "kubernetes"
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: "{{ .clusterId }}-job"
        namespace: default
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: busybox}]}}}
"#;

pub(crate) async fn what_is_owned_refers_to_its_owner_and_goes_with_it(world: World) {
    world.api.set("ow1", cluster("ow1", 1));
    let engine = world.engine(&task(OWNED));
    let run = at(&engine, "ow1", 1, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Create, Action::Create]);
    let owner = world.object("ConfigMap", "default", "ow1").await.unwrap();
    let job = world.object("Job", "default", "ow1-job").await.unwrap();
    let reference = &job["metadata"]["ownerReferences"][0];
    assert_eq!(reference["uid"], owner["metadata"]["uid"]);
    assert_eq!(reference["kind"], "ConfigMap");
    let run = at(&engine, "ow1", 1, Utc::now()).await;
    assert_eq!(
        actions(&run),
        [Action::Skip, Action::Skip],
        "{:?}",
        run.operations
    );

    world.api.set("ow1", deleted("ow1", 2));
    let start = std::time::Instant::now();
    while world.object("Job", "default", "ow1-job").await.is_some() {
        at(&engine, "ow1", 2, Utc::now()).await;
        assert!(
            start.elapsed() < std::time::Duration::from_secs(60),
            "the Job is not collected"
        );
    }
}

const ROTATED: &str = r#"
preconditions:
  - name: "fetchClusterStatus"
    type: hyperfleet_api
    resource: cluster
    id: "{{ .clusterId }}"
    output_param: clusterResource
resources:
  - name: "certSecret"
    manifest:
      apiVersion: v1
      kind: Secret
      metadata: {name: "{{ .clusterId }}-cert", namespace: default}
    lifecycle:
      patch:
        - when:
            expression: >
              resources.?certSecret.hasValue()
              && dig(clusterResource, "status.conditions")
                .filter(c, c.type == "CertRotated")
                .all(c, c.lastTransitionTime < timestamp(now()).toUnixTime() - 86400)
          document:
            metadata:
              annotations:
                example.io/cert-rotated-at: "{{ .now }}"
"#;

pub(crate) async fn work_that_is_done_once_a_day_is_done_once_a_day(world: World) {
    let now = Utc::now();
    let rotated = |hours: i64| {
        let mut cluster = cluster("d9", 1);
        let time = now - TimeDelta::hours(hours);
        cluster["status"]["conditions"] = json!([
            {"type": "CertRotated", "status": "True", "last_transition_time": time.to_rfc3339()},
            {"type": "Reconciled", "status": "True", "last_transition_time": now.to_rfc3339()},
        ]);
        cluster
    };
    world.api.set("d9", rotated(2));
    let engine = world.engine(&task(ROTATED));
    assert_eq!(actions(&at(&engine, "d9", 1, now).await), [Action::Create]);
    assert_eq!(actions(&at(&engine, "d9", 1, now).await), [Action::Skip]);
    world.api.set("d9", rotated(25));
    assert_eq!(actions(&at(&engine, "d9", 1, now).await), [Action::Patch]);
    let found = world.object("Secret", "default", "d9-cert").await.unwrap();
    let written = found["metadata"]["annotations"]["example.io/cert-rotated-at"].clone();
    assert_eq!(
        written,
        now.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    );
    let object = ObjectKind::new("v1", "Secret").named(Some("default"), "d9-cert");
    remove(&world, &object).await;
}

const HELD: &str = r#"
resources:
  - name: settings
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "held-{{ .clusterId }}"
        namespace: default
        finalizers: [example.io/volumes]
    lifecycle:
      delete: {when: {expression: is_deleting}}
"#;

pub(crate) async fn a_deletion_that_hangs_names_the_finalizer_and_its_age(world: World) {
    world.api.set("f9", cluster("f9", 1));
    let engine = world.engine(&task(HELD));
    at(&engine, "f9", 1, Utc::now()).await;
    world.api.set("f9", deleted("f9", 2));
    at(&engine, "f9", 2, Utc::now()).await;
    at(&engine, "f9", 2, Utc::now() + TimeDelta::minutes(7)).await;
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Finalized").0, "False");
    let said = message(&report, "Finalized");
    assert!(said.contains("example.io/volumes"), "{said}");
    assert!(said.contains("7m ago") || said.contains("6m ago"), "{said}");
    let object = ObjectKind::new("v1", "ConfigMap").named(Some("default"), "held-f9");
    let release = json!({"metadata": {"finalizers": null}});
    world.transport.patch(&object, &release).await.unwrap();
    at(&engine, "f9", 2, Utc::now()).await;
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
}

const ORDERED: &str = r#"
resources:
  - name: base
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "base-{{ .clusterId }}", namespace: default}
    lifecycle:
      delete: {when: {expression: "is_deleting && !resources.?upper.hasValue()"}}
  - name: upper
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "upper-{{ .clusterId }}", namespace: default}
    lifecycle:
      delete: {when: {expression: is_deleting}}
  - name: last
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "last-{{ .clusterId }}", namespace: default}
    lifecycle:
      delete: {when: {expression: "is_deleting && !resources.?base.hasValue()"}}
"#;

pub(crate) async fn one_event_takes_everything_down_in_the_order_the_gates_ask_for(world: World) {
    world.api.set("t1", cluster("t1", 1));
    let engine = world.engine(&task(ORDERED));
    at(&engine, "t1", 1, Utc::now()).await;
    world.api.set("t1", deleted("t1", 2));
    let run = at(&engine, "t1", 2, Utc::now()).await;
    let order: Vec<&str> = run
        .operations
        .iter()
        .map(|one| one.resource.as_str())
        .collect();
    assert_eq!(order, ["upper", "base", "last"]);
    assert_eq!(actions(&run), [Action::Delete; 3]);
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
}

const NEIGHBOURS: &str = r#"
resources:
  - name: one
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "one-{{ .clusterId }}", namespace: default}
    discovery:
      namespace: default
      by_selectors: {label_selector: {hyperfleet.io/resource-id: "{{ .resourceId }}"}}
    lifecycle:
      delete: {when: {expression: "cluster.spec.region == 'nowhere'"}}
  - name: two
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "two-{{ .clusterId }}", namespace: default}
    discovery:
      namespace: default
      by_selectors: {label_selector: {hyperfleet.io/resource-id: "{{ .resourceId }}"}}
"#;

pub(crate) async fn a_selector_that_finds_the_neighbours_too_touches_none_of_them(world: World) {
    let maps = ObjectKind::new("v1", "ConfigMap");
    world.api.set("n1", cluster("n1", 1));
    let engine = world.engine(&task(NEIGHBOURS));
    let run = at(&engine, "n1", 1, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Create, Action::Create]);
    let foreign = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other-n1", "namespace": "default",
        "labels": {"hyperfleet.io/resource-id": "n1", "hyperfleet.io/adapter": "another"}}});
    world.transport.create(&foreign).await.unwrap();
    let mut nowhere = cluster("n1", 1);
    nowhere["spec"]["region"] = json!("nowhere");
    world.api.set("n1", nowhere);
    let run = at(&engine, "n1", 1, Utc::now()).await;
    assert_eq!(actions(&run), [Action::Delete, Action::Skip]);
    let left = of_cluster(&world, &maps, "n1").await;
    let mut names: Vec<&str> = left
        .iter()
        .filter_map(|one| one["metadata"]["name"].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["other-n1", "two-n1"]);
    remove_all(&world, &maps, "n1").await;
}

/// Every promise above, by name.
macro_rules! for_all_promises {
    ($with:ident) => {
        $with![
            a_job_is_started_again_at_most_once_in_ten_minutes_and_history_is_kept,
            what_is_only_created_is_never_written_again,
            each_patch_is_sent_while_its_own_question_is_answered_with_yes,
            what_is_let_go_stays_and_its_owner_is_finalized,
            what_is_owned_refers_to_its_owner_and_goes_with_it,
            work_that_is_done_once_a_day_is_done_once_a_day,
            a_deletion_that_hangs_names_the_finalizer_and_its_age,
            one_event_takes_everything_down_in_the_order_the_gates_ask_for,
            a_selector_that_finds_the_neighbours_too_touches_none_of_them,
        ];
    };
}
pub(crate) use for_all_promises;
