//! The layout of one finding: location, message, the line, a caret underline, help.

use std::fmt;

use super::Diagnostic;

/// Characters of a source line that are shown; a longer line is cut around the finding.
const WINDOW: usize = 120;

pub(super) fn render(found: &Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let location = found.location();
    write!(f, "{location}: {}: {}", found.severity, found.message)?;
    let indent = write_excerpt(found, f)?;
    if let Some(help) = &found.help {
        write!(f, "\n{:indent$} help: {help}", "")?;
    }
    Ok(())
}

/// Writes the source line and its underline; returns the width of the line-number gutter.
fn write_excerpt(found: &Diagnostic, f: &mut fmt::Formatter<'_>) -> Result<usize, fmt::Error> {
    let position = found.file.position(found.span.start);
    let line = found.file.line(position.line);
    if line.trim().is_empty() {
        return Ok(1);
    }
    let before = position.column - 1;
    let cut = line.chars().count() > WINDOW && before > WINDOW / 2;
    let skipped = if cut { before - WINDOW / 2 } else { 0 };
    let shown: String = line.chars().skip(skipped).take(WINDOW).collect();
    let lead: String = shown
        .chars()
        .take(before - skipped)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let carets = underline_width(found, shown.chars().count() - (before - skipped));
    let gutter = if found.file.is_single_value() {
        String::new()
    } else {
        position.line.to_string()
    };
    let width = gutter.len().max(1);
    let (lead_dots, tail_dots) = (
        if cut { "…" } else { "" },
        if line.chars().count() > skipped + WINDOW {
            "…"
        } else {
            ""
        },
    );
    let pad = " ".repeat(lead_dots.chars().count());
    write!(
        f,
        "\n{:width$} |\n{gutter:width$} | {lead_dots}{}{tail_dots}\n{:width$} | {pad}{lead}{}",
        "",
        printable(&shown),
        "",
        "^".repeat(carets),
    )?;
    Ok(width)
}

/// As many carets as the span has characters on its first line; at least one.
fn underline_width(found: &Diagnostic, available: usize) -> usize {
    let text = found.file.slice(found.span);
    let first_line = text.lines().next().unwrap_or_default().trim_end();
    first_line.chars().count().min(available).max(1)
}

/// A configuration file must not be able to steer the terminal that shows its mistakes.
fn printable(line: &str) -> String {
    line.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Diagnostic, Diagnostics, SourceFile, Span};

    #[test]
    fn the_underline_sits_below_the_text_also_behind_tabs_and_accents() {
        let file = SourceFile::new("f.yaml", "é:\tbad # x\n");
        let at = file.text().find("bad").unwrap();
        let text = Diagnostic::error(&file, Span::new(at, at + 3), "no").to_string();
        assert_eq!(
            text,
            "f.yaml:1:4: error: no\n  |\n1 | é:\tbad # x\n  |   \t^^^"
        );
    }

    #[test]
    fn a_span_over_several_lines_underlines_its_first() {
        let file = SourceFile::new("f", "a:\n  b: 1\n  c: 2\n");
        let text = Diagnostic::warning(&file, Span::new(5, 17), "odd").to_string();
        assert!(text.ends_with("2 |   b: 1\n  |   ^^^^"), "{text}");
        assert!(text.starts_with("f:2:3: warning: odd"), "{text}");
    }

    #[test]
    fn an_environment_variable_is_shown_without_line_numbers() {
        let file = SourceFile::single_value("environment HYPERFLEET_SERVER_PORT", "abc");
        let text = Diagnostic::error(&file, Span::new(0, 3), "expected u16").to_string();
        assert_eq!(
            text,
            "environment HYPERFLEET_SERVER_PORT: error: expected u16\n  |\n  | abc\n  | ^^^"
        );
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_finding() {
        let file = SourceFile::new("f", format!("{}X{}", "a".repeat(500), "b".repeat(500)));
        let text = Diagnostic::error(&file, Span::new(500, 501), "x").to_string();
        let lines: Vec<&str> = text.lines().collect();
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[2].chars().nth(caret), Some('X'));
        assert!(lines[2].chars().count() < 140);
    }

    #[test]
    fn terminal_escapes_in_the_text_are_not_passed_on() {
        let file = SourceFile::new("f", "a: \u{1b}[31mred");
        let text = Diagnostic::error(&file, Span::new(3, 4), "x").to_string();
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn findings_are_printed_in_reading_order() {
        let file = SourceFile::new("f", "a\nb\n");
        let all = Diagnostics::from_vec(vec![
            Diagnostic::error(&file, Span::new(2, 3), "second"),
            Diagnostic::error(&file, Span::new(0, 1), "first"),
        ])
        .unwrap();
        let text = all.to_string();
        assert!(text.find("first") < text.find("second"));
        assert!(Diagnostics::from_vec(vec![]).is_none());
    }
}
