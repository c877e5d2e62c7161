//! A trace for people.

use std::fmt::Write;

use hyperfleet_transport::Previewed;
use serde_json::Value as Json;

use super::Trace;

pub(super) fn render(trace: &Trace, verbose: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(trace, verbose, &mut out);
    out
}

fn write(trace: &Trace, verbose: bool, out: &mut String) -> std::fmt::Result {
    writeln!(out, "Requests")?;
    for one in &trace.requests {
        let note = if one.recorded { "" } else { "  (not recorded)" };
        writeln!(out, "  {} {} -> {}{note}", one.method, one.url, one.status)?;
        if let Some(body) = one.body.as_ref().filter(|_| verbose) {
            indented(body, "      ", out)?;
        }
    }
    writeln!(out, "Plan")?;
    if trace.operations.is_empty() {
        writeln!(out, "  nothing")?;
    }
    for one in &trace.operations {
        let object = match &one.object {
            Some(object) => format!(" {object}"),
            None => String::new(),
        };
        let action = one.action.as_str();
        writeln!(
            out,
            "  {action:<8} {}:{object}  ({})",
            one.resource, one.reason
        )?;
        for target in &one.targets {
            writeln!(out, "           {}", target.object)?;
        }
        for document in one.manifest.iter().chain(&one.patches).filter(|_| verbose) {
            indented(document, "      ", out)?;
        }
    }
    previews(trace, out)?;
    writeln!(out, "Report")?;
    match &trace.report {
        None => writeln!(out, "  none")?,
        Some(report) => conditions(report, out)?,
    }
    if let Some(reason) = &trace.reason {
        let place = trace.failed_at.as_ref();
        let place = place.map(|place| format!(" at {place}"));
        writeln!(out, "Why{}: {reason}", place.unwrap_or_default())?;
    }
    writeln!(out, "Result: {}", trace.status.to_uppercase())
}

fn previews(trace: &Trace, out: &mut String) -> std::fmt::Result {
    if trace.previews.is_empty() {
        return Ok(());
    }
    writeln!(out, "The cluster says")?;
    for one in &trace.previews {
        match &one.what {
            Previewed::Created => writeln!(out, "  + {}", one.object)?,
            Previewed::Deleted => writeln!(out, "  - {}", one.object)?,
            Previewed::Unchanged => writeln!(out, "  = {}", one.object)?,
            Previewed::Unchecked(why) => writeln!(out, "  ? {}  ({why})", one.object)?,
            Previewed::Changed(changes) => {
                writeln!(out, "  ~ {}", one.object)?;
                for change in changes {
                    let shown = |value: &Option<Json>| {
                        value
                            .as_ref()
                            .map_or_else(|| "nothing".to_owned(), Json::to_string)
                    };
                    let (before, after) = (shown(&change.before), shown(&change.after));
                    writeln!(out, "      {}: {before} -> {after}", change.path)?;
                }
            }
        }
    }
    Ok(())
}

fn conditions(report: &Json, out: &mut String) -> std::fmt::Result {
    let Some(conditions) = report["conditions"].as_array() else {
        return indented(report, "  ", out);
    };
    for one in conditions {
        let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
        writeln!(
            out,
            "  {:<10} {:<7} {}: {}",
            text("type"),
            text("status"),
            text("reason"),
            text("message")
        )?;
    }
    match report["data"].as_object() {
        Some(data) if !data.is_empty() => writeln!(out, "  data       {}", report["data"]),
        _ => Ok(()),
    }
}

fn indented(value: &Json, margin: &str, out: &mut String) -> std::fmt::Result {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    for line in text.lines() {
        writeln!(out, "{margin}{line}")?;
    }
    Ok(())
}
