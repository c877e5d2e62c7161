//! One YAML document as JSON, and JSON as YAML.

mod emit;

use hyperfleet_source::{SourceFile, yaml};
use serde_json::Value as Json;

pub(crate) use emit::emit;

/// Why a text is no YAML document, and where in it.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error("line {line}, column {column}: {message}")]
pub struct YamlError {
    pub message: String,
    pub line: usize,
    pub column: usize,
}

/// Reads text that holds exactly one document; an empty text is null.
pub fn parse(text: &str) -> Result<Json, YamlError> {
    let file = SourceFile::new("", text);
    match yaml::parse(&file) {
        Ok(document) => Ok(document.to_json()),
        Err(found) => {
            let first = found.iter().next();
            let position = file.position(first.map_or(0, |diagnostic| diagnostic.span.start));
            Err(YamlError {
                message: first.map_or_else(String::new, |diagnostic| diagnostic.message.clone()),
                line: position.line,
                column: position.column,
            })
        }
    }
}
