//! A finding for a person: the answer first.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use super::finding::{Adapter, Finding, State, Times};
use crate::output::{Cell, Grid, Look, Tone, age, printable, span};

pub(super) fn of(finding: &Finding, look: Look) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let name = format!("{}/{}", finding.kind.to_lowercase(), finding.name);
    let phase = look.paint(Tone::of_phase(&finding.phase), &finding.phase);
    let _ = writeln!(
        out,
        "{}  {phase}",
        look.paint(Tone::Strong, &printable(&name))
    );
    let _ = writeln!(
        out,
        "{}",
        look.paint(tone(finding), &printable(&finding.verdict))
    );
    let _ = writeln!(out);
    line(&mut out, "Wanted", &wanted(finding));
    if let Some(length) = finding.stuck_for() {
        let title = match finding.wanted.deletion {
            true => "Not gone for",
            false => "Not so for",
        };
        line(&mut out, title, &span(length));
    }
    line(&mut out, "Next event", &next_event(finding));
    match finding.sentinels.as_deref() {
        None => {}
        Some([]) => line(&mut out, "Sentinels", "none is there for it"),
        Some(names) => line(&mut out, "Sentinels", &names.join(", ")),
    }
    let _ = writeln!(out, "\n{}", look.paint(Tone::Strong, "Adapters"));
    match finding.adapters.is_empty() {
        true => out.push_str("  none is required, and none has reported\n"),
        false => {
            let rows: Vec<Vec<Cell>> = finding
                .adapters
                .iter()
                .map(|it| row(it, finding.now))
                .collect();
            let heads = ["", "GEN", "STATE", "SINCE", "REPORTED", "SAYS"];
            out.push_str(&Grid::new(heads, look).indented(2).page(&rows));
        }
    }
    let others: Vec<&super::finding::Blocker> = finding
        .blocked_by
        .iter()
        .filter(|blocker| blocker.what != "adapter")
        .collect();
    if !others.is_empty() {
        let _ = writeln!(out, "\n{}", look.paint(Tone::Strong, "Blocked by"));
        for blocker in others {
            let text = format!("{} {} {}", blocker.what, blocker.name, blocker.why);
            let _ = writeln!(out, "  {}", printable(&text));
        }
    }
    let _ = writeln!(out, "\n{}", look.paint(Tone::Strong, "Try"));
    for command in &finding.try_next {
        let _ = writeln!(out, "  {}", printable(command));
    }
    out
}

fn tone(finding: &Finding) -> Tone {
    match finding.phase.as_str() {
        "Ready" => Tone::Good,
        "Failed" | "Degraded" => Tone::Bad,
        _ => Tone::Working,
    }
}

fn line(out: &mut String, title: &str, text: &str) {
    let _ = writeln!(out, "{title:<12} {}", printable(text));
}

fn wanted(finding: &Finding) -> String {
    let what = match finding.wanted.deletion {
        true => "that it is deleted".to_owned(),
        false => format!("generation {}", finding.wanted.generation),
    };
    let since = finding.wanted.since;
    let since = since.map_or_else(String::new, |since| {
        format!(", for {}", age(since, finding.now))
    });
    let by = match finding.wanted.by.as_str() {
        "" => String::new(),
        by => format!(", by {by}"),
    };
    format!("{what}{since}{by}")
}

fn next_event(finding: &Finding) -> String {
    let Some(event) = &finding.next_event else {
        return "none: no Sentinel of this configuration takes it".to_owned();
    };
    let when = match event.due {
        true => "due now".to_owned(),
        false => format!("in {}", span(event.at - finding.now)),
    };
    let whose = match event.times {
        Times::Default => " (by the default times; --sentinel-config for others)",
        Times::Announced | Times::Configured => "",
    };
    format!("{when}: {}{whose}", event.rule)
}

fn row(adapter: &Adapter, now: DateTime<Utc>) -> Vec<Cell> {
    let (state, tone) = match adapter.state {
        State::Done => ("done", Tone::Good),
        State::Working => ("working", Tone::Working),
        State::Waiting => ("waiting", Tone::Working),
        State::Failed => ("failed", Tone::Bad),
        State::Unhealthy => ("unhealthy", Tone::Bad),
        State::Behind => ("behind", Tone::Working),
        State::Silent => ("silent", Tone::Working),
    };
    let told = |time: Option<DateTime<Utc>>| time.map_or_else(|| "-".to_owned(), |it| age(it, now));
    let generation = adapter.observed_generation;
    let name = match adapter.required {
        true => adapter.name.clone(),
        false => format!("({})", adapter.name),
    };
    vec![
        Cell::new(name),
        Cell::new(generation.map_or_else(|| "-".to_owned(), |it| it.to_string())),
        Cell::toned(state, tone),
        Cell::new(told(adapter.since)),
        Cell::new(told(adapter.reported)),
        Cell::new(&adapter.says),
    ]
}
