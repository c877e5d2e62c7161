//! What somebody who writes specs, or tasks, might make an adapter do. Each attempt is refused and reported, and the next
//! event is handled as if nothing had happened.
//!
//! Redirects to other origins, odd spellings of link-local addresses and too long answers are refused in the client,
//! whose own tests show it; the limits of the languages in `crates/expr/tests/cel_limits.rs` and `template.rs`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyperfleet_adapter::config::parse_task;
use hyperfleet_adapter::{Engine, Outcome, Status};
use hyperfleet_source::SourceFile;
use serde_json::{Value as Json, json};

use crate::world::{World, cluster, condition, event, handle, message};

/// A cluster with something of the attacker's in its spec.
fn with(id: &str, key: &str, value: Json) -> Json {
    let mut cluster = cluster(id, 1);
    cluster["spec"][key] = value;
    cluster
}

/// The attack is reported as a failure, and a cluster without it is done.
async fn fails_alone(world: &World, engine: &Engine, attack: Json) -> Json {
    world.api.set("bad", attack);
    let run = handle(engine, &event("bad", 1)).await;
    assert_ne!(run.outcome, Outcome::Done(Status::Success), "{run:?}");
    let report = world.api.last_report();
    assert_eq!(condition(&report, "Available").0, "False", "{report}");
    assert_eq!(world.object("ConfigMap", "default", "made-bad").await, None);
    report
}

async fn still_works(world: &World, engine: &Engine, good: Json) {
    world.api.set("good", good);
    let run = handle(engine, &event("good", 1)).await;
    assert_eq!(run.outcome, Outcome::Done(Status::Success), "{run:?}");
    let made = world.object("ConfigMap", "default", "made-good").await;
    assert!(made.is_some());
}

/// A task that reads the cluster, and makes a ConfigMap of it.
fn task(params: &str, preconditions: &str, data: &str) -> String {
    format!(
        r#"
params:
  - {{name: clusterId, source: event.id, required: true}}
  - name: cluster
    source: {{api_call: {{method: GET, url: "clusters/{{{{ .clusterId }}}}"}}}}
    required: true
{params}
{preconditions}
resources:
  - name: made
    manifest:
      apiVersion: v1
      kind: ConfigMap
      metadata: {{name: "made-{{{{ .clusterId }}}}", namespace: default}}
      data: {{value: '{data}'}}
"#
    )
}

#[tokio::test]
async fn a_template_does_not_work_for_ever_whatever_the_spec_says() {
    let world = World::start().await;
    let engine = world.engine(&task("", "", "{{ repeat .cluster.spec.times \"x\" }}"));
    let attack = with("bad", "times", json!(2_000_000_000));
    let report = fails_alone(&world, &engine, attack).await;
    assert!(message(&report, "Available").contains("limit"), "{report}");
    still_works(&world, &engine, with("good", "times", json!(2))).await;
}

#[tokio::test]
async fn an_expression_does_not_work_for_ever_whatever_the_spec_says() {
    let world = World::start().await;
    let cube = "cluster.spec.items.all(a, cluster.spec.items.all(b, cluster.spec.items.all(c, a + b + c >= 0)))";
    let preconditions = format!("preconditions: [{{name: cube, expression: '{cube}'}}]");
    let engine = world.engine(&task("", &preconditions, "x"));
    let many: Vec<u32> = (0..3000).collect();
    let report = fails_alone(&world, &engine, with("bad", "items", json!(many))).await;
    assert!(message(&report, "Available").contains("steps"), "{report}");
    still_works(&world, &engine, with("good", "items", json!([1, 2]))).await;
}

/// Counts who knocks.
async fn elsewhere() -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let knocks = Arc::new(AtomicUsize::new(0));
    let counted = knocks.clone();
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address.to_string(), knocks)
}

#[tokio::test]
async fn an_api_call_is_not_led_to_another_server() {
    let world = World::start().await;
    let asks = "  - {name: told, required: true, source: {api_call: {method: GET, url: \"{{ .cluster.spec.url }}\"}}}";
    let engine = world.engine(&task(asks, "", "x"));
    let (address, knocks) = elsewhere().await;
    let api = world.api_url.trim_start_matches("http://");
    for url in [
        format!("http://{address}/"),
        format!("//{address}/"),
        format!("http://{api}@{address}/"),
        format!("HTTP://{address}/"),
        format!("\\\\{address}\\"),
        "http://169.254.169.254/latest/meta-data/iam/security-credentials/".to_owned(),
        "http://[fd00:ec2::254]/latest/meta-data/".to_owned(),
        "http://2852039166/latest/meta-data/".to_owned(),
        "http://metadata.google.internal/computeMetadata/v1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1:6379/_FLUSHALL".to_owned(),
    ] {
        let report = fails_alone(&world, &engine, with("bad", "url", json!(url))).await;
        assert!(!report.to_string().contains("root:"), "{url}");
    }
    assert_eq!(knocks.load(Ordering::SeqCst), 0, "nobody was asked");
    still_works(&world, &engine, with("good", "url", json!("clusters/good"))).await;
}

#[test]
fn a_file_reference_does_not_leave_the_directory_of_the_task() {
    let outside = tempfile::tempdir().unwrap();
    let directory = outside.path().join("task");
    std::fs::create_dir_all(directory.join("below")).unwrap();
    std::fs::write(outside.path().join("secret.yaml"), "kind: Secret\n").unwrap();
    let absolute = outside.path().join("secret.yaml").display().to_string();
    for reference in [
        "../secret.yaml",
        "below/../../secret.yaml",
        "./.././secret.yaml",
        "/etc/passwd",
        &absolute,
    ] {
        for text in [
            format!("resources: [{{name: a, manifest: {{ref: {reference}}}}}]"),
            format!("post: {{payloads: [{{name: p, build_ref: {reference}}}]}}"),
        ] {
            let file = SourceFile::new("task.yaml", &text);
            let refused = parse_task(&file, &directory.join("task.yaml")).unwrap_err();
            let told = refused.to_string();
            assert!(told.contains("is outside of"), "{text}: {told}");
            assert!(!told.contains("kind: Secret"), "{told}");
        }
    }
    assert!(Path::new(&absolute).exists(), "there is something to read");
}
