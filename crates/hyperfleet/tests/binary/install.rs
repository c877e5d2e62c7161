//! What `make install` puts where.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::running::outcome;

#[test]
fn the_program_its_pages_and_completions_are_installed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let there = tempfile::tempdir().unwrap();
    let mut make = Command::new("make");
    make.current_dir(&root)
        .args(["--silent", "place", "PREFIX=/opt/hf"])
        .arg(format!("PROGRAM={}", env!("CARGO_BIN_EXE_hyperfleet")))
        .arg(format!("DESTDIR={}", there.path().display()))
        // Of a make that runs the tests.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL");
    let output = outcome(&mut make);
    assert!(output.status.success(), "{output:?}");

    let prefix = there.path().join("opt/hf");
    let read = |path: &str| std::fs::read_to_string(prefix.join(path)).unwrap();
    let program = prefix.join("bin/hyperfleet");
    let mode = std::fs::metadata(&program).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let version = outcome(Command::new(&program).arg("--version"));
    assert!(version.status.success(), "{version:?}");

    for (page, says) in [
        ("hyperfleet.1", "hyperfleet"),
        ("hyperfleet-get.1", "selector"),
        ("hyperfleet-config-use-context.1", "context"),
        ("hyperfleet-auth-can-i.1", "token\\-file"),
    ] {
        let text = read(&format!("share/man/man1/{page}"));
        assert!(text.contains(".TH") && text.contains(says), "{page}");
    }
    for (file, says) in [
        ("share/bash-completion/completions/hyperfleet", "complete"),
        (
            "share/zsh/site-functions/_hyperfleet",
            "#compdef hyperfleet",
        ),
        (
            "share/fish/vendor_completions.d/hyperfleet.fish",
            "complete",
        ),
    ] {
        assert!(read(file).contains(says), "{file}: {}", read(file));
    }
}
