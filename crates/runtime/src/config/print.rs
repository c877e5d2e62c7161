//! The effective configuration for people, secrets redacted.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value as Json;

use super::Origin;
use crate::{GoDuration, secret};

/// How a configuration is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// YAML, with the origin of every value that was given.
    #[default]
    Yaml,
    /// JSON, for programs.
    Json,
}

pub(super) fn print(
    value: &Json,
    origins: &BTreeMap<String, Origin>,
    format: Format,
) -> Result<String, serde_json::Error> {
    let mut shown = value.clone();
    secret::redact(&mut shown);
    match format {
        Format::Json => serde_json::to_string_pretty(&shown).map(|text| text + "\n"),
        Format::Yaml => {
            let mut printer = Printer {
                origins,
                out: String::new(),
            };
            printer.node(&shown, &mut Vec::new(), 0, Place::Document);
            Ok(printer.out)
        }
    }
}

struct Printer<'a> {
    origins: &'a BTreeMap<String, Origin>,
    out: String,
}

/// What the value follows, which decides whether it starts on a line of its own.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Document,
    Key,
    Item,
}

impl Printer<'_> {
    fn node(&mut self, value: &Json, path: &mut Vec<String>, indent: usize, place: Place) {
        match value {
            Json::Object(entries) if !entries.is_empty() => {
                if place == Place::Key {
                    self.end_line(path);
                }
                for (index, (key, value)) in entries.iter().enumerate() {
                    let inline = place == Place::Item && index == 0;
                    self.indent(if inline { 0 } else { indent });
                    self.out.push_str(&scalar(&Json::from(key.as_str())));
                    self.out.push(':');
                    path.push(key.clone());
                    self.node(value, path, indent + 2, Place::Key);
                    path.pop();
                }
            }
            Json::Array(items) if !items.is_empty() => {
                if place == Place::Key {
                    self.end_line(path);
                }
                for (index, item) in items.iter().enumerate() {
                    let inline = place == Place::Item && index == 0;
                    self.indent(if inline { 0 } else { indent });
                    self.out.push_str("- ");
                    path.push(index.to_string());
                    self.node(item, path, indent + 2, Place::Item);
                    path.pop();
                }
            }
            other => {
                if place == Place::Key {
                    self.out.push(' ');
                }
                self.out.push_str(&scalar(other));
                self.end_line(path);
            }
        }
    }

    fn indent(&mut self, indent: usize) {
        self.out.extend(std::iter::repeat_n(' ', indent));
    }

    /// Ends the line, with a remark if the value at `path` was given and is not the default.
    fn end_line(&mut self, path: &[String]) {
        if let Some(origin) = self.origins.get(&path.join(".")) {
            // Writing to a string cannot fail.
            let _ = write!(self.out, " # {origin}");
        }
        self.out.push('\n');
    }
}

/// Text without quotes where YAML reads it back as the same text, else as JSON, which is YAML.
fn scalar(value: &Json) -> String {
    match value {
        Json::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_plain(text: &str) -> bool {
    if text.len() > 1 && text.parse::<GoDuration>().is_ok() {
        return true;
    }
    let starts_well = text.starts_with(|c: char| c.is_alphabetic() || c == '/' || c == '_');
    let safe = |c: char| c.is_alphanumeric() || " /_-.:@+=~$()".contains(c);
    starts_well
        && text.chars().all(safe)
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}
