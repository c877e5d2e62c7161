//! The examples of the lifecycle design that `lifecycle.rs` does not show: periodic work, the replaced Job, and the
//! reference of all fields. As there, each runs on kubesim and on a real kube-apiserver.

use chrono::{TimeDelta, Utc};
use hyperfleet_adapter::config::parse_task;
use hyperfleet_adapter::plan::Action;
use hyperfleet_source::SourceFile;
use serde_json::json;

use crate::lifecycle::{actions, at, deleted, finish, jobs, of_cluster, remove, remove_all, task};
use crate::world::{World, cluster, condition};
use hyperfleet_transport::ObjectKind;

/// The names of all promises, for whoever runs them.
macro_rules! for_all_examples {
    ($macro:ident) => {
        $macro![
            without_retention_a_job_is_replaced_at_most_once_in_ten_minutes,
            a_patch_whose_time_has_come_is_sent_with_the_time,
            a_time_the_author_stamps_is_written_when_the_object_is,
            the_reference_of_all_fields_loads_and_does_what_its_comments_say,
        ];
    };
}
pub(crate) use for_all_examples;

const REPLACED: &str = r#"
resources:
  - alias: provisioningJob
    when:
      expression: >
        !resources.?provisioningJob.hasValue()
        || timestamp(resources.provisioningJob.metadata.creationTimestamp)
           < timestamp(now()) - duration("10m")
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "{{ .clusterId }}-job", namespace: "{{ .namespace }}"}
      spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: busybox}]}}}
    lifecycle:
      recreate:
        when:
          expression: >
            resources.provisioningJob.status.?conditions.orValue([]).exists(
              c, c.type == "Complete" && c.status == "True")
            || resources.provisioningJob.metadata.annotations.?done.hasValue()
"#;

pub(crate) async fn without_retention_a_job_is_replaced_at_most_once_in_ten_minutes(world: World) {
    let now = Utc::now();
    world.api.set("rep1", cluster("rep1", 1));
    let engine = world.engine(&task(REPLACED));
    assert_eq!(
        actions(&at(&engine, "rep1", 1, now).await),
        [Action::Create]
    );
    let first = of_cluster(&world, &jobs(), "rep1").await.remove(0);
    finish(&world, &first).await;
    let soon = at(&engine, "rep1", 1, now + TimeDelta::minutes(9)).await;
    assert_eq!(actions(&soon), [Action::Skip]);
    assert_eq!(soon.operations[0].gate, Some("when"));
    let later = at(&engine, "rep1", 1, now + TimeDelta::minutes(11)).await;
    assert_eq!(
        actions(&later),
        [Action::Recreate],
        "{}",
        later.operations[0].reason
    );
    let left = of_cluster(&world, &jobs(), "rep1").await;
    assert_eq!(left.len(), 1, "one exists at a time");
    assert_eq!(left[0]["metadata"]["name"], first["metadata"]["name"]);
    assert_ne!(left[0]["metadata"]["uid"], first["metadata"]["uid"]);
    remove_all(&world, &jobs(), "rep1").await;
}

const PERIODIC: &str = r#"
resources:
  - name: clusterNamespace
    discovery:
      api_version: v1
      kind: Namespace
      by_name: "{{ .clusterId }}"
    lifecycle:
      patch:
        - when:
            expression: >
              resources.?clusterNamespace.hasValue()
              && dig(resources.clusterNamespace.metadata.annotations, "example.io/rotated-at") < now()
          document:
            metadata:
              annotations:
                example.io/rotated-at: "{{ .now }}"
"#;

pub(crate) async fn a_patch_whose_time_has_come_is_sent_with_the_time(world: World) {
    let now = Utc::now();
    let written = |time: chrono::DateTime<Utc>| {
        json!(time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true))
    };
    world.api.set("rot1", cluster("rot1", 1));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rot1",
        "annotations": {"example.io/rotated-at": written(now)}}});
    world.transport.create(&namespace).await.unwrap();
    let engine = world.engine(&task(PERIODIC));
    assert_eq!(actions(&at(&engine, "rot1", 1, now).await), [Action::Skip]);
    let later = now + TimeDelta::minutes(30);
    assert_eq!(
        actions(&at(&engine, "rot1", 1, later).await),
        [Action::Patch]
    );
    let object = ObjectKind::new("v1", "Namespace").named(None, "rot1");
    let found = world.transport.get(&object).await.unwrap().unwrap();
    let annotations = &found["metadata"]["annotations"];
    assert_eq!(annotations["example.io/rotated-at"], written(later));
    remove(&world, &object).await;
}

const STAMPED: &str = r#"
resources:
  - name: settings
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "stamped-{{ .clusterId }}"
        namespace: default
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
          my-adapter.io/last-updated: "{{ .now }}"
"#;

pub(crate) async fn a_time_the_author_stamps_is_written_when_the_object_is(world: World) {
    let now = Utc::now();
    world.api.set("st1", cluster("st1", 1));
    let engine = world.engine(&task(STAMPED));
    at(&engine, "st1", 1, now).await;
    let found = world.object("ConfigMap", "default", "stamped-st1").await;
    let annotations = &found.unwrap()["metadata"]["annotations"];
    let wanted = now.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    assert_eq!(annotations["my-adapter.io/last-updated"], wanted.as_str());
    assert_eq!(annotations["hyperfleet.io/generation"], "1");
    let object = ObjectKind::new("v1", "ConfigMap").named(Some("default"), "stamped-st1");
    remove(&world, &object).await;
}

/// Every field at once. Ours is a ConfigMap, whose name changes from one version to the next as `retention` asks, and
/// its owner is there.
const REFERENCE: &str = r#"
resources:
  - alias: anotherAlias
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "{{ .clusterId }}-owner", namespace: "{{ .namespace }}"}
  - alias: "example"
    when:
      expression: >
        !resources.?example.hasValue()
        || timestamp(resources.example.metadata.creationTimestamp)
           < timestamp(now()) - duration("10m")
    transport:
      client: "kubernetes"
      maestro:
        target_cluster: "{{ .clusterId }}"
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: "{{ .clusterId }}-{{ .generation }}"
        namespace: "{{ .namespace }}"
        labels:
        annotations:
          hyperfleet.io/generation: "{{ .generation }}"
    discovery:
      namespace: "{{ .namespace }}"
      by_selectors:
        label_selector:
          hyperfleet.io/resource-id: "{{ .resourceId }}"
    owner:
      resource: anotherAlias
    retention:
      historyLimit: 3
      ttl: 24h
    lifecycle:
      apply:
        when:
          expression: "!resources.?example.hasValue()"
      patch:
        - when:
            expression: >
              resources.?example.hasValue()
              && dig(resources.example.metadata.annotations, "example.io/status") != clusterStatus
          document:
            metadata:
              annotations:
                example.io/status: "{{ .clusterStatus }}"
      orphan:
        when:
          expression: >
            is_deleting
            && resources.?example.hasValue()
            && "hyperfleet.io/adapter" in resources.example.metadata.labels
      recreate:
        when:
          expression: "resources.?example.hasValue() && cluster.spec.?again.orValue(false)"
      delete:
        when:
          expression: "is_deleting"
        propagationPolicy: "Background"
"#;

pub(crate) async fn the_reference_of_all_fields_loads_and_does_what_its_comments_say(world: World) {
    let (_, warnings) = parse_task(
        &SourceFile::new("task.yaml", task(REFERENCE)),
        std::path::Path::new("."),
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let said: Vec<String> = warnings.iter().map(|one| one.message.clone()).collect();
    assert_eq!(said, ["not used: the objects go to Kubernetes"]);

    let now = Utc::now();
    let maps = ObjectKind::new("v1", "ConfigMap");
    world.api.set("ref1", cluster("ref1", 1));
    let engine = world.engine(&task(REFERENCE));
    let run = at(&engine, "ref1", 1, now).await;
    assert_eq!(actions(&run), [Action::Create, Action::Create]);
    let example = world
        .object("ConfigMap", "default", "ref1-1")
        .await
        .unwrap();
    let labels = &example["metadata"]["labels"];
    assert_eq!(labels["hyperfleet.io/resource-id"], "ref1");
    assert_eq!(
        example["metadata"]["ownerReferences"][0]["name"],
        "ref1-owner"
    );

    // Young: nothing is modified. Ten minutes later the patch is due, and then nothing is left to do.
    let young = at(&engine, "ref1", 1, now).await;
    assert_eq!(young.operations[1].gate, Some("when"));
    let later = now + TimeDelta::minutes(11);
    let patched = at(&engine, "ref1", 1, later).await;
    assert_eq!(patched.operations[1].action, Action::Patch);
    let settled = at(&engine, "ref1", 1, later).await;
    assert_eq!(settled.operations[1].gate, Some("lifecycle.apply.when"));

    // Again: a version beside the old one.
    let mut again = cluster("ref1", 2);
    again["spec"]["again"] = json!(true);
    world.api.set("ref1", again);
    let beside = at(&engine, "ref1", 2, later).await;
    assert_eq!(beside.operations[1].gate, Some("lifecycle.recreate.when"));
    assert!(
        world
            .object("ConfigMap", "default", "ref1-1")
            .await
            .is_some()
    );

    // Its owner goes: it is let go and not deleted, in every version.
    world.api.set("ref1", deleted("ref1", 3));
    let gone = at(&engine, "ref1", 3, later).await;
    let detached = gone.operations.iter().find(|one| one.resource == "example");
    assert_eq!(detached.unwrap().action, Action::Detach);
    assert_eq!(detached.unwrap().targets.len(), 2);
    assert_eq!(condition(&world.api.last_report(), "Finalized").0, "True");
    for name in ["ref1-1", "ref1-2"] {
        let left = world.object("ConfigMap", "default", name).await.unwrap();
        let labels = &left["metadata"]["labels"];
        assert!(labels.get("hyperfleet.io/resource-id").is_none(), "{left}");
        remove(&world, &maps.named(Some("default"), name)).await;
    }
    remove(&world, &maps.named(Some("default"), "ref1-owner")).await;
}
