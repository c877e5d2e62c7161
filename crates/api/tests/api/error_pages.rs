//! The pages of `docs/errors`: one for each code, and none for anything else.

use std::collections::BTreeSet;
use std::path::Path;

use hyperfleet_core::problem::{Code, Problem, TYPE_BASE};

fn read(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let path = directory.join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
    let pages: BTreeSet<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    let codes: BTreeSet<String> = Code::ALL
        .into_iter()
        .map(|code| format!("{}.md", code.as_str()))
        .collect();
    assert_eq!(pages, codes);
    let index = read("README.md");
    for code in Code::ALL {
        let (name, status, title) = (code.as_str(), code.http_status(), code.title());
        let row = format!("| [{name}]({name}.md) | {status} | {title} |");
        assert!(index.contains(&row), "docs/errors/README.md lacks {row}");
    }
}

#[test]
fn the_example_on_a_page_is_a_problem_of_that_code() {
    for code in Code::ALL {
        let page = read(&format!("{}.md", code.as_str()));
        let heading = format!("# {}: {}\n", code.as_str(), code.title());
        assert!(page.starts_with(&heading), "{heading}");
        assert!(page.contains("\n## What to do\n"), "{heading}");
        let (_, example) = page.split_once("```json\n").unwrap();
        let (example, _) = example.split_once("```").unwrap();
        let problem: Problem = serde_json::from_str(example).unwrap();
        assert_eq!(problem.code, code.as_str());
        assert_eq!(problem.status, code.http_status());
        assert_eq!(problem.title, code.title());
        assert_eq!(problem.kind, format!("{TYPE_BASE}{}", code.slug()));
    }
}
