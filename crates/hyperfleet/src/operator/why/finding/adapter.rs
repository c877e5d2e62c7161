//! What each adapter last said, and how far it is.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;

use super::Evidence;
use crate::operator::reports;
use crate::operator::why::words;

/// How far an adapter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::operator::why) enum State {
    /// Available, or finalized where deletion is wanted.
    Done,
    Working,
    /// A precondition is false.
    Waiting,
    Failed,
    Unhealthy,
    /// What it said is about an older generation.
    Behind,
    /// It has never reported.
    Silent,
}

/// One adapter.
#[derive(Debug, Clone, Serialize)]
pub(in crate::operator::why) struct Adapter {
    pub(in crate::operator::why) name: String,
    pub(in crate::operator::why) required: bool,
    pub(in crate::operator::why) state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::operator::why) observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::operator::why) reported: Option<DateTime<Utc>>,
    /// Since when the condition that matters is as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::operator::why) since: Option<DateTime<Utc>>,
    pub(in crate::operator::why) says: String,
}

pub(super) fn all(evidence: &Evidence<'_>) -> Vec<Adapter> {
    let required = &evidence.kind.required_adapters;
    let mut adapters: Vec<Adapter> = reports::each(evidence.statuses)
        .map(|report| adapter(report, evidence))
        .collect();
    for name in required {
        if adapters.iter().all(|known| known.name != *name) {
            adapters.push(Adapter {
                name: name.clone(),
                required: true,
                state: State::Silent,
                observed_generation: None,
                reported: None,
                since: None,
                says: "has never reported".to_owned(),
            });
        }
    }
    // Those that matter first, in the order the kind names them.
    let place = |adapter: &Adapter| {
        let known = required.iter().position(|name| *name == adapter.name);
        known.unwrap_or(required.len())
    };
    adapters.sort_by_key(place);
    adapters
}

fn adapter(report: &Value, evidence: &Evidence<'_>) -> Adapter {
    let resource = evidence.resource;
    let name = report["adapter"].as_str().unwrap_or_default().to_owned();
    let generation = report["observed_generation"].as_i64();
    let condition = |kind: &str| reports::condition(report, kind);
    let status = |kind: &str| condition(kind).map_or("", |it| it["status"].as_str().unwrap_or(""));
    let deleting = resource.is_deleting();
    let telling = match deleting {
        true => condition("Finalized").or_else(|| condition("Available")),
        false => condition("Available"),
    };
    let reason = telling.map_or("", |it| it["reason"].as_str().unwrap_or(""));
    let (state, telling) = match status("Health") {
        _ if generation.unwrap_or(0) < resource.generation => (State::Behind, telling),
        "False" => (State::Unhealthy, condition("Health")),
        _ if deleting && status("Finalized") == "True" => (State::Done, telling),
        _ if deleting => (State::Working, telling),
        _ if status("Available") == "True" => (State::Done, telling),
        _ if reason == "PreconditionsNotMet" => (State::Waiting, telling),
        // The API knows which reasons mean "still at it"; it has decided for all adapters together.
        _ if resource.status.phase.as_deref() == Some("Failed") && status("Applied") == "True" => {
            (State::Failed, telling)
        }
        _ => (State::Working, telling),
    };
    let says = telling.map_or_else(String::new, words);
    let says = match (state, generation) {
        (State::Behind, Some(generation)) => {
            format!("last spoke about generation {generation}; then: {says}")
        }
        _ => says,
    };
    Adapter {
        required: evidence.kind.required_adapters.contains(&name),
        name,
        state,
        observed_generation: generation,
        reported: reports::time(report, "last_report_time"),
        since: telling.and_then(|it| reports::time(it, "last_transition_time")),
        says,
    }
}
