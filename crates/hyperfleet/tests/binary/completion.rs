//! What a shell is told, and what `make install` writes.

use std::path::Path;

use serde_json::json;

use crate::running::{Api, data_dir, hyperfleet, outcome};

/// What would be offered for the last of these words.
fn offered(server: &str, words: &[&str]) -> Vec<String> {
    let mut command = hyperfleet();
    command
        .env("HYPERFLEET_SERVER", server)
        .env("COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .args(["--", "hyperfleet"])
        .args(words);
    let output = outcome(&mut command);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_shell_completes_the_kinds_and_names_of_the_server() {
    let directory = data_dir();
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/api.yaml");
    let api = Api::serve(&config, directory.path());
    for name in ["production", "prod_like", "staging"] {
        let name = name.replace('_', "-");
        let body = json!({"kind": "Cluster", "name": name, "spec": {}});
        api.post("/api/hyperfleet/v1/clusters", &body);
    }
    let server = format!("http://{}", api.address());
    assert_eq!(offered(&server, &["desc"]), ["describe"]);
    assert_eq!(offered(&server, &["get", "no"]), ["nodepools", "nodepool/"]);
    assert_eq!(
        offered(&server, &["get", "cluster/prod"]),
        ["cluster/prod-like", "cluster/production"]
    );
    assert_eq!(offered(&server, &["describe", "cl", "st"]), ["staging"]);
    assert_eq!(offered(&server, &["explain", "add"]), ["addons"]);
    // A server that is not there keeps nobody waiting, and spoils nothing.
    assert_eq!(
        offered("http://127.0.0.1:1", &["get", "x"]),
        Vec::<String>::new()
    );
}

#[test]
fn there_is_a_script_for_every_shell_and_a_man_page_for_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = outcome(hyperfleet().args(["completion", shell]));
        assert!(output.status.success(), "{output:?}");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            script.contains("COMPLETE") && script.contains("hyperfleet"),
            "{script}"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let output = outcome(
        hyperfleet()
            .args(["reference", "man"])
            .arg(directory.path()),
    );
    assert!(output.status.success(), "{output:?}");
    for page in [
        "hyperfleet.1",
        "hyperfleet-get.1",
        "hyperfleet-config-use-context.1",
    ] {
        let text = std::fs::read_to_string(directory.path().join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}: {text}");
    }
}
