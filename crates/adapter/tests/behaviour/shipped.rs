//! The adapters in `adapters/` load, plan what their fixtures say, and do what they say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, Utc};
use hyperfleet_adapter::config::{deployment_loader, load_deployment, load_task};
use hyperfleet_adapter::dry_run::{Inputs, dry_run};
use hyperfleet_adapter::{Adapter, Parts};
use hyperfleet_broker::{Broker, BrokerConfig, Metrics};
use hyperfleet_runtime::metrics::{Build, MetricsRegistry};
use hyperfleet_transport::Mode;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::world::{World, cluster, condition, event};

fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../adapters")
}

/// The homes of all adapters.
fn homes() -> Vec<PathBuf> {
    let listed = std::fs::read_dir(shipped()).unwrap();
    let mut homes: Vec<PathBuf> = listed
        .map(|entry| entry.unwrap().path())
        .filter(|home| home.join("adapter-task-config.yaml").is_file())
        .collect();
    homes.sort();
    homes
}

#[test]
fn every_shipped_adapter_loads_without_a_remark() {
    for home in homes() {
        let (_, remarks) = load_task(&home.join("adapter-task-config.yaml"))
            .unwrap_or_else(|error| panic!("{}:\n{error}", home.display()));
        assert!(remarks.is_empty(), "{remarks:?}");
        let deployment =
            load_deployment(&deployment_loader(Some(home.join("adapter-config.yaml"))))
                .unwrap_or_else(|error| panic!("{}:\n{error}", home.display()));
        assert_eq!(home.file_name().unwrap(), deployment.adapter.name.as_str());
        assert!(home.join("README.md").is_file(), "{}", home.display());
    }
    assert_eq!(homes().len(), 8);
}

/// With `HYPERFLEET_UPDATE_PLANS=1` the files are written instead of compared.
#[tokio::test]
async fn every_shipped_adapter_plans_what_its_fixtures_say() {
    let mut differences = String::new();
    for home in homes() {
        let fixtures = home.join("dry-run");
        let mut cases: Vec<PathBuf> = std::fs::read_dir(&fixtures)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|file| file.extension().is_some_and(|ending| ending == "plan"))
            .collect();
        cases.sort();
        assert!(cases.len() > 2, "{}", home.display());
        for case in cases {
            let planned = plan(&home, &case).await;
            if std::env::var_os("HYPERFLEET_UPDATE_PLANS").is_some() {
                std::fs::write(&case, &planned).unwrap();
            }
            let expected = std::fs::read_to_string(&case).unwrap();
            if planned != expected {
                let name = case.display();
                differences += &format!("--- {name}\n{expected}\n+++ planned\n{planned}\n");
            }
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// What a dry run prints, and the data it would report.
async fn plan(home: &Path, case: &Path) -> String {
    let deployment = load_deployment(&deployment_loader(Some(home.join("adapter-config.yaml"))));
    let (task, _) = load_task(&home.join("adapter-task-config.yaml")).unwrap();
    let now: DateTime<Utc> = "2026-01-31T13:00:00Z".parse().unwrap();
    let inputs = Inputs {
        event: std::fs::read(case.with_file_name("event.json")).unwrap(),
        responses: std::fs::read(case.with_extension("api.json")).ok(),
        discovery: std::fs::read(case.with_extension("found.json")).ok(),
        environment: Default::default(),
    };
    let trace = dry_run(&deployment.unwrap(), task, inputs, now)
        .await
        .unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    // Where the tree lies is nobody's business.
    let place = shipped().display().to_string();
    trace.text(false).replace(&place, "adapters")
}

#[tokio::test]
async fn validation_brings_a_cluster_to_available_and_cleans_up_after_it() {
    let world = World::start_with(kubesim::Options {
        job_duration: Duration::from_millis(200),
        ..kubesim::Options::default()
    })
    .await;
    let registry = MetricsRegistry::new(Build {
        version: "1.2.3".to_owned(),
        commit: String::new(),
    })
    .unwrap();
    let metrics = Metrics::new(Default::default()).unwrap();
    let broker = Broker::connect(&BrokerConfig::default(), metrics)
        .await
        .unwrap();
    let directory = shipped().join("validation");
    let loader = deployment_loader(Some(directory.join("adapter-config.yaml")));
    let mut deployment = load_deployment(&loader).unwrap();
    deployment
        .clients
        .hyperfleet_api
        .base_url
        .clone_from(&world.api_url);
    deployment.clients.kubernetes.kube_config_path = Some(world.kubeconfig.path().to_owned());
    let topic = deployment.clients.broker.topic.clone();
    let (task, _) = load_task(&directory.join("adapter-task-config.yaml")).unwrap();
    let adapter = Adapter::connect(Parts {
        deployment,
        task,
        broker: broker.clone(),
        metrics: Some(registry.component("adapter", "validation").unwrap()),
        environment: Default::default(),
    })
    .await
    .unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(adapter.run(stop.clone()));

    let id = "0196f3a2-7b51-7c11-9d1e-1f6c0a9b2c3d";
    land(&world, id).await;
    world.api.set(id, landed(id, 1));
    let publish = || async {
        broker
            .publisher()
            .publish(&topic, &event(id, 1))
            .await
            .unwrap()
    };
    publish().await;
    let report = reported(&world, |_| true).await;
    assert_eq!(condition(&report, "Applied").0, "True", "{report}");
    let (status, reason) = condition(&report, "Available");
    assert_eq!(status, "False");
    assert!(
        ["JobRunning", "JobPending"].contains(&reason.as_str()),
        "{reason}"
    );

    // What the Sentinel does: look again until it is ready.
    again(&world, &publish, |report| {
        condition(report, "Available").0 == "True"
    })
    .await;
    let job = world.object("Job", id, "validation-gen1").await.unwrap();
    assert_eq!(
        job["metadata"]["labels"]["hyperfleet.io/adapter"],
        "validation"
    );
    assert_eq!(job["metadata"]["ownerReferences"][0]["kind"], "ConfigMap");

    let mut deleted = landed(id, 2);
    deleted["deleted_time"] = json!("2026-01-31T12:00:00Z");
    world.api.set(id, deleted);
    again(&world, &publish, |report| {
        condition(report, "Finalized").0 == "True"
    })
    .await;
    assert_eq!(world.object("ConfigMap", id, "validation").await, None);
    assert_eq!(world.object("Job", id, "validation-gen1").await, None);
    assert!(
        world.object("Namespace", "", id).await.is_some(),
        "the namespace is not this adapter's"
    );
    stop.cancel();
    running.await.unwrap();

    let text = registry.encode().unwrap();
    for series in [
        "hyperfleet_adapter_events_processed_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_event_processing_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_resources_created_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_resources_deleted_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_events_consumed_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_events_in_flight{adapter_name=\"validation\"",
        "hyperfleet_adapter_resources_tracked_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_deliveries_settled_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_k8s_operations_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_k8s_operation_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_resource_deletion_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_resource_deletions_in_progress{adapter_name=\"validation\"",
        "hyperfleet_adapter_jobs_created_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_job_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_api_calls_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_api_call_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_status_report_duration_seconds_bucket{adapter_name=\"validation\"",
        "hyperfleet_adapter_preconditions_evaluated_total{adapter_name=\"validation\"",
        "hyperfleet_adapter_status_reports_total{adapter_name=\"validation\"",
    ] {
        assert!(text.contains(series), "{series} is not in\n{text}");
    }
}

/// What landing-zone makes.
async fn land(world: &World, id: &str) {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": id}});
    let made = world.transport.apply(&namespace, Mode::Commit).await;
    made.unwrap();
}

/// A cluster whose landing zone is ready.
fn landed(id: &str, generation: i64) -> Json {
    let mut cluster = cluster(id, generation);
    cluster["status"]["adapters"] =
        json!([{"name": "landing-zone", "available": "True", "observed_generation": generation}]);
    cluster
}

/// Publishes until a report says what is waited for.
async fn again<F: Future<Output = ()>>(
    world: &World,
    publish: &impl Fn() -> F,
    wanted: impl Fn(&Json) -> bool,
) -> Json {
    let start = std::time::Instant::now();
    loop {
        let before = world.api.reports.lock().unwrap().len();
        publish().await;
        let report = reported(world, |count| count > before).await;
        if wanted(&report) {
            return report;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{report}");
    }
}

async fn reported(world: &World, enough: impl Fn(usize) -> bool) -> Json {
    let start = std::time::Instant::now();
    loop {
        let count = world.api.reports.lock().unwrap().len();
        if count > 0 && enough(count) {
            return world.api.last_report();
        }
        assert!(start.elapsed() < Duration::from_secs(30), "no report");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
