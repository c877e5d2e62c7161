//! An adapter author's commands.

use std::path::Path;

use crate::running::{adapters, data_dir, hyperfleet, outcome};

fn write(directory: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn the_shipped_adapter_has_no_mistakes() {
    let home = adapters().join("validation");
    let mut validate = hyperfleet();
    validate
        .args(["adapter", "validate", "--config"])
        .arg(home.join("adapter-config.yaml"));
    let output = outcome(
        validate
            .arg("--task-config")
            .arg(home.join("adapter-task-config.yaml")),
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn every_mistake_of_a_task_is_told_with_its_place() {
    let directory = data_dir();
    let task = "params:\n- name: clusterId\n  source: event.id\npreconditions:\n- name: known\n  expression: clutserId != ''\nresorces: []\n";
    let file = write(directory.path(), "task.yaml", task);
    let output = outcome(
        hyperfleet()
            .args(["adapter", "validate", "--task-config"])
            .arg(&file),
    );
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        text.contains("task.yaml:6:") && text.contains("clusterId"),
        "{text}"
    );
    assert!(
        text.contains("task.yaml:7:1") && text.contains("did you mean `resources`?"),
        "{text}"
    );
}

#[test]
fn a_dry_run_shows_what_an_event_would_do() {
    let home = adapters().join("validation");
    let mut dry_run = hyperfleet();
    dry_run.args(["adapter", "dry-run"]);
    for (flag, file) in [
        ("--config", "adapter-config.yaml"),
        ("--task-config", "adapter-task-config.yaml"),
        ("--event", "dry-run/event.json"),
        ("--api-responses", "dry-run/failed.api.json"),
        ("--discovery", "dry-run/failed.found.json"),
    ] {
        dry_run.arg(flag).arg(home.join(file));
    }
    let output = outcome(&mut dry_run);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let plan = std::fs::read_to_string(home.join("dry-run/failed.plan")).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plan);

    let output = outcome(dry_run.args(["-o", "json"]));
    let trace: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(trace["status"], "success", "{trace:#}");
    assert_eq!(trace["report"]["data"]["failedChecks"][0], "quota");
}

#[test]
fn serve_with_an_event_is_the_same_dry_run() {
    let home = adapters().join("validation");
    let mut serve = hyperfleet();
    serve.args(["adapter", "serve"]);
    for (flag, file) in [
        ("--config", "adapter-config.yaml"),
        ("--task-config", "adapter-task-config.yaml"),
        ("--dry-run-event", "dry-run/event.json"),
        ("--dry-run-api-responses", "dry-run/failed.api.json"),
        ("--dry-run-discovery", "dry-run/failed.found.json"),
    ] {
        serve.arg(flag).arg(home.join(file));
    }
    let plan = std::fs::read_to_string(home.join("dry-run/failed.plan")).unwrap();
    let output = outcome(&mut serve);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), plan);

    let verbose = outcome(serve.args(["--dry-run-verbose"]));
    assert!(verbose.stdout.len() > plan.len());
    let json = outcome(serve.args(["--dry-run-output", "json"]));
    let trace: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(trace["report"]["data"]["failedChecks"][0], "quota");

    let alone = outcome(hyperfleet().args(["adapter", "serve", "--dry-run-verbose"]));
    let text = String::from_utf8(alone.stderr).unwrap();
    assert!(
        !alone.status.success() && text.contains("--dry-run-event"),
        "{text}"
    );
}

#[test]
fn an_adapter_exports_spans_if_a_flag_or_a_variable_says_so() {
    let home = adapters().join("validation");
    let serve = |flags: &[&str], variables: &[(&str, &str)]| {
        let mut serve = hyperfleet();
        serve.args(["adapter", "serve", "--config"]);
        serve
            .arg(home.join("adapter-config.yaml"))
            .arg("--task-config");
        serve.arg(home.join("adapter-task-config.yaml")).args(flags);
        // What shows that it was going to: it cannot honour this, and ends.
        serve.env("OTEL_TRACES_SAMPLER", "nonsense");
        let output = outcome(serve.envs(variables.iter().copied()));
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    for (flags, variable) in [
        (&["--tracing-enabled"][..], "UNRELATED"),
        (&[], "HYPERFLEET_TRACING_ENABLED"),
        (&[], "TRACE_ENABLED"),
    ] {
        let told = serve(flags, &[(variable, "true")]);
        assert!(told.contains("OTEL_TRACES_SAMPLER is `nonsense`"), "{told}");
    }
}

#[test]
fn a_dump_has_both_files_and_no_secrets() {
    let directory = data_dir();
    let config = "adapter: {name: dumped}\nclients:\n  hyperfleet_api:\n    base_url: http://file\n    \
                  default_headers: {Authorization: Bearer s3cret}\n";
    let config = write(directory.path(), "adapter.yaml", config);
    let dump = |task: &str| {
        let task = write(directory.path(), "task.yaml", task);
        let mut dump = hyperfleet();
        dump.args(["adapter", "config-dump", "--config"])
            .arg(&config);
        dump.arg("--task-config").arg(task);
        outcome(dump.args(["--hyperfleet-api-base-url", "http://flag"]))
    };
    let dumped = dump("params:\n- {name: id, source: event.id, required: true}\n");
    let text = String::from_utf8(dumped.stdout).unwrap();
    let yaml: serde_json::Value = serde_yaml_ng::from_str(&text).unwrap();
    assert_eq!(yaml["adapter"]["name"], "dumped");
    assert_eq!(yaml["clients"]["hyperfleet_api"]["base_url"], "http://flag");
    assert_eq!(yaml["params"][0]["source"], "event.id");
    assert!(!text.contains("s3cret"), "{text}");

    let wrong = dump("prams: []\n");
    assert!(!wrong.status.success() && wrong.stdout.is_empty());
}

#[test]
fn a_flag_wins_over_the_file_and_is_named_when_it_is_wrong() {
    let config = adapters().join("validation/adapter-config.yaml");
    let validate = |flags: &[&str]| {
        let mut command = hyperfleet();
        command
            .args(["adapter", "validate", "--config"])
            .arg(&config);
        outcome(command.args(flags))
    };
    let right = validate(&["--hyperfleet-api-timeout", "3s", "--debug-config"]);
    assert!(right.status.success());
    let wrong = validate(&["--hyperfleet-api-retry", "often"]);
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(!wrong.status.success());
    assert!(text.contains("--hyperfleet-api-retry"), "{text}");
}

#[test]
fn the_schema_that_is_printed_is_the_one_in_the_docs() {
    for (kind, file) in [("task", "adapter-task"), ("deployment", "adapter-config")] {
        let printed = outcome(hyperfleet().args(["adapter", "schema", "--kind", kind]));
        let kept = adapters().join(format!("../docs/schemas/{file}.schema.json"));
        let kept = std::fs::read_to_string(kept).unwrap();
        assert_eq!(String::from_utf8(printed.stdout).unwrap(), kept, "{kind}");
    }
}
