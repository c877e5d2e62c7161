//! What docs/status.md shows is what works.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use hyperfleet_core::aggregation::Rulebook;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::report::Report;
use hyperfleet_source::{SourceFile, yaml};

fn blocks(language: &str) -> Vec<SourceFile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/status.md");
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    let blocks = parts.map(|part| part.split("```").next().unwrap().to_owned());
    blocks
        .map(|block| SourceFile::new("docs/status.md", block))
        .collect()
}

#[test]
fn every_configuration_on_the_page_is_a_good_one() {
    let mut seen = 0;
    for file in blocks("yaml") {
        let node = yaml::parse(&file).unwrap_or_else(|error| panic!("{error}"));
        if let Some(entities) = node.get("entities") {
            let kinds: Vec<Kind> = entities.deserialize().unwrap();
            Rulebook::new(&kinds, &[]).unwrap_or_else(|error| panic!("{error}"));
        } else {
            AggregationConfig::read(&file).unwrap_or_else(|error| panic!("{error}"));
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn the_report_on_the_page_is_taken() {
    let blocks = blocks("json");
    let body = serde_json::from_str(blocks[0].text()).unwrap();
    let now = "2026-11-15T12:03:00Z".parse().unwrap();
    Report::decode(&body, now).unwrap();
}
