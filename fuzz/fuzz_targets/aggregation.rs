//! Any text as an AggregationConfig, evaluated on any reports: no panic, bounded time, and a rule that cannot be
//! evaluated is a condition that says so. A line `===` ends the configuration, JSON lines of reports follow.
#![no_main]

use chrono::{DateTime, TimeDelta};
use hyperfleet_core::adapter_status::AdapterStatus;
use hyperfleet_core::aggregation::config::AggregationConfig;
use hyperfleet_core::aggregation::{Rulebook, Subject, aggregate};
use hyperfleet_core::condition::ConditionStatus;
use hyperfleet_core::kind::Kind;
use hyperfleet_core::report::{Report, Verdict};
use hyperfleet_core::resource::{Resource, ResourceStatus};
use hyperfleet_source::SourceFile;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|text: &str| {
    let (config, lines) = text.split_once("\n===\n").unwrap_or((text, ""));
    let Ok(configs) = AggregationConfig::read(&SourceFile::new("fuzz.yaml", config)) else { return };
    let Ok((book, _)) = Rulebook::new(&Kind::defaults(), &configs) else { return };
    let now = DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000);
    let mut resource: Resource = serde_json::from_value(json!({
        "id": "0192e4f0-7b1c-7d3a-8f7e-1c2d3e4f5a6b", "kind": "Cluster", "name": "c1", "href": "/c1",
        "spec": {"region": "eu", "password": "x"}, "generation": 2, "status": ResourceStatus::unknown(now),
        "created_time": now, "updated_time": now, "created_by": "a", "updated_by": "a",
    }))
    .expect("a resource");
    let mut reports: Vec<AdapterStatus> = Vec::new();
    for report in lines.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        let Ok(report) = Report::decode(&report, now) else { continue };
        if let Ok(Verdict::Accept(status)) = report.judge(resource.generation, None) {
            reports.retain(|other| other.adapter != status.adapter);
            reports.push(status);
        }
    }
    let rules = book.rules("Cluster");
    for later in [0, 1, 3600] {
        let at = now + TimeDelta::seconds(later);
        let subject = Subject { resource: &resource, has_children: false };
        let aggregated = aggregate(&subject, &reports, at, rules);
        assert!(aggregated.recheck.is_none_or(|recheck| recheck > at));
        let status = aggregated.status;
        assert!(status.conditions.iter().all(|c| c.status != ConditionStatus::Unknown));
        let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > 2048);
        assert!(!status.conditions.iter().any(|c| long(&c.message)));
        resource.status = status;
    }
});
