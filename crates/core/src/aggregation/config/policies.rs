//! `defaultBehavior` and `policies`: what silence means.

use chrono::TimeDelta;
use hyperfleet_expr::cel::parse_duration;
use hyperfleet_source::Node;
use hyperfleet_source::fields::{Fields, Found};

use crate::aggregation::lateness::{Policies, Wait};
use crate::phase::Phase;

/// Shorter waits would be over before an adapter can answer.
const SHORTEST: TimeDelta = TimeDelta::seconds(1);

/// The policies, and the reasons of `Available=False` that mean "still at it".
pub(super) fn read(
    default_behavior: Option<&Node>,
    policies: Option<&Node>,
    found: &mut Found,
) -> (Policies, Option<Vec<String>>) {
    let mut read = Policies::default();
    if let Some(node) = default_behavior {
        missing(node, &mut read, found);
    }
    let reasons = policies.and_then(|node| stale(node, &mut read, found));
    (read, reasons)
}

fn missing(node: &Node, policies: &mut Policies, found: &mut Found) {
    let Some(mut fields) = Fields::of(node, "`defaultBehavior`", found) else {
        return;
    };
    if let Some(node) = fields.text("missingAdapter", found) {
        let allowed = [
            ("pending", Phase::Pending),
            ("provisioning", Phase::Provisioning),
            ("failed", Phase::Failed),
            ("degraded", Phase::Degraded),
        ];
        if let Some(phase) = choice(node, "missingAdapter", &allowed, found) {
            policies.missing_adapter = phase;
        }
    }
    let timeout = fields.get("timeout");
    policies.timeout = timeout.and_then(|node| wait(node, "timeout", found));
    fields.finish(found);
    if let (Some(node), Phase::Failed) = (timeout, policies.missing_adapter) {
        let message = "`missingAdapter: failed` does not wait, so there is nothing to time out";
        found.push(node.error(message));
    }
}

fn stale(node: &Node, policies: &mut Policies, found: &mut Found) -> Option<Vec<String>> {
    let mut fields = Fields::of(node, "`policies`", found)?;
    let threshold = fields.get("staleThreshold");
    policies.stale_threshold = threshold.and_then(|node| wait(node, "staleThreshold", found));
    let action = fields.text("staleAction", found);
    let has_reasons = fields.get("inProgressReasons").is_some();
    let reasons = fields.list("inProgressReasons", found);
    fields.finish(found);
    if let Some(action) = action {
        if threshold.is_none() {
            found.push(action.error("`staleAction` needs `staleThreshold`: how old is stale?"));
        }
        let allowed = [
            ("degraded", Some(Phase::Degraded)),
            ("failed", Some(Phase::Failed)),
            ("none", None),
        ];
        if let Some(chosen) = choice(action, "staleAction", &allowed, found) {
            policies.stale_action = chosen;
        }
    }
    has_reasons.then(|| in_progress(reasons, found))
}

fn in_progress(items: &[Node], found: &mut Found) -> Vec<String> {
    let mut reasons = Vec::with_capacity(items.len());
    for item in items {
        match item.as_str().filter(|text| !text.is_empty()) {
            Some(text) => reasons.push(text.to_owned()),
            None => found.push(item.error(format!("a reason is a text, found {}", item.kind()))),
        }
    }
    reasons
}

fn choice<T: Copy>(node: &Node, key: &str, allowed: &[(&str, T)], found: &mut Found) -> Option<T> {
    let word = node.as_str().unwrap_or_default();
    let chosen = allowed.iter().find(|(name, _)| *name == word);
    if chosen.is_none() {
        let names: Vec<String> = allowed
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        let message = format!("`{key}` is one of {}", names.join(", "));
        found.push(node.error(message));
    }
    chosen.map(|(_, value)| *value)
}

fn wait(node: &Node, key: &str, found: &mut Found) -> Option<Wait> {
    let text = node.as_str().unwrap_or_default();
    let length = parse_duration(text).map(TimeDelta::nanoseconds);
    match length.filter(|length| *length >= SHORTEST) {
        Some(length) => Some(Wait {
            length,
            text: text.to_owned(),
        }),
        None => {
            let message = format!("`{key}` is a duration of at least 1s, for example `10m`");
            found.push(node.error(message));
            None
        }
    }
}
