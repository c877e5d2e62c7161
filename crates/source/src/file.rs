//! A named text, byte ranges in it, and the lines and columns people count in.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A named text. Cloning shares it.
#[derive(Clone)]
pub struct SourceFile(Arc<Inner>);

struct Inner {
    name: String,
    text: String,
    line_starts: Vec<usize>,
    single_value: bool,
}

impl SourceFile {
    /// A file; `name` is what diagnostics print before line and column. A byte order mark is
    /// dropped, so that column 1 is the first visible character.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::build(name.into(), text.into(), false)
    }

    /// A source that holds one value, such as `environment HYPERFLEET_SERVER_PORT`. Diagnostics
    /// print its name without line and column.
    pub fn single_value(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::build(name.into(), text.into(), true)
    }

    fn build(name: String, mut text: String, single_value: bool) -> Self {
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self(Arc::new(Inner {
            name,
            text,
            line_starts,
            single_value,
        }))
    }

    /// The name diagnostics print.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether this is one value (an environment variable, a flag) and not a file with lines.
    pub fn is_single_value(&self) -> bool {
        self.0.single_value
    }

    /// The text of `span`; empty if the span does not lie in this file.
    pub fn slice(&self, span: Span) -> &str {
        self.text().get(span.start..span.end).unwrap_or_default()
    }

    /// Line and column of a byte offset. An offset past the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text().len());
        while !self.text().is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.0.line_starts.partition_point(|&start| start <= offset);
        let line_start = self.0.line_starts[line - 1];
        Position {
            line,
            column: self.text()[line_start..offset].chars().count() + 1,
        }
    }

    /// The text of a line (1-based) without its line break; empty if there is no such line.
    pub fn line(&self, line: usize) -> &str {
        let range = self.line_range(line);
        self.text()[range].trim_end_matches(['\n', '\r'])
    }

    /// Byte range of a line (1-based) with its line break.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let starts = &self.0.line_starts;
        let end = self.text().len();
        match line.checked_sub(1).and_then(|index| starts.get(index)) {
            Some(&start) => start..starts.get(line).copied().unwrap_or(end),
            None => end..end,
        }
    }

    /// `name:line:column`, or only the name of a single value.
    pub fn locate(&self, offset: usize) -> String {
        if self.is_single_value() {
            self.name().to_owned()
        } else {
            format!("{}:{}", self.name(), self.position(offset))
        }
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SourceFile").field(&self.name()).finish()
    }
}

/// A byte range of a [`SourceFile`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The empty range at `offset`: a place, not a text.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// Whether `other` lies inside this range.
    pub fn contains(&self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// Where a person finds a byte offset: both numbers count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let file = SourceFile::new("f", "é: x\nü: yä\n");
        let y = file.text().find('y').unwrap();
        assert_eq!(file.position(y).to_string(), "2:4");
        assert_eq!(file.line(2), "ü: yä");
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let file = SourceFile::new("f", "\u{feff}a: 1");
        assert_eq!(file.locate(0), "f:1:1");
        assert_eq!(file.text(), "a: 1");
    }

    #[test]
    fn an_offset_outside_the_text_or_inside_a_character_still_has_a_position() {
        let file = SourceFile::new("f", "é");
        assert_eq!(file.position(1).column, 1);
        assert_eq!(file.position(99).column, 2);
        assert_eq!(file.line(0), "");
        assert_eq!(file.line(7), "");
    }
}
