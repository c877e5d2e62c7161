use serde_json::{Value, json};

use crate::running::{Up, data_dir, hyperfleet, outcome};

#[test]
fn why_tells_what_a_sentinel_would_decide_about_a_cluster() {
    let directory = data_dir();
    let system = Up::start(directory.path());
    let body = json!({"kind": "Cluster", "name": "asked", "spec": {"region": "us-east-1"}});
    let created = system.post("/clusters", &body);
    let id = created["id"].as_str().unwrap();
    system.wait_for_phase(&format!("/clusters/{id}"), "Ready");
    let ask = |more: &[&str]| {
        let mut command = hyperfleet();
        command.args(["sentinel", "why", "cluster/asked"]);
        let base = system.api.trim_end_matches("/api/hyperfleet/v1");
        command.args(["--hyperfleet-api-base-url", base]);
        let output = outcome(command.args(more));
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = ask(&[]);
    let rule = "Rule       ready: backoff_ready (30m) after the oldest report, and the jitter";
    assert!(text.contains(rule), "{text}");
    let answers: Value = serde_json::from_str(&ask(&["-o", "json"])).unwrap();
    assert_eq!(answers[0]["due"], false);
    assert_eq!(answers[0]["resource"]["id"], id);
    let yaml: Value = serde_yaml_ng::from_str(&ask(&["-o", "yaml"])).unwrap();
    assert_eq!(yaml[0]["saw"]["phase"], "Ready");

    // The Sentinel told the API by which times it decides.
    let mut command = hyperfleet();
    command.args(["why", "cluster/asked", "-o", "json", "--server"]);
    let output = outcome(command.arg(system.api.trim_end_matches("/api/hyperfleet/v1")));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["next_event"]["times"], "announced", "{found}");

    let nobody = outcome(hyperfleet().args(["sentinel", "why", "cluster"]));
    let said = String::from_utf8(nobody.stderr).unwrap();
    assert!(said.contains("write its kind and its name or id"), "{said}");
    assert!(system.interrupt().success());
}
