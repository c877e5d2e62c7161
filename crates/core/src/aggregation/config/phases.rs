//! `phases`: what to say about each, and which conditions it asks for.

use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Node, suggest};

use super::{Written, phase_named};
use crate::condition::ConditionStatus;
use crate::phase::{Phase, Phases, RequiredCondition};

/// As configuration writes them.
const NAMES: [&str; 7] = [
    "degraded",
    "failed",
    "ready",
    "provisioning",
    "pending",
    "terminating",
    "notReady",
];

pub(super) fn read(node: Option<&Node>, found: &mut Found) -> (Phases, Vec<Written<String>>) {
    let mut phases = Phases::default();
    let mut asked = Vec::new();
    let Some(node) = node else {
        return (phases, asked);
    };
    match (node.as_str(), node.as_mapping()) {
        (Some("two"), _) => phases.two = true,
        (_, Some(entries)) => {
            for (key, value) in entries {
                match phase_named(&key.text) {
                    Some(phase) => read_phase(phase, value, &mut phases, &mut asked, found),
                    None => {
                        let mut unknown = key.error(format!("there is no phase `{}`", key.text));
                        unknown.help = suggest::help(&key.text, NAMES);
                        found.push(unknown);
                    }
                }
            }
            check_model(entries, &mut phases, found);
        }
        _ => found.push(node.error("`phases` is a mapping of phases, or the word `two`")),
    }
    (phases, asked)
}

/// Whoever says what Not Ready means wants two phases, and no other.
fn check_model(entries: &[(hyperfleet_source::Key, Node)], phases: &mut Phases, found: &mut Found) {
    let is = |word: &str, phase| phase_named(word) == Some(phase);
    let mut keys = entries.iter().map(|(key, _)| key);
    phases.two = keys.clone().any(|key| is(&key.text, Phase::NotReady));
    if !phases.two {
        return;
    }
    let other = |text: &str| !is(text, Phase::NotReady) && !is(text, Phase::Ready);
    if let Some(key) = keys.find(|key| other(&key.text)) {
        let message = "with `notReady` there are two phases, `ready` and `notReady`";
        found.push(key.error(message));
    }
}

fn read_phase(
    phase: Phase,
    node: &Node,
    phases: &mut Phases,
    asked: &mut Vec<Written<String>>,
    found: &mut Found,
) {
    let Some(mut fields) = Fields::of(node, "a phase", found) else {
        return;
    };
    if let Some(text) = fields.text("description", found).and_then(Node::as_str) {
        phases.descriptions.push((phase, text.to_owned()));
    }
    let conditions = fields.get("requiredConditions");
    let items = fields.list("requiredConditions", found);
    fields.finish(found);
    let Some(conditions) = conditions else { return };
    let why = match phase {
        Phase::Pending | Phase::NotReady => "it is what is left when no other phase fits",
        Phase::Terminating => "it is the phase of everything that is being deleted",
        _ if items.is_empty() => "an empty list would always hold",
        _ => "",
    };
    if !why.is_empty() {
        let message = format!("`{}` cannot ask for conditions: {why}", word(phase));
        found.push(conditions.error(message));
        return;
    }
    let required: Vec<RequiredCondition> = items
        .iter()
        .filter_map(|item| required_condition(item, asked, found))
        .collect();
    phases.conditions.push((phase, required));
}

fn word(phase: Phase) -> &'static str {
    let mut names = NAMES.into_iter();
    names
        .find(|name| phase_named(name) == Some(phase))
        .unwrap_or_default()
}

fn required_condition(
    node: &Node,
    asked: &mut Vec<Written<String>>,
    found: &mut Found,
) -> Option<RequiredCondition> {
    let mut fields = Fields::of(node, "a required condition", found)?;
    let kind = fields.required_text("type", found);
    let status = fields.get("status");
    fields.finish(found);
    let status = match status {
        None => ConditionStatus::True,
        // An unquoted True is a truth value in YAML.
        Some(node) => match (node.as_bool(), node.as_str()) {
            (Some(truth), _) => truth.into(),
            (_, Some("True")) => ConditionStatus::True,
            (_, Some("False")) => ConditionStatus::False,
            _ => {
                found.push(node.error("`status` is \"True\" or \"False\""));
                return None;
            }
        },
    };
    let kind = kind?;
    let name = kind.as_str()?.to_owned();
    asked.push(Written::at(kind, name.clone()));
    Some(RequiredCondition { kind: name, status })
}
