//! The tree a text was read into: JSON's shapes, plus where everything was written.

use serde_json::Value as Json;

use crate::{Diagnostic, SourceFile, Span};

mod position;

/// A value and the place it was written.
///
/// What an alias (`*name`) or merge key (`<<`) brought in keeps the place of its anchor: that is
/// where its text can be corrected.
#[derive(Clone, Debug)]
pub struct Node {
    /// The text it was read from.
    pub file: SourceFile,
    /// Its part of that text, without anchor, tag and block header.
    pub span: Span,
    /// What was read.
    pub value: Value,
}

/// What a [`Node`] holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number too large for `i64`.
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// Text.
    String(String, Style),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys in the order they were written; no key occurs twice.
    Mapping(Vec<(Key, Node)>),
}

/// How a text was written, which decides how its positions map to the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In single quotes.
    SingleQuoted,
    /// In double quotes, with escapes.
    DoubleQuoted,
    /// A `|` block.
    Literal,
    /// A `>` block.
    Folded,
}

/// A mapping key.
#[derive(Clone, Debug)]
pub struct Key {
    /// The text it was read from.
    pub file: SourceFile,
    /// The key, unquoted. A number or boolean used as a key is kept as it was written.
    pub text: String,
    /// Where it was written, with its quotes.
    pub span: Span,
}

impl Key {
    /// A finding about this key.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(&self.file, self.span, message)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Nodes are equal when they hold the same, wherever it was written.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Node {
    /// A node that covers `span` of `file`.
    pub fn new(file: &SourceFile, span: Span, value: Value) -> Self {
        Self {
            file: file.clone(),
            span,
            value,
        }
    }

    /// A finding about this node.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(&self.file, self.span, message)
    }

    /// A remark about this node.
    pub fn warning(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(&self.file, self.span, message)
    }

    /// `file:line:column` of its first character.
    pub fn location(&self) -> String {
        self.file.locate(self.span.start)
    }

    /// The text as written, quotes included.
    pub fn source_text(&self) -> &str {
        self.file.slice(self.span)
    }

    /// The value of `key`, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|(_, node)| node)
    }

    /// Key and value, if this is a mapping that has `key`.
    pub fn entry(&self, key: &str) -> Option<(&Key, &Node)> {
        self.as_mapping()?
            .iter()
            .find(|(found, _)| found.text == key)
            .map(|(key, node)| (key, node))
    }

    /// The node reached by following `path` through mappings.
    pub fn find<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Node> {
        path.into_iter().try_fold(self, |node, key| node.get(key))
    }

    /// The node at a JSON pointer, or the last one on the way to it: where a mistake at that place can be corrected.
    pub fn nearest(&self, pointer: &str) -> &Node {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.value {
                Value::Sequence(items) => {
                    step.parse().ok().and_then(|index: usize| items.get(index))
                }
                _ => node.get(&step),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The text, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text, _) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The whole number, if this is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The entries, if this is a mapping.
    pub fn as_mapping(&self) -> Option<&[(Key, Node)]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a sequence.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Whether this is null or was left empty.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    /// What kind of value this is, as said in messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::UInt(_) => "an integer",
            Value::Float(_) => "a number",
            Value::String(..) => "a string",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }

    /// The same value without positions. JSON has no infinity and no NaN; they become null.
    pub fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::from(*value),
            Value::Int(value) => Json::from(*value),
            Value::UInt(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::String(text, _) => Json::from(text.as_str()),
            Value::Sequence(items) => items.iter().map(Node::to_json).collect(),
            Value::Mapping(entries) => entries
                .iter()
                .map(|(key, node)| (key.text.clone(), node.to_json()))
                .collect(),
        }
    }
}
