//! The running API against its own OpenAPI document: Schemathesis asks what the document says can be asked, right and
//! wrong, and checks every answer. No answer may be a server error, and all must be as described.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod server;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use server::Server;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let available = available();
    if let Err(reason) = &available {
        eprintln!("skipped: the API against its document: {reason}");
    }
    let trial = Trial::test("every_answer_is_as_the_document_says", holds)
        .with_ignored_flag(available.is_err());
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schemathesis() -> Command {
    let mut command = Command::new(root().join("dev/schemathesis"));
    command.stdin(Stdio::null());
    command
}

fn available() -> Result<(), String> {
    let output = schemathesis()
        .arg("status")
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Two of the kinds are enough: the others take the same routes.
const TAGS: [&str; 4] = ["Cluster", "NodePool", "All kinds", "API"];

fn holds() -> Result<(), Failed> {
    let server = Server::start(&root().join("configs/entities-example.yaml"));
    let mut run = schemathesis();
    run.args(["run", &server.document()]);
    for tag in TAGS {
        run.args(["--include-tag", tag]);
    }
    // The same cases for everybody; another seed asks other questions.
    let seed = std::env::var("SCHEMATHESIS_SEED").unwrap_or_else(|_| "1".to_owned());
    run.args(["--seed", &seed]);
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let seed = said.lines().find(|line| line.starts_with("Seed: "));
    let cases = said.lines().find(|line| line.contains(" generated, "));
    eprintln!(
        "Schemathesis: {}; {} (SCHEMATHESIS_SEED takes another)",
        cases.unwrap_or("no cases").trim(),
        seed.unwrap_or("no seed")
    );
    if !output.status.success() {
        let complained = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{said}\n{complained}").into());
    }
    let errors = server.errors();
    if errors.is_empty() {
        return Ok(());
    }
    Err(format!("the server logged errors:\n{}", errors.join("\n")).into())
}
