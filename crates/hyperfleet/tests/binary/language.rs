//! What an author tries on the command line.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::running::hyperfleet;

fn with_input(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn evaluate(expression: &str, data: &str) -> Output {
    with_input(
        hyperfleet().args(["expr", "eval", expression, "--data", "-"]),
        data,
    )
}

#[test]
fn an_expression_prints_json() {
    let data = r#"{"cluster": {"status": {"phase": "Ready"}, "nodes": 3}}"#;
    let output = evaluate(
        "{'ready': cluster.status.phase == 'Ready', 'more': cluster.nodes + 1}",
        data,
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result, serde_json::json!({"ready": true, "more": 4}));
}

#[test]
fn a_mistake_in_an_expression_is_pointed_at_and_nothing_is_on_stdout() {
    let unknown = evaluate("clutser.nodes > 1", "{cluster: {nodes: 3}}");
    let text = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!(
        (unknown.status.code(), unknown.stdout.as_slice()),
        (Some(1), &b""[..])
    );
    assert!(text.contains("cluster") && text.contains('^'), "{text}");
    let missing = evaluate("cluster.nods > 1", "{cluster: {nodes: 3}}");
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("nods"));
}

#[test]
fn a_template_prints_text() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("job.yaml");
    std::fs::write(
        &file,
        "name: {{ .cluster.name | lower }}-{{ .generation }}\n",
    )
    .unwrap();
    let render = |data: &str| {
        with_input(
            hyperfleet()
                .arg("template")
                .arg("render")
                .arg(&file)
                .args(["--data", "-"]),
            data,
        )
    };
    let output = render(r#"{"cluster": {"name": "Demo"}, "generation": 1000000}"#);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "name: demo-1000000\n"
    );
    let missing = render("{cluster: {name: x}}");
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        String::from_utf8(missing.stderr)
            .unwrap()
            .contains("generation")
    );
}
