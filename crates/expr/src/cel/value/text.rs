//! Text that borrows where it can.

use std::sync::Arc;

/// A string slice of the input or the program, or shared text an expression made.
#[derive(Clone, Debug)]
pub enum Str<'a> {
    /// Slice of bound data or of the program's literals.
    Borrowed(&'a str),
    /// Made during evaluation.
    Shared(Arc<str>),
}

impl Str<'_> {
    /// The characters.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(s) => s,
            Self::Shared(s) => s,
        }
    }
}

impl AsRef<str> for Str<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Str<'_> {}

impl PartialOrd for Str<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}
