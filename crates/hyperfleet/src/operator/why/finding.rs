//! What follows from what is known about a resource. Nothing is asked here.

use chrono::{DateTime, Utc};
use hyperfleet_client::RemoteResource;
use hyperfleet_sentinel::Why;
use serde::Serialize;
use serde_json::Value;

use super::words;
use crate::operator::fleet::called;
use crate::operator::kinds::KindInfo;
use crate::operator::reports;
use crate::output::span;

/// Longer than this is worth saying.
const LONG: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

/// Everything that was found out.
pub(super) struct Evidence<'a> {
    pub(super) kind: &'a KindInfo,
    pub(super) resource: &'a RemoteResource,
    pub(super) statuses: &'a Value,
    /// Of one that is being deleted.
    pub(super) children: &'a [RemoteResource],
    /// `None` if the server does not tell.
    pub(super) sentinels: Option<&'a [String]>,
    pub(super) events: &'a [Why],
    pub(super) times: Times,
    pub(super) now: DateTime<Utc>,
}

/// Whose times the next event was computed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Times {
    Default,
    Configured,
}

/// Why a resource is as it is.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// The answer in a sentence.
    pub(super) verdict: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) phase: String,
    pub(super) wanted: Wanted,
    pub(super) adapters: Vec<Adapter>,
    /// What it waits for, each with what it says.
    pub(super) blocked_by: Vec<Blocker>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_reconciled_since: Option<DateTime<Utc>>,
    pub(super) next_event: Option<NextEvent>,
    /// The Sentinels that watch it; absent if the server does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sentinels: Option<Vec<String>>,
    /// Commands to try.
    pub(super) try_next: Vec<String>,
    pub(super) now: DateTime<Utc>,
}

/// What is wanted, since when, and by whom.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Wanted {
    pub(super) generation: i64,
    pub(super) deletion: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) by: String,
}

/// How far an adapter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
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
pub(super) struct Adapter {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reported: Option<DateTime<Utc>>,
    /// Since when the condition that matters is as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<DateTime<Utc>>,
    pub(super) says: String,
}

/// What stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Blocker {
    pub(super) what: &'static str,
    pub(super) name: String,
    pub(super) why: String,
}

/// When a Sentinel sends the next event.
#[derive(Debug, Clone, Serialize)]
pub(super) struct NextEvent {
    pub(super) due: bool,
    pub(super) at: DateTime<Utc>,
    pub(super) reason: String,
    pub(super) rule: String,
    /// Whether backoffs are those of a configuration, or the default ones.
    pub(super) times: Times,
}

impl Finding {
    pub(super) fn of(evidence: &Evidence<'_>) -> Finding {
        let resource = evidence.resource;
        let adapters = adapters(evidence);
        let blocked_by = blockers(evidence, &adapters);
        let reconciled = resource.condition("Reconciled");
        let open = reconciled.filter(|it| it.status != "True");
        let text = |name: &str| resource.raw[name].as_str().unwrap_or_default().to_owned();
        let deletion = resource.is_deleting();
        let finding = Finding {
            verdict: String::new(),
            kind: resource.kind.clone(),
            name: resource.name.clone(),
            id: resource.id.clone(),
            phase: resource.status.phase.clone().unwrap_or_default(),
            wanted: Wanted {
                generation: resource.generation,
                deletion,
                since: match deletion {
                    true => resource.deleted_time,
                    false => resource.updated_time,
                },
                by: text(if deletion { "deleted_by" } else { "updated_by" }),
            },
            adapters,
            blocked_by,
            not_reconciled_since: open.and_then(|it| it.last_transition_time),
            next_event: next_event(evidence),
            sentinels: evidence.sentinels.map(<[String]>::to_vec),
            try_next: Vec::new(),
            now: evidence.now,
        };
        Finding {
            verdict: verdict(&finding, evidence),
            try_next: try_next(&finding, evidence),
            ..finding
        }
    }

    /// How long it has not been reconciled.
    pub(super) fn stuck_for(&self) -> Option<chrono::TimeDelta> {
        self.not_reconciled_since.map(|since| self.now - since)
    }
}

fn next_event(evidence: &Evidence<'_>) -> Option<NextEvent> {
    let why = evidence.events.iter().find(|why| why.watched)?;
    Some(NextEvent {
        due: why.due,
        at: why.at,
        reason: why.reason.clone(),
        rule: why.rule.clone(),
        times: evidence.times,
    })
}

fn adapters(evidence: &Evidence<'_>) -> Vec<Adapter> {
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

fn blockers(evidence: &Evidence<'_>, adapters: &[Adapter]) -> Vec<Blocker> {
    let mut blockers: Vec<Blocker> = evidence
        .children
        .iter()
        .map(|child| Blocker {
            what: "child",
            name: called(child),
            why: match child.is_deleting() {
                true => "is being deleted too".to_owned(),
                false => "is not being deleted".to_owned(),
            },
        })
        .collect();
    let references = evidence.resource.raw["references"].as_object();
    for (kind, targets) in references.into_iter().flatten() {
        let missing = targets.as_array().into_iter().flatten();
        for target in missing.filter(|target| target["missing"] == true) {
            blockers.push(Blocker {
                what: "reference",
                name: format!("{kind} {}", target["id"].as_str().unwrap_or_default()),
                why: "what it points at is gone".to_owned(),
            });
        }
    }
    let open = adapters
        .iter()
        .filter(|adapter| adapter.state != State::Done)
        .filter(|adapter| adapter.required || adapter.state == State::Unhealthy);
    blockers.extend(open.map(|adapter| Blocker {
        what: "adapter",
        name: adapter.name.clone(),
        why: adapter.says.clone(),
    }));
    blockers
}

/// The first of these that holds is the answer.
fn verdict(finding: &Finding, evidence: &Evidence<'_>) -> String {
    let in_state = |state: State| {
        finding.adapters.iter().filter(move |adapter| {
            adapter.state == state && (adapter.required || state == State::Unhealthy)
        })
    };
    let first = |state: State| in_state(state).next();
    let names = |state: State| {
        let names: Vec<&str> = in_state(state).map(|it| it.name.as_str()).collect();
        names.join(", ")
    };
    let goes = if finding.wanted.deletion {
        "to be deleted"
    } else {
        "ready"
    };
    if let Some(adapter) = first(State::Unhealthy) {
        return format!(
            "Not {goes}: the adapter {} is not well: {}",
            adapter.name, adapter.says
        );
    }
    let children: Vec<&str> = blocking(finding, "child");
    if !children.is_empty() {
        return format!("It waits until its children are gone: {}", some(&children));
    }
    let references = blocking(finding, "reference");
    if !references.is_empty() {
        return format!("It points at something that is gone: {}", some(&references));
    }
    if let Some(adapter) = first(State::Failed) {
        return format!("The adapter {} failed: {}", adapter.name, adapter.says);
    }
    let nobody = evidence.sentinels.is_some_and(<[String]>::is_empty);
    let unheard = in_state(State::Silent)
        .chain(in_state(State::Behind))
        .next();
    if unheard.is_some() && nobody {
        return format!(
            "Nobody tells the adapters: no Sentinel watches this {}",
            evidence.kind.singular
        );
    }
    if let Some(adapter) = first(State::Waiting) {
        return format!("The adapter {} waits: {}", adapter.name, adapter.says);
    }
    if let Some(adapter) = first(State::Working) {
        let doing = if finding.wanted.deletion {
            "cleans up"
        } else {
            "is at work"
        };
        return format!("The adapter {} {doing}: {}", adapter.name, adapter.says);
    }
    if unheard.is_some() {
        let silent = [names(State::Silent), names(State::Behind)];
        let silent: Vec<&str> = silent
            .iter()
            .map(String::as_str)
            .filter(|it| !it.is_empty())
            .collect();
        return format!(
            "It waits for {} to report on generation {}",
            silent.join(", "),
            finding.wanted.generation
        );
    }
    match finding.wanted.deletion {
        true => "Everything is cleaned up; it goes with the next report".to_owned(),
        false if finding.phase == "Ready" => "Nothing is wrong: it is Ready".to_owned(),
        false => {
            let words = evidence.resource.raw["status"]["phaseDescription"].as_str();
            let words = words.filter(|words| !words.is_empty());
            words.map_or_else(|| format!("It is {}", finding.phase), str::to_owned)
        }
    }
}

fn blocking<'a>(finding: &'a Finding, what: &str) -> Vec<&'a str> {
    let blockers = finding.blocked_by.iter();
    blockers
        .filter(|it| it.what == what)
        .map(|it| it.name.as_str())
        .collect()
}

fn some(names: &[&str]) -> String {
    match names {
        [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", names.len() - 3),
        few => few.join(", "),
    }
}

fn try_next(finding: &Finding, evidence: &Evidence<'_>) -> Vec<String> {
    let me = called(evidence.resource);
    let any = |state: State| finding.adapters.iter().find(|it| it.state == state);
    let mut commands = Vec::new();
    if let Some(child) = blocking(finding, "child").first() {
        commands.push(format!("hyperfleet why {child}"));
    }
    if evidence.sentinels.is_some_and(<[String]>::is_empty) {
        commands.push(format!(
            "hyperfleet sentinel serve --resource-type {}",
            evidence.kind.plural
        ));
    }
    if let Some(adapter) = any(State::Silent).or_else(|| any(State::Behind)) {
        commands.push(format!(
            "hyperfleet broker dead-letters list --topic hyperfleet.{}.changed.v1 --subscription {}",
            evidence.kind.plural, adapter.name
        ));
    }
    if any(State::Unhealthy)
        .or_else(|| any(State::Failed))
        .is_some()
    {
        commands.push(format!("hyperfleet statuses {me} -o yaml"));
        commands.push(format!("hyperfleet history {me}"));
    }
    if !blocking(finding, "reference").is_empty() {
        commands.push(format!("hyperfleet edit {me}"));
    }
    let long = finding.stuck_for().is_some_and(|length| length > LONG);
    if finding.wanted.deletion && long {
        let took = finding.stuck_for().map(span).unwrap_or_default();
        commands.push(format!(
            "hyperfleet force-delete {me} --reason \"stuck for {took}\""
        ));
    }
    let goal = if finding.wanted.deletion {
        "delete"
    } else {
        "phase=Ready"
    };
    if commands.is_empty() && !finding.blocked_by.is_empty() {
        commands.push(format!("hyperfleet wait {me} --for={goal}"));
    }
    if commands.is_empty() {
        commands.push(format!("hyperfleet describe {me}"));
    }
    commands
}

#[cfg(test)]
#[path = "finding/tests.rs"]
mod tests;
