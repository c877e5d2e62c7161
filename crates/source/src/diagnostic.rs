//! A mistake in a text, and a list of them, printed like a compiler does.

use std::fmt;

use crate::{SourceFile, Span};

mod render;

/// Whether the text can be used in spite of the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The text cannot be used.
    Error,
    /// The text can be used, but probably does not mean what its author thinks.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One finding: where, what, and what to do about it.
///
/// ```
/// use hyperfleet_source::{Diagnostic, SourceFile, Span};
/// let file = SourceFile::new("config.yaml", "server:\n  prot: 8000\n");
/// let found = Diagnostic::error(&file, Span::new(10, 14), "unknown key `prot`")
///     .with_help("did you mean `port`?");
/// assert_eq!(found.to_string(), "\
/// config.yaml:2:3: error: unknown key `prot`
///   |
/// 2 |   prot: 8000
///   |   ^^^^
///   help: did you mean `port`?");
/// ```
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The text it is about.
    pub file: SourceFile,
    /// The part of the text it is about.
    pub span: Span,
    /// What is wrong, one line.
    pub message: String,
    /// What to do, one line.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding that makes the text unusable.
    pub fn error(file: &SourceFile, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, file, span, message)
    }

    /// A finding that leaves the text usable.
    pub fn warning(file: &SourceFile, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, file, span, message)
    }

    fn new(severity: Severity, file: &SourceFile, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity,
            file: file.clone(),
            span,
            message: message.into(),
            help: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// `file:line:column`.
    pub fn location(&self) -> String {
        self.file.locate(self.span.start)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        render::render(self, f)
    }
}

/// One or more findings, in the order in which a reader meets them.
#[derive(Clone, Debug)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// The findings, or nothing if there are none.
    pub fn from_vec(mut found: Vec<Diagnostic>) -> Option<Self> {
        found.sort_by(|a, b| {
            (a.file.name(), a.span, a.severity).cmp(&(b.file.name(), b.span, b.severity))
        });
        (!found.is_empty()).then_some(Self(found))
    }

    /// `Err` with all findings if there are any, else `Ok(value)`.
    pub fn check<T>(found: Vec<Diagnostic>, value: T) -> Result<T, Self> {
        Self::from_vec(found).map_or(Ok(value), Err)
    }

    /// All findings, sorted by file and position.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// All findings, sorted by file and position.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(found: Diagnostic) -> Self {
        Self(vec![found])
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, found) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            found.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
