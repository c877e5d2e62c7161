//! Templates against what Go prints for the same text, data and functions.
//!
//! The results are recorded in `testdata/templates.json`; where Go is installed
//! the program that recorded them runs again, so the record cannot rot.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use chrono::{DateTime, Utc};
use hyperfleet_expr::template::{Data, Template};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Recorded {
    now: DateTime<Utc>,
    data: Map<String, Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    template: String,
    #[serde(default)]
    data: String,
    want: Option<String>,
    error: Option<String>,
    /// With `why` and without this, an error is what we want.
    ours: Option<String>,
    why: Option<String>,
}

const RECORDED: &str = include_str!("../testdata/templates.json");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let recorder = build_recorder();
    if let Err(reason) = &recorder {
        eprintln!("skipped: templates against Go: {reason}");
    }
    let ignored = recorder.is_err();
    let trials = vec![
        Trial::test("templates_print_what_go_prints", compare),
        Trial::test("the_record_is_what_go_prints_today", || record(recorder))
            .with_ignored_flag(ignored),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn compare() -> Result<(), Failed> {
    let recorded: Recorded = serde_json::from_str(RECORDED)?;
    let mut differences = Vec::new();
    for case in &recorded.cases {
        let wanted = match &case.why {
            Some(_) => &case.ours,
            None => &case.want,
        };
        let got = render(case, &recorded);
        if got.as_ref().ok() != wanted.as_ref() {
            let (template, error) = (&case.template, &case.error);
            differences.push(format!(
                "{template:?}\n  want {wanted:?} (Go: {error:?})\n   got {got:?}"
            ));
        }
    }
    let count = differences.len();
    match count {
        0 => Ok(()),
        _ => Err(format!(
            "{count} of {} differ:\n{}",
            recorded.cases.len(),
            differences.join("\n")
        )
        .into()),
    }
}

fn render(case: &Case, recorded: &Recorded) -> Result<String, String> {
    let template = Template::parse("t", &case.template).map_err(|e| e.to_string())?;
    let empty = Map::new();
    let data = recorded.data.get(&case.data).and_then(Value::as_object);
    let rendered = template.render(&Data::from(data.unwrap_or(&empty)), recorded.now);
    rendered.map_err(|e| e.to_string())
}

fn build_recorder() -> Result<PathBuf, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/go");
    let binary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("record-templates");
    let output = Command::new("go")
        .current_dir(source)
        .args(["build", "-mod=readonly", "-o"])
        .arg(&binary)
        .arg(".")
        .output()
        .map_err(|e| format!("go is not installed ({e})"))?;
    match output.status.success() {
        true => Ok(binary),
        false => Err(format!(
            "go cannot build here: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn record(recorder: Result<PathBuf, String>) -> Result<(), Failed> {
    let mut child = Command::new(recorder?)
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // The recorder reads everything before it writes.
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    stdin.write_all(RECORDED.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let now = String::from_utf8(output.stdout)?;
    for (recorded, now) in RECORDED.lines().zip(now.lines()) {
        if recorded != now {
            return Err(format!("recorded {recorded}\n   today {now}").into());
        }
    }
    match now.lines().count() == RECORDED.lines().count() {
        true => Ok(()),
        false => Err("the record has other cases than Go was asked".into()),
    }
}
