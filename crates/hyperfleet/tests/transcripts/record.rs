//! Running the commands of a transcript.
//!
//! In a `console` block a line that begins with `$ ` is a command, those that begin with `> ` continue it, and everything
//! up to the next command is what it printed, closed by `[exit N]` if it did not end with 0.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The same transcript with what the commands print now.
pub(crate) fn run(transcript: &str, server: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let mut out = String::new();
    let mut lines = transcript.lines().peekable();
    let mut inside = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            inside = line == "```console";
        }
        match line.strip_prefix("$ ").filter(|_| inside) {
            // What was printed then is left out; what is printed now comes with its command.
            None if inside && !line.starts_with("```") => {}
            None => writeln!(out, "{line}").unwrap(),
            Some(command) => {
                writeln!(out, "{line}").unwrap();
                let mut script = command.to_owned();
                while let Some(more) = lines.next_if(|line| line.starts_with("> ") || *line == ">")
                {
                    writeln!(out, "{more}").unwrap();
                    script.push('\n');
                    script.push_str(more.strip_prefix("> ").unwrap_or_default());
                }
                out.push_str(&execute(&script, home.path(), server));
            }
        }
    }
    out
}

fn execute(script: &str, home: &Path, server: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_hyperfleet"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{script}")])
        .current_dir(home)
        .env_clear()
        .env("PATH", path)
        .env("HOME", home)
        .env("HYPERFLEET_SERVER", server)
        .env("SERVER", server)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    // A transcript is for everybody: it does not tell whose machine this is.
    text = text.replace(&home.display().to_string(), "~");
    text = text.replace(server, "http://localhost:8000");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        code => writeln!(text, "[exit {}]", code.unwrap_or(-1)).unwrap(),
    }
    text
}
