//! What the adapter promises on a real server.

use std::path::Path;
use std::pin::Pin;
use std::time::{Duration, Instant};

use hyperfleet_adapter::plan::Action;
use hyperfleet_adapter::{Outcome, Run, Status};
use hyperfleet_transport::Mode;
use serde_json::json;

use crate::admission::marks_are_reserved_to_our_service_accounts;
use crate::world::{CONFIG_MAP, World, cluster, condition, event, handle, message, object};

type Promise = fn(String) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! lifecycle_promises {
    ($($name:ident),+ $(,)?) => {
        fn of_lifecycle() -> Vec<(&'static str, Promise)> {
            vec![$((stringify!($name), |kubeconfig| Box::pin(async move {
                crate::lifecycle::$name(World::on(&kubeconfig).await).await;
            }))),+]
        }
    };
}
crate::lifecycle::for_all_promises!(lifecycle_promises);

macro_rules! example_promises {
    ($($name:ident),+ $(,)?) => {
        fn of_examples() -> Vec<(&'static str, Promise)> {
            vec![$((stringify!($name), |kubeconfig| Box::pin(async move {
                crate::examples::$name(World::on(&kubeconfig).await).await;
            }))),+]
        }
    };
}
crate::examples::for_all_examples!(example_promises);

macro_rules! promises {
    ($($name:ident),+ $(,)?) => {
        pub(crate) fn all() -> Vec<(&'static str, Promise)> {
            let mut all: Vec<(&'static str, Promise)> =
                vec![$((stringify!($name), |kubeconfig| Box::pin($name(kubeconfig)))),+];
            all.extend(of_lifecycle());
            all.extend(of_examples());
            all
        }
    };
}

promises![
    what_the_server_fills_in_is_no_drift,
    a_new_generation_replaces_a_job_whose_template_cannot_be_changed,
    what_access_control_forbids_is_reported,
    a_quota_that_is_used_up_is_reported,
    the_shipped_validation_adapter_goes_the_whole_way,
    marks_are_reserved_to_our_service_accounts,
];

/// A Job written in the ways people write: quantities and ports that the server spells otherwise.
const JOB: &str = r#"
params:
  - {name: clusterId, source: event.id, required: true}
  - name: cluster
    source: {api_call: {method: GET, url: "clusters/{{ .clusterId }}"}}
    required: true
resources:
  - name: job
    recreate_on_change: true
    manifest:
      apiVersion: batch/v1
      kind: Job
      metadata: {name: "job-{{ .clusterId }}", namespace: default}
      spec:
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: check
                image: busybox
                env: [{name: GENERATION, value: "{{ .cluster.generation }}"}]
                ports: [{containerPort: 80}]
                resources: {limits: {cpu: "0.5", memory: 1024Mi}}
"#;

fn actions(run: &Run) -> Vec<Action> {
    run.operations
        .iter()
        .map(|operation| operation.action)
        .collect()
}

async fn what_the_server_fills_in_is_no_drift(kubeconfig: String) {
    let world = World::on(&kubeconfig).await;
    world.api.set("d1", cluster("d1", 1));
    let engine = world.engine(JOB);
    let run = handle(&engine, &event("d1", 1)).await;
    assert_eq!(actions(&run), [Action::Create], "{:?}", run.fault);
    let made = world.object("Job", "default", "job-d1").await.unwrap();
    let limits = &made["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"];
    assert_eq!(
        limits,
        &json!({"cpu": "500m", "memory": "1Gi"}),
        "the server spells otherwise"
    );
    for _ in 0..3 {
        let run = handle(&engine, &event("d1", 1)).await;
        assert_eq!(
            actions(&run),
            [Action::Skip],
            "{:?}",
            run.operations[0].reason
        );
    }
    let report = world.api.last_report();
    assert!(["JobRunning", "JobPending"].contains(&condition(&report, "Available").1.as_str()));
}

async fn a_new_generation_replaces_a_job_whose_template_cannot_be_changed(kubeconfig: String) {
    let world = World::on(&kubeconfig).await;
    world.api.set("r1", cluster("r1", 1));
    let engine = world.engine(JOB);
    handle(&engine, &event("r1", 1)).await;
    let before = world.object("Job", "default", "job-r1").await.unwrap();
    world.api.set("r1", cluster("r1", 2));
    let start = Instant::now();
    loop {
        let run = handle(&engine, &event("r1", 2)).await;
        assert_eq!(run.fault, None);
        let after = world.object("Job", "default", "job-r1").await;
        let replaced = after.is_some_and(|after| {
            after["metadata"]["uid"] != before["metadata"]["uid"]
                && after["metadata"]["annotations"]["hyperfleet.io/generation"] == "2"
        });
        if replaced {
            break;
        }
        // Its pods have no kubelet to end them, so foreground deletion may need another look.
        assert!(
            start.elapsed() < Duration::from_secs(80),
            "{:?}",
            run.operations
        );
    }
}

async fn what_access_control_forbids_is_reported(kubeconfig: String) {
    // Nobody may look at the server's version, and nothing else.
    let nobody: String = kubeconfig
        .lines()
        .map(|line| match line.contains("token:") {
            true => "  user: {}\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    let world = World::on(&nobody).await;
    world.api.set("f1", cluster("f1", 1));
    let run = handle(&world.engine(CONFIG_MAP), &event("f1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    assert_eq!(
        condition(&report, "Health"),
        ("False".into(), "Forbidden".into())
    );
    let said = message(&report, "Health");
    assert!(said.contains("system:anonymous"), "{said}");
}

async fn a_quota_that_is_used_up_is_reported(kubeconfig: String) {
    let world = World::on(&kubeconfig).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "quota"}});
    world.transport.create(&namespace).await.unwrap();
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": "quota"},
        "spec": {"hard": {"count/configmaps": "0"}}});
    world.transport.create(&quota).await.unwrap();
    // It counts a moment after it is there.
    let start = Instant::now();
    while world
        .object("ResourceQuota", "quota", "none")
        .await
        .unwrap()["status"]["hard"]
        .is_null()
    {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the quota is not in force"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    world.api.set("q1", cluster("q1", 1));
    let task = CONFIG_MAP.replace("namespace: default", "namespace: quota");
    let run = handle(&world.engine(&task), &event("q1", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Failed));
    let report = world.api.last_report();
    let wanted = ("False".to_owned(), "QuotaExceeded".to_owned());
    assert_eq!(condition(&report, "Health"), wanted);
    let said = message(&report, "Health");
    assert!(said.contains("exceeded quota: none"), "{said}");
}

async fn the_shipped_validation_adapter_goes_the_whole_way(kubeconfig: String) {
    let world = World::on(&kubeconfig).await;
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters/validation");
    let path = directory.join("adapter-task-config.yaml");
    let (task, _) = hyperfleet_adapter::config::load_task(&path).unwrap();
    let mut engine = world.engine("{}");
    engine.task = std::sync::Arc::new(task);
    // Its Job is found by the label that carries this name.
    engine.identity.name = "validation".to_owned();
    let id = "0196f3a2-7b51-7c11-9d1e-1f6c0a9b2c3e";
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": id}});
    let made = world.transport.apply(&namespace, Mode::Commit).await;
    made.unwrap();
    // A cluster whose landing zone is ready.
    let landed = |generation: i64| {
        let mut cluster = cluster(id, generation);
        cluster["status"]["adapters"] = json!([{"name": "landing-zone", "available": "True", "observed_generation": generation}]);
        cluster
    };
    world.api.set(id, landed(1));
    let run = handle(&engine, &event(id, 1)).await;
    assert_eq!(
        actions(&run),
        [Action::Create, Action::Create],
        "{:?}",
        run.fault
    );
    let run = handle(&engine, &event(id, 1)).await;
    assert_eq!(
        actions(&run),
        [Action::Skip, Action::Skip],
        "{:?}",
        run.operations
    );

    // What a kubelet would have made of it.
    complete(&world, id).await;
    handle(&engine, &event(id, 1)).await;
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Available").0, "True", "{report}");

    let mut deleted = landed(2);
    deleted["deleted_time"] = json!("2026-01-31T12:00:00Z");
    world.api.set(id, deleted);
    let start = Instant::now();
    loop {
        let run = handle(&engine, &event(id, 2)).await;
        assert_eq!(run.fault, None);
        let report = world.api.last_report();
        if condition(&report, "Finalized").0 == "True" {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(80), "{report}");
    }
    assert_eq!(world.object("Job", id, "validation-gen1").await, None);
}

async fn complete(world: &World, namespace: &str) {
    let file = kube::config::Kubeconfig::read_from(world.kubeconfig.path()).unwrap();
    let options = Default::default();
    let config = kube::Config::from_custom_kubeconfig(file, &options).await;
    let client = kube::Client::try_from(config.unwrap()).unwrap();
    let now = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let job = world
        .transport
        .get(&object("Job", namespace, "validation-gen1"))
        .await;
    let started = job.unwrap().unwrap()["status"]["startTime"].clone();
    let started = started.as_str().map_or_else(|| now.clone(), str::to_owned);
    let met = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "lastProbeTime": now});
    let status = json!({"status": {"startTime": started, "completionTime": now, "succeeded": 1,
        "active": 0, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {},
        "conditions": [met("SuccessCriteriaMet"), met("Complete")]}});
    let request = axum::http::Request::patch(format!(
        "/apis/batch/v1/namespaces/{namespace}/jobs/validation-gen1/status"
    ))
    .header("content-type", "application/merge-patch+json")
    .body(status.to_string().into_bytes())
    .unwrap();
    client.request::<serde_json::Value>(request).await.unwrap();
}
