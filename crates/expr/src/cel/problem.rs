//! What is wrong with an expression before it ever runs.

use std::fmt;
use std::ops::Range;

/// One mistake found at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Byte range in the source.
    pub span: Range<usize>,
    /// What to write instead, when a guess is possible.
    pub help: Option<String>,
}

/// All mistakes of one expression, with the source they point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    source: String,
    problems: Vec<Problem>,
}

impl Problems {
    pub(crate) fn new(source: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|p| (p.span.start, p.span.end));
        Self {
            source: source.to_owned(),
            problems,
        }
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The mistakes in source order; never empty.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.problems.iter()
    }

    /// Number of mistakes.
    #[expect(
        clippy::len_without_is_empty,
        reason = "there is no empty set of problems"
    )]
    pub fn len(&self) -> usize {
        self.problems.len()
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.problems.into_iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.problems.iter()
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}", problem.message)?;
            write!(f, "{}", excerpt(&self.source, &problem.span))?;
            if let Some(help) = &problem.help {
                write!(f, "\n  = {help}")?;
            }
        }
        Ok(())
    }
}

/// The source line that holds the span, with carets under it.
pub(crate) fn excerpt(source: &str, span: &Range<usize>) -> String {
    let floor = |at: usize| {
        (0..=at.min(source.len()))
            .rev()
            .find(|i| source.is_char_boundary(*i))
            .unwrap_or(0)
    };
    let start = floor(span.start);
    let line_start = source[..start].rfind('\n').map_or(0, |i| i + 1);
    let line_end = source[start..]
        .find('\n')
        .map_or(source.len(), |i| start + i);
    let end = floor(span.end).clamp(start, line_end);
    // Tabs keep their place in the caret line so that both lines shift alike.
    let pad: String = source[line_start..start]
        .chars()
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let carets = source[start..end].chars().count().max(1);
    let number = source[..line_start].matches('\n').count() + 1;
    let gutter = if source.contains('\n') {
        format!("{number:>4} | ")
    } else {
        "  | ".to_owned()
    };
    let blank = format!("{}| ", " ".repeat(gutter.len().saturating_sub(2)));
    format!(
        "{gutter}{}\n{blank}{pad}{}",
        &source[line_start..line_end],
        "^".repeat(carets)
    )
}
