//! What is wrong with a search, and where.

use std::fmt;

/// Why a text is not a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchError {
    /// One sentence that stands alone.
    pub message: String,
    /// The byte at which the mistake begins.
    pub position: usize,
    /// What was probably meant, or what to do instead.
    pub help: Option<String>,
}

impl SearchError {
    pub(super) fn new(position: usize, message: impl Into<String>) -> SearchError {
        SearchError {
            message: message.into(),
            position,
            help: None,
        }
    }

    /// A text that does not follow the grammar.
    pub(super) fn syntax(position: usize, message: impl fmt::Display) -> SearchError {
        SearchError::new(
            position,
            format!("failed to parse search query: {message} at position {position}"),
        )
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> SearchError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SearchError {}
