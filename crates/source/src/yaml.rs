//! YAML 1.2 (core schema) into a tree of [`Node`]s.
//!
//! Stricter than YAML where leniency hides mistakes: a key twice is an error, so are tags other
//! than the core schema's, and a second document unless it was asked for. Anchors, aliases and
//! merge keys (`<<`) work; what they may add is bounded, as are size and depth.

use crate::{Diagnostic, Diagnostics, Node, SourceFile, Span, Value};

mod build;
mod events;
mod scalar;

/// What a text may cost before it is refused.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of source text.
    pub bytes: usize,
    /// Nesting of lists and mappings, aliases followed.
    pub depth: usize,
    /// Nodes plus bytes of text that aliases may add to what is written.
    pub expansion: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            depth: 100,
            expansion: 1 << 20,
        }
    }
}

/// The one document of a file. An empty file is null.
pub fn parse(file: &SourceFile) -> Result<Node, Diagnostics> {
    let mut documents = parse_all(file)?.into_iter();
    let first = documents.next();
    if let Some(second) = documents.next() {
        return Err(second
            .error("a second document starts here, but only one is expected")
            .with_help("remove the `---` line, or put this document into a file of its own")
            .into());
    }
    Ok(first.unwrap_or_else(|| Node::new(file, Span::at(0), Value::Null)))
}

/// All documents of a file, separated by `---`.
pub fn parse_all(file: &SourceFile) -> Result<Vec<Node>, Diagnostics> {
    parse_all_within(file, Limits::default())
}

/// All documents of a file, with other limits than the default ones.
pub fn parse_all_within(file: &SourceFile, limits: Limits) -> Result<Vec<Node>, Diagnostics> {
    if file.text().len() > limits.bytes {
        let message = format!(
            "the text is {} bytes long; at most {} are read",
            file.text().len(),
            limits.bytes
        );
        return Err(Diagnostic::error(file, Span::at(0), message).into());
    }
    build::documents(file, limits)
}

/// Whether an unquoted word is read as text, and not as a number, a bool or null.
pub fn is_text(word: &str) -> bool {
    scalar::core_schema(word).is_none()
}

#[cfg(test)]
mod tests;
