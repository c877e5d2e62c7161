//! Every transcript in `docs/transcripts`, run against a real server: the same commands must print the same and end the
//! same. Ids, times and ages are of the day; they count as equal.
//!
//! `UPDATE_TRANSCRIPTS=1 cargo test -p hyperfleet --test transcripts` records them anew.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking, and this harness hides that it is one"
)]

mod normal;
mod record;
#[path = "../contract/server.rs"]
#[expect(
    dead_code,
    reason = "shared with the contract test, which asks it for more"
)]
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("docs/transcripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    files.sort();
    let trials = files.into_iter().map(|file| {
        let name = file
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .replace('-', "_");
        Trial::test(format!("transcript_{name}_is_what_happens"), move || {
            holds(&file)
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn holds(file: &Path) -> Result<(), Failed> {
    let recorded = std::fs::read_to_string(file).unwrap();
    let server =
        server::Server::start(&root().join("crates/hyperfleet/tests/transcripts/api.yaml"));
    let actual = record::run(&recorded, &server.url());
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        std::fs::write(file, actual).unwrap();
        return Ok(());
    }
    let (expected, actual) = (normal::form(&recorded), normal::form(&actual));
    if expected == actual {
        return Ok(());
    }
    let differences = similar::TextDiff::from_lines(&expected, &actual)
        .unified_diff()
        .header("recorded", "now")
        .to_string();
    Err(format!("{}:\n{differences}", file.display()).into())
}
