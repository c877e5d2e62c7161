//! From a byte of a scalar's content back to the byte of the file it was written as.
//!
//! An expression in a `|` block knows its own offsets only; its author looks for the line of the
//! file. Literal blocks map line by line. The other styles fold line breaks and decode escapes,
//! so content and source are walked side by side.

use super::{Node, Style, Value};
use crate::Span;

impl Node {
    /// The byte offset in the file of byte `offset` of this string's content. For any other kind
    /// of node, and where the text cannot be followed, the start of the node.
    pub fn position_in(&self, offset: usize) -> usize {
        let Value::String(content, style) = &self.value else {
            return self.span.start;
        };
        let source = self.source_text();
        let offset = floor_boundary(content, offset);
        // A block's span starts behind the blank lines its content starts with.
        let blank_lines = match style {
            Style::Literal | Style::Folded => {
                content.len() - content.trim_start_matches('\n').len()
            }
            _ => 0,
        };
        let content = &content[blank_lines..];
        let offset = offset.saturating_sub(blank_lines);
        let relative = match style {
            Style::Literal => literal(source, content, offset),
            Style::SingleQuoted | Style::DoubleQuoted => {
                1 + walk(source.get(1..).unwrap_or_default(), content, offset, *style)
            }
            Style::Plain | Style::Folded => walk(source, content, offset, *style),
        };
        (self.span.start + relative).min(self.span.end)
    }

    /// The span in the file of a byte range of this string's content.
    pub fn span_in(&self, range: std::ops::Range<usize>) -> Span {
        let start = self.position_in(range.start);
        Span::new(start, self.position_in(range.end).max(start))
    }
}

/// Line `n` of the content is line `n` of the source, behind the block's indentation.
fn literal(source: &str, content: &str, offset: usize) -> usize {
    let line = content[..offset].matches('\n').count();
    let line_start = content[..offset].rfind('\n').map_or(0, |at| at + 1);
    let column = offset - line_start;
    if line == 0 {
        return column; // the span starts behind the first line's indentation
    }
    let indent = literal_indent(source, content);
    let Some((source_start, text)) = nth_line(source, line) else {
        return source.len();
    };
    let blanks = text.len() - text.trim_start_matches(' ').len();
    source_start + indent.min(blanks) + column
}

/// How many spaces the block adds to each line: the difference on the first line, after the one
/// the span starts in, that is not blank.
fn literal_indent(source: &str, content: &str) -> usize {
    let spaces = |line: &str| line.len() - line.trim_start_matches(' ').len();
    source
        .lines()
        .zip(content.lines())
        .skip(1)
        .find(|(_, line)| !line.trim().is_empty())
        .map_or(0, |(written, line)| {
            spaces(written).saturating_sub(spaces(line))
        })
}

fn nth_line(text: &str, line: usize) -> Option<(usize, &str)> {
    let mut start = 0;
    for (index, part) in text.split_inclusive('\n').enumerate() {
        if index == line {
            return Some((start, part));
        }
        start += part.len();
    }
    None
}

/// Walks source and content side by side until `offset` of the content.
fn walk(source: &str, content: &str, offset: usize, style: Style) -> usize {
    let (mut at, mut read) = (0, 0);
    loop {
        let rest = source.get(at..).unwrap_or_default();
        let ahead = content.get(read..).unwrap_or_default();
        let (Some(written), Some(meant)) = (rest.chars().next(), ahead.chars().next()) else {
            break;
        };
        let escaped = style == Style::DoubleQuoted && written == '\\';
        if escaped && let Some(length) = line_join(rest) {
            at += length;
            continue;
        }
        if read >= offset {
            break;
        }
        if escaped {
            at += escape_length(rest);
            read += meant.len_utf8();
            continue;
        }
        let blanks = blank_run(rest);
        if blanks.contains('\n') {
            let folded = folded_run(blanks, ahead, style);
            if read + folded > offset {
                break;
            }
            at += blanks.len();
            read += folded;
            continue;
        }
        let doubled = style == Style::SingleQuoted && rest.starts_with("''");
        at += written.len_utf8() + usize::from(doubled);
        read += meant.len_utf8();
    }
    at.min(source.len())
}

fn blank_run(text: &str) -> &str {
    let end = text
        .find(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'))
        .unwrap_or(text.len());
    &text[..end]
}

/// How much of the content a run of blanks with line breaks became.
fn folded_run(blanks: &str, content: &str, style: Style) -> usize {
    match style {
        // One break is a space, more are one break less; an escape may follow with blanks of
        // its own, so these must not be taken from the content.
        Style::DoubleQuoted => blanks.matches('\n').count().saturating_sub(1).max(1),
        _ => blank_run(content).len(),
    }
}

/// Bytes of an escaped line break and the blanks behind it, which are not part of the content.
fn line_join(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    rest.starts_with(['\n', '\r'])
        .then(|| 1 + blank_run(rest).len())
}

fn escape_length(text: &str) -> usize {
    let length = match text.chars().nth(1) {
        Some('x') => 4,
        Some('u') => 6,
        Some('U') => 10,
        Some(other) => 1 + other.len_utf8(),
        None => 1,
    };
    length.min(text.len())
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
