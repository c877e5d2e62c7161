//! One value from the environment or a flag, laid over the tree of the file.

use hyperfleet_source::schema::{Kind, Leaf};
use hyperfleet_source::{Diagnostic, Key, Node, SourceFile, Span, Style, Value, yaml};

use super::ConfigError;

/// A value and the key it is for.
pub(super) struct Setting {
    path: Vec<String>,
    node: Node,
}

impl Setting {
    /// `text` read as the schema says the key at `path` is written. What does not fit is kept as
    /// text: the type itself then says, with the name of the origin, what it expects.
    pub(super) fn new(
        origin: String,
        path: &str,
        text: &str,
        leaves: &[Leaf],
    ) -> Result<Self, ConfigError> {
        let leaf = leaves.iter().find(|leaf| leaf.dotted() == path);
        let Some(leaf) = leaf else {
            return Err(ConfigError::NoSuchKey {
                origin,
                path: path.to_owned(),
            });
        };
        let file = SourceFile::single_value(origin, text);
        Ok(Self {
            path: leaf.path.clone(),
            node: read(&file, Span::new(0, file.text().len()), &leaf.kind)?,
        })
    }
}

fn read(file: &SourceFile, span: Span, kind: &Kind) -> Result<Node, ConfigError> {
    let text = file.slice(span);
    let word = text.trim();
    let as_text = || Value::String(text.to_owned(), Style::Plain);
    let value = match kind {
        Kind::String => as_text(),
        Kind::Bool => match word {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Value::Bool(true),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Value::Bool(false),
            _ => as_text(),
        },
        Kind::Integer => word
            .parse()
            .map(Value::Int)
            .or_else(|_| word.parse().map(Value::UInt))
            .unwrap_or_else(|_| as_text()),
        Kind::Number => word.parse().map_or_else(|_| as_text(), Value::Float),
        Kind::List(item) => Value::Sequence(read_list(file, item)?),
        Kind::Structured => return Ok(yaml::parse(file)?),
    };
    Ok(Node::new(file, span, value))
}

/// `a, b,c`: items are separated by commas and trimmed.
fn read_list(file: &SourceFile, kind: &Kind) -> Result<Vec<Node>, ConfigError> {
    let mut items = Vec::new();
    let mut start = 0;
    for part in file.text().split(',') {
        let lead = part.len() - part.trim_start().len();
        let word = part.trim();
        if !word.is_empty() {
            let from = start + lead;
            items.push(read(file, Span::new(from, from + word.len()), kind)?);
        }
        start += part.len() + 1;
    }
    Ok(items)
}

/// Puts the value into the tree, creating the sections on the way.
pub(super) fn apply(tree: &mut Node, setting: Setting) -> Result<(), Diagnostic> {
    let Setting { path, node } = setting;
    let mut place = tree;
    for name in &path {
        if place.is_null() {
            // A section that only this value brings into being is reported as coming from it.
            *place = Node::new(&node.file, node.span, Value::Mapping(Vec::new()));
        }
        let kind = place.kind();
        let wrong = place.error(format!("expected a mapping, found {kind}"));
        let Value::Mapping(entries) = &mut place.value else {
            return Err(wrong);
        };
        let index = match entries.iter().position(|(key, _)| key.text == *name) {
            Some(index) => index,
            None => {
                let key = Key {
                    file: node.file.clone(),
                    text: name.clone(),
                    span: node.span,
                };
                entries.push((key, Node::new(&node.file, node.span, Value::Null)));
                entries.len() - 1
            }
        };
        place = &mut entries[index].1;
    }
    *place = node;
    Ok(())
}
