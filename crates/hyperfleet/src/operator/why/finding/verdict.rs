//! The answer in a sentence.

use super::{Evidence, Finding, State};

/// The first of these that holds is the answer.
pub(super) fn of(finding: &Finding, evidence: &Evidence<'_>) -> String {
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
    let children: Vec<&str> = finding.blocking("child");
    if !children.is_empty() {
        return format!("It waits until its children are gone: {}", some(&children));
    }
    let references = finding.blocking("reference");
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

fn some(names: &[&str]) -> String {
    match names {
        [a, b, c, _, ..] => format!("{a}, {b}, {c} and {} more", names.len() - 3),
        few => few.join(", "),
    }
}
