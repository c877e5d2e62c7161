//! The guide's examples are true, and no function is missing from it.

use chrono::{DateTime, Utc};
use hyperfleet_expr::cel::{Bindings, Environment};

const GUIDE: &str = include_str!("../../../docs/expressions.md");

/// The cells of a table row that are code, without their backticks.
fn code_cells(line: &str) -> Option<(&str, &str)> {
    let mut cells = line
        .strip_prefix("| ")?
        .strip_suffix(" |")?
        .split(" | ")
        .skip(1);
    let (example, result) = (cells.next()?, cells.next()?);
    Some((code(example)?, code(result)?))
}

fn code(cell: &str) -> Option<&str> {
    cell.strip_prefix('`')?.strip_suffix('`')
}

fn cel_part() -> &'static str {
    let start = GUIDE.find("\n## CEL\n").expect("the guide has a CEL part");
    let rest = &GUIDE[start + 1..];
    rest[1..].find("\n## ").map_or(rest, |end| &rest[..end + 1])
}

fn data() -> serde_json::Value {
    let guide = cel_part();
    let start = guide.find("```json\n").expect("the guide shows the data") + 8;
    let end = guide[start..].find("```").expect("the block ends") + start;
    serde_json::from_str(&guide[start..end]).expect("the data is JSON")
}

#[test]
fn every_example_gives_what_the_guide_says() {
    let data = data();
    let now: DateTime<Utc> = "2026-03-01T12:00:00Z".parse().unwrap();
    let bindings = Bindings::new(now).bind_all(data.as_object().unwrap());
    let functions = &cel_part()[cel_part().find("#### Of this project").unwrap()..];
    let functions = &functions[..functions.find("### Limits").unwrap()];
    let mut count = 0;
    for (example, wanted) in functions.lines().filter_map(code_cells) {
        let program = Environment::unchecked()
            .compile(example)
            .unwrap_or_else(|p| panic!("{p}"));
        let value = program
            .evaluate_json(&bindings)
            .unwrap_or_else(|e| panic!("{}", e.render(example)));
        let wanted: serde_json::Value =
            serde_json::from_str(wanted).unwrap_or_else(|e| panic!("{wanted}: {e}"));
        assert_eq!(value, wanted, "{example}");
        count += 1;
    }
    assert!(count > 90, "only {count} examples were found");
}

#[test]
fn every_function_is_in_the_guide() {
    let guide = cel_part();
    let env = Environment::standard();
    let missing: Vec<_> = env
        .functions()
        .filter(|name| !guide.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
