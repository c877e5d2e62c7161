use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::running::{Up, data_dir, hyperfleet, outcome};

/// `sweeper run --dry-run` beside a running system.
fn dry_run(system: &Up, data_dir: &Path, format: &str) -> std::process::Output {
    let base_url = system.api.split("/api/").next().unwrap();
    outcome(
        hyperfleet()
            .args([
                "sweeper",
                "run",
                "--dry-run",
                "--log-level",
                "error",
                "-o",
                format,
            ])
            .args(["--hyperfleet-api-base-url", base_url])
            .arg("--kubeconfig")
            .arg(data_dir.join("kubeconfig"))
            .arg("--ownership-key-file")
            .arg(data_dir.join("ownership.key")),
    )
}

/// What carries the id of a resource, with the reason why it stays or goes.
fn reasons(system: &Up, data_dir: &Path, id: &str) -> Vec<String> {
    let output = dry_run(system, data_dir, "json");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{found:#}");
    let objects = found["objects"].as_array().unwrap().iter();
    objects
        .filter(|object| object["resource_id"] == id)
        .map(|object| object["reason"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_a_forced_deletion_leaves_behind_goes_by_itself() {
    let directory = data_dir();
    let system = Up::start(directory.path());
    let cluster = json!({"kind": "Cluster", "name": "one", "spec": {"region": "us-east-1"}});
    let id = system.post("/clusters", &cluster)["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("/clusters/{id}");
    system.wait_for_phase(&path, "Ready");
    let kept = reasons(&system, directory.path(), &id);
    assert!(
        kept.iter().any(|reason| reason == "owner_exists"),
        "{kept:?}"
    );
    let text = dry_run(&system, directory.path(), "text").stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.starts_with("OBJECT") && text.contains("its owner exists"),
        "{text}"
    );

    system.delete(&path);
    system.force_delete(&path);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let left = reasons(&system, directory.path(), &id);
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "still there: {left:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(system.interrupt().success());
}

#[test]
fn a_sweeper_that_is_told_too_little_says_what_is_missing() {
    let output = outcome(hyperfleet().args(["sweeper", "run"]));
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("clients.hyperfleet_api.base_url"),
        "{message}"
    );
}
