//! A platform team's commands.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::running::{Api, data_dir, hyperfleet, outcome};

const GOOD: &str = "requiredAdapters: [dns]
clusterConditions:
- type: DNSReady
  evaluate: {expr: 'adapters[\"dns\"].available == \"True\"'}
";

#[test]
fn an_aggregation_config_is_checked_and_every_mistake_is_told_with_its_place() {
    let directory = data_dir();
    let file = directory.path().join("aggregation.yaml");
    let validate = |text: &str, arguments: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let mut command = hyperfleet();
        command.args(["aggregation", "validate"]).arg(&file);
        let output = outcome(command.args(arguments));
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (code, _, told) = validate(GOOD, &[]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.ends_with("aggregation.yaml: no mistakes\n"), "{told}");

    let bad = GOOD
        .replace("adapters[", "adaptors[")
        .replace("type:", "tpye:");
    let (code, _, told) = validate(&bad, &[]);
    assert_eq!(code, Some(1));
    for part in [
        "aggregation.yaml:3:3: error: a condition has no key `tpye`",
        "help: did you mean `type`?",
        "aggregation.yaml:4:21: error: in the rule: unknown variable `adaptors`",
        "help: did you mean `adapters`?",
    ] {
        assert!(told.contains(part), "{told}");
    }

    let (code, printed, _) = validate(&bad, &["-o", "json"]);
    assert_eq!(code, Some(1));
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed["valid"], false);
    let lines: Vec<&Value> = printed["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["line"])
        .collect();
    assert_eq!(lines, [3, 3, 4]);
}

#[test]
fn the_kinds_are_those_of_the_api_that_is_named() {
    let directory = data_dir();
    let config = directory.path().join("api.yaml");
    let kinds = "entities:\n- {kind: Channel, plural: channels, required_adapters: [dns]}\n";
    std::fs::write(&config, kinds).unwrap();
    let file = directory.path().join("aggregation.yaml");
    std::fs::write(&file, format!("kind: Channel\n{GOOD}")).unwrap();
    let mut command = hyperfleet();
    let command = command.args(["aggregation", "validate"]).arg(&file);
    let told = String::from_utf8(outcome(command).stderr).unwrap();
    assert!(told.contains("there is no kind `Channel`"), "{told}");
    let output = outcome(command.arg("--config").arg(&config));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_example_has_no_mistakes() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/aggregation-example.yaml"
    );
    let output = outcome(hyperfleet().args(["aggregation", "validate", example]));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, format!("{example}: no mistakes\n"));
}

/// Waits for something about a running API.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_rules_of_a_running_api_follow_their_file_and_a_bad_file_changes_nothing() {
    let directory = data_dir();
    let file = directory.path().join("aggregation.yaml");
    std::fs::write(&file, GOOD).unwrap();
    let config = directory.path().join("config.yaml");
    std::fs::write(&config, "api: {aggregation_file: aggregation.yaml}\n").unwrap();
    let api = Api::serve(&config, &directory.path().join("data"));
    let body = json!({"kind": "Cluster", "name": "ruled", "spec": {}});
    let cluster = api.post("/api/hyperfleet/v1/clusters", &body);
    let href = cluster["href"].as_str().unwrap();
    let types = || {
        let status = api.get(href)["status"].clone();
        let conditions = status["conditions"].as_array().unwrap().clone();
        let types = conditions.iter().map(|one| one["type"].clone());
        types.collect::<Vec<Value>>()
    };
    assert!(types().contains(&json!("DNSReady")));

    std::fs::write(&file, GOOD.replace("DNSReady", "NamesResolve")).unwrap();
    api.signal("-HUP");
    until("the new rule reaches the cluster", || {
        types().contains(&json!("NamesResolve"))
    });

    std::fs::write(&file, GOOD.replace("type:", "tpye:")).unwrap();
    let valid = |value: u8| {
        let metrics = api.metrics();
        let mut lines = metrics.lines();
        lines.any(|line| {
            line.starts_with("hyperfleet_api_aggregation_config_valid{")
                && line.ends_with(&format!(" {value}"))
        })
    };
    until("the metric says that the file is bad", || valid(0));
    let readiness = api.readiness();
    assert_eq!(readiness["status"], "ok");
    let note = readiness["notes"]["aggregation"].as_str().unwrap();
    assert!(note.contains("did you mean `type`?"), "{note}");
    assert!(types().contains(&json!("NamesResolve")));

    std::fs::write(&file, GOOD).unwrap();
    until("the file is good again", || valid(1));
}
