//! The parser's events with byte spans, and its errors as findings.
//!
//! `saphyr-parser` counts characters; everything else here counts bytes.

use saphyr_parser::{Event, Parser, ScanError, StrInput};

use crate::{Diagnostic, SourceFile, Span};

pub(super) struct Events<'a> {
    file: &'a SourceFile,
    parser: Parser<'a, StrInput<'a>>,
    /// Byte offset of each character; empty for ASCII, where both counts are the same.
    byte_of: Vec<usize>,
}

impl<'a> Events<'a> {
    pub(super) fn new(file: &'a SourceFile) -> Self {
        let text = file.text();
        let byte_of = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at).collect()
        };
        Self {
            file,
            parser: Parser::new_from_str(text),
            byte_of,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, Diagnostic> {
        match self.parser.next_event() {
            None => Ok(None),
            Some(Ok((event, span))) => {
                let start = self.byte(span.start.index());
                let end = self.byte(span.end.index()).max(start);
                Ok(Some((event, Span::new(start, end))))
            }
            Some(Err(error)) => Err(self.explain(&error)),
        }
    }

    fn byte(&self, index: usize) -> usize {
        let end = self.file.text().len();
        if self.byte_of.is_empty() {
            index.min(end)
        } else {
            self.byte_of.get(index).copied().unwrap_or(end)
        }
    }

    fn explain(&self, error: &ScanError) -> Diagnostic {
        let at = self.byte(error.marker().index());
        let position = self.file.position(at);
        let line = self.file.line(position.line);
        let indentation = &line[..line.len() - line.trim_start().len()];
        if let Some(tab) = indentation.find('\t') {
            let start = self.file.line_range(position.line).start + tab;
            return Diagnostic::error(
                self.file,
                Span::new(start, start + 1),
                "a tab cannot indent YAML",
            )
            .with_help("indent with spaces");
        }
        let found = Diagnostic::error(self.file, Span::at(at), error.info());
        match help(error.info()) {
            Some(help) => found.with_help(help),
            None => found,
        }
    }
}

/// The parser's messages are exact but written for people who know the YAML grammar.
fn help(info: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 6] = [
        (
            "mapping values are not allowed",
            "check the indentation of this line; a value that contains `: ` needs quotes",
        ),
        (
            "did not find expected key",
            "check the indentation of this line and the quotes and brackets before it",
        ),
        (
            "unknown anchor",
            "define the anchor (`&name`) before it is used",
        ),
        (
            "invalid indentation in quoted scalar",
            "is the closing quote missing?",
        ),
        (
            "illegal placement of ':'",
            "is a closing bracket missing before this line?",
        ),
        ("cannot start any token", "put the value into quotes"),
    ];
    KNOWN
        .iter()
        .find(|(part, _)| info.contains(part))
        .map(|(_, help)| *help)
}
