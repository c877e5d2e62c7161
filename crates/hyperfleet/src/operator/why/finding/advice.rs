//! What to try next.

use super::{Evidence, Finding, State};
use crate::operator::fleet::called;
use crate::output::span;

/// Longer than this is worth saying.
const LONG: chrono::TimeDelta = chrono::TimeDelta::minutes(10);

pub(super) fn of(finding: &Finding, evidence: &Evidence<'_>) -> Vec<String> {
    let me = called(evidence.resource);
    let any = |state: State| finding.adapters.iter().find(|it| it.state == state);
    let mut commands = Vec::new();
    if let Some(child) = finding.blocking("child").first() {
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
    if !finding.blocking("reference").is_empty() {
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
