//! Dead letters for people and for programs.

use std::fmt::Write as _;

use anyhow::Result;
use chrono::SecondsFormat;
use hyperfleet_broker::{DeadLetter, Event};
use serde_json::{Value, json};

use crate::output::{Format, Table, printable};

pub(super) fn list(letters: &[DeadLetter], format: Format) -> Result<String> {
    match format {
        Format::Text if letters.is_empty() => Ok(String::new()),
        Format::Text => {
            let heads = ["ID", "TIME", "DELIVERIES", "RESOURCE", "REASON"];
            let mut table = Table::new(heads);
            for letter in letters {
                table.row([
                    letter.id.clone(),
                    time(letter).unwrap_or_else(|| "-".to_owned()),
                    letter.attempts.to_string(),
                    letter
                        .event()
                        .ok()
                        .and_then(|event| resource(&event))
                        .unwrap_or_else(|| "-".to_owned()),
                    letter.reason.clone(),
                ]);
            }
            Ok(table.to_string())
        }
        other => document(
            &json!({"items": letters.iter().map(as_json).collect::<Vec<_>>()}),
            other,
        ),
    }
}

pub(super) fn one(letter: &DeadLetter, format: Format) -> Result<String> {
    match format {
        Format::Text => text(letter),
        other => document(&as_json(letter), other),
    }
}

fn text(letter: &DeadLetter) -> Result<String> {
    let event = letter.event();
    let mut lines = vec![
        ("id", letter.id.clone()),
        ("time", time(letter).unwrap_or_else(|| "unknown".to_owned())),
        ("deliveries", letter.attempts.to_string()),
        ("reason", letter.reason.clone()),
    ];
    match &event {
        Ok(event) => {
            lines.push(("event", event.id.clone()));
            lines.push(("type", event.ty.clone()));
            lines.push(("source", event.source.clone()));
            lines.extend(resource(event).map(|resource| ("resource", resource)));
        }
        Err(error) => lines.push(("event", format!("none: {error}"))),
    }
    let mut shown = String::new();
    for (label, value) in lines {
        writeln!(shown, "{label:<12}{}", printable(&value))?;
    }
    let body = match serde_json::from_slice::<Value>(&letter.body) {
        Ok(body) => serde_json::to_string_pretty(&body)?,
        Err(_) => printable(&String::from_utf8_lossy(&letter.body)),
    };
    writeln!(shown, "message\n{body}")?;
    Ok(shown)
}

/// What the event is about, as commands take it: `cluster/ID`.
fn resource(event: &Event) -> Option<String> {
    let id = event
        .data
        .get("id")
        .or_else(|| event.data.get("resource_id"))?;
    Some(format!(
        "{}/{}",
        event.kind().unwrap_or("unknown"),
        id.as_str()?
    ))
}

fn time(letter: &DeadLetter) -> Option<String> {
    let time = letter.time?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn as_json(letter: &DeadLetter) -> Value {
    let event = letter.event().ok();
    // The message as it is where it is JSON, else as text.
    let body = serde_json::from_slice::<Value>(&letter.body)
        .unwrap_or_else(|_| String::from_utf8_lossy(&letter.body).into());
    json!({
        "id": letter.id,
        "time": letter.time,
        "deliveries": letter.attempts,
        "reason": letter.reason,
        "event_id": event.as_ref().map(|event| &event.id),
        "event_type": event.as_ref().map(|event| &event.ty),
        "resource": event.as_ref().and_then(resource),
        "message": body,
    })
}

fn document(value: &Value, format: Format) -> Result<String> {
    Ok(match format {
        Format::Yaml => serde_yaml_ng::to_string(value)?,
        Format::Json | Format::Text => serde_json::to_string_pretty(value)? + "\n",
    })
}
