//! Every way to start wrongly gives one clear message, a non-zero exit code, and leaves nothing behind.

use std::net::TcpListener;
use std::process::Command;

use crate::running::{data_dir, hyperfleet, outcome, processes_of, up};

fn message(command: &mut Command) -> String {
    let output = outcome(command);
    assert!(!output.status.success(), "it must fail");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        !text.contains("panicked") && !text.contains("stack backtrace"),
        "{text}"
    );
    text
}

#[test]
fn a_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let directory = data_dir();
    let text = message(up(directory.path()).args(["--port", &port]));
    assert!(
        text.contains(&format!("127.0.0.1:{port}")) || text.contains(&format!("localhost:{port}")),
        "{text}"
    );
    assert!(text.contains("in use") && text.contains("--port"), "{text}");
    assert_eq!(processes_of(directory.path()), Vec::<String>::new());
}

#[test]
fn no_postgresql() {
    let directory = data_dir();
    let text = message(up(directory.path()).env("HYPERFLEET_POSTGRES_BIN", "/nowhere"));
    assert!(
        text.contains("apt-get install -y postgresql") && text.contains("DATABASE_URL"),
        "{text}"
    );
}

#[test]
fn a_database_that_is_not_there() {
    let directory = data_dir();
    let secret = "s3cret";
    let url = format!("postgres://me:{secret}@127.0.0.1:1/fleet");
    let text = message(up(directory.path()).env("DATABASE_URL", url));
    assert!(
        text.contains("127.0.0.1:1") && text.contains("fleet"),
        "{text}"
    );
    assert!(
        !text.contains(secret),
        "the password stays out of it: {text}"
    );
}

#[test]
fn a_data_directory_that_cannot_be_written() {
    let directory = data_dir();
    let file = directory.path().join("file");
    std::fs::write(&file, "").unwrap();
    let text = message(&mut up(&file.join("below")));
    assert!(
        text.contains("--data-dir") && text.contains("below"),
        "{text}"
    );
}

#[test]
fn a_kubeconfig_that_points_nowhere() {
    let directory = data_dir();
    let missing = directory.path().join("missing");
    let text = message(up(directory.path()).arg("--kubeconfig").arg(&missing));
    assert!(text.contains("missing"), "{text}");

    let kubeconfig = directory.path().join("kubeconfig");
    std::fs::write(
        &kubeconfig,
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
         users: [{name: u, user: {}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n",
    )
    .unwrap();
    let text = message(up(directory.path()).arg("--kubeconfig").arg(&kubeconfig));
    assert!(text.contains("127.0.0.1:1"), "{text}");
    assert_eq!(
        processes_of(&directory.path().join("postgres")),
        Vec::<String>::new()
    );
}

#[test]
fn a_data_directory_in_use() {
    let directory = data_dir();
    let _first = crate::running::Up::start(directory.path());
    let text = message(&mut up(directory.path()));
    assert!(text.contains("in use by another hyperfleet"), "{text}");
}

#[test]
fn a_typo_in_a_configuration_file() {
    let directory = data_dir();
    let file = directory.path().join("api.yaml");
    std::fs::write(&file, "server:\n  prot: 8000\n").unwrap();
    let text = message(hyperfleet().args(["api", "serve", "--config"]).arg(&file));
    assert!(
        text.contains("api.yaml:2:3") && text.contains("did you mean `port`?"),
        "{text}"
    );
}

#[test]
fn kinds_that_do_not_fit_together() {
    let directory = data_dir();
    let file = directory.path().join("api.yaml");
    let data = directory.path().join("data");
    std::fs::write(
        &file,
        "entities:\n- {kind: A, plural: as, parent_kind: B, on_parent_delete: cascade}\n",
    )
    .unwrap();
    let mut serve = hyperfleet();
    serve.args([
        "api",
        "serve",
        "--migrate",
        "--health-port",
        "0",
        "--metrics-port",
        "0",
        "--server-port",
        "0",
    ]);
    let text = message(
        serve
            .arg("--data-dir")
            .arg(&data)
            .arg("--config")
            .arg(&file),
    );
    assert!(
        text.contains("api.yaml:2:38: error: kind `A` names the parent kind `B`"),
        "{text}"
    );
    assert_eq!(processes_of(&data), Vec::<String>::new());
}

#[test]
fn no_adapters() {
    let directory = data_dir();
    let text = message(up(directory.path()).args(["--adapters", "/nowhere"]));
    assert!(
        text.contains("/nowhere") && text.contains("--adapters"),
        "{text}"
    );
}

#[test]
fn the_version_is_data() {
    let output = outcome(hyperfleet().args(["version", "-o", "json"]));
    let version: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_effective_configuration_is_printed_without_secrets() {
    let output = outcome(
        hyperfleet()
            .args(["config", "print", "api"])
            .env("DATABASE_URL", "postgres://me:s3cret@db.example/fleet")
            .env("HYPERFLEET_SERVER_PORT", "8123"),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        text.contains("port: 8123") && text.contains("HYPERFLEET_SERVER_PORT"),
        "{text}"
    );
    assert!(!text.contains("s3cret"), "{text}");
}
