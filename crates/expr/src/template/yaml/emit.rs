//! JSON as block-style YAML, as `kubectl` and Helm print it: keys sorted, list
//! dashes not indented, no newline at the end. A text that any YAML reader
//! could take for something else is quoted.

use hyperfleet_source::yaml;
use serde_json::Value as Json;

pub(crate) fn emit(value: &Json) -> String {
    let mut out = String::new();
    match value {
        Json::Array(items) if !items.is_empty() => list(&mut out, items, 0),
        Json::Object(map) if !map.is_empty() => object(&mut out, map, 0, true),
        other => scalar(&mut out, other, 2),
    }
    while out.ends_with('\n') {
        out.pop();
    }
    out
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn list(out: &mut String, items: &[Json], indent: usize) {
    for item in items {
        pad(out, indent);
        out.push('-');
        match item {
            Json::Object(map) if !map.is_empty() => {
                out.push(' ');
                object(out, map, indent + 2, false);
            }
            Json::Array(inner) if !inner.is_empty() => {
                out.push(' ');
                let start = out.len();
                list(out, inner, indent + 2);
                // The first inner dash stands on this line.
                out.replace_range(start..start + indent + 2, "");
            }
            other => {
                out.push(' ');
                scalar(out, other, indent + 2);
                out.push('\n');
            }
        }
    }
}

fn object(out: &mut String, map: &serde_json::Map<String, Json>, indent: usize, first: bool) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (i, (key, value)) in entries.into_iter().enumerate() {
        if i > 0 || first {
            pad(out, indent);
        }
        text(out, key, indent, false);
        out.push(':');
        match value {
            Json::Object(map) if !map.is_empty() => {
                out.push('\n');
                object(out, map, indent + 2, true);
            }
            Json::Array(items) if !items.is_empty() => {
                out.push('\n');
                list(out, items, indent);
            }
            other => {
                out.push(' ');
                scalar(out, other, indent + 2);
                out.push('\n');
            }
        }
    }
}

fn scalar(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::String(s) => text(out, s, indent, true),
        Json::Array(_) => out.push_str("[]"),
        Json::Object(_) => out.push_str("{}"),
        other => out.push_str(&other.to_string()),
    }
}

fn text(out: &mut String, text: &str, indent: usize, block: bool) {
    if block && fits_block(text) {
        let body = text.strip_suffix('\n').unwrap_or(text);
        out.push_str(if body.len() == text.len() { "|-" } else { "|" });
        for line in body.split('\n') {
            out.push('\n');
            if !line.is_empty() {
                pad(out, indent);
                out.push_str(line);
            }
        }
    } else if is_ambiguous(text) || text.chars().any(|c| c.is_control() || is_break(c)) {
        // A JSON string is a YAML double-quoted scalar.
        out.push_str(&Json::from(text).to_string());
    } else if is_plain(text) {
        out.push_str(text);
    } else {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    }
}

/// Several lines of ordinary text are easier to read as a block.
fn fits_block(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
        && !text.ends_with("\n\n")
        && !text.starts_with([' ', '\n', '\t'])
        && !text
            .chars()
            .any(|c| c != '\n' && (c.is_control() || is_break(c)))
        && !text
            .split('\n')
            .any(|line| line.ends_with([' ', '\t']) || line.starts_with("---"))
}

fn is_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether some YAML reader takes the unquoted text for something else than text.
fn is_ambiguous(text: &str) -> bool {
    // YAML 1.1 readers take these for bools.
    let old_bool = matches!(
        text.to_ascii_lowercase().as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null" | "~"
    );
    // And these for dates, times in base 60, octals or numbers with underscores.
    let numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let old_number = numeric
        && digits
        && text
            .chars()
            .all(|c| c.is_ascii_hexdigit() || ":_.xo+-TtZ".contains(c));
    let special = matches!(
        text.to_ascii_lowercase().as_str(),
        ".inf" | "+.inf" | "-.inf" | ".nan"
    );
    old_bool || old_number || special || text == "=" || text == "<<" || !yaml::is_text(text)
}

fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    !"-?:,[]{}#&*!|>'\"%@`".contains(first)
        && !text.starts_with(' ')
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
}
