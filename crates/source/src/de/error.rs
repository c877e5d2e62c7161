//! What serde reports, with the place added as it travels up the tree.

use std::fmt;

use serde::de::{Error as SerdeError, Expected, Unexpected};

use crate::{Diagnostic, Key, Node, SourceFile, Span, Value, suggest};

/// A value that does not fit its type.
///
/// The innermost node or key an error passes becomes its place. Only a missing field waits for
/// the key of the mapping that lacks it: the mapping's own text may be many lines.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    message: String,
    help: Option<String>,
    place: Option<(SourceFile, Span)>,
    is_missing_field: bool,
}

impl Error {
    fn new(message: String, help: Option<String>) -> Self {
        Self(Box::new(Inner {
            message,
            help,
            place: None,
            is_missing_field: false,
        }))
    }

    pub(super) fn at_node(mut self, node: &Node) -> Self {
        if self.0.place.is_none() && !self.0.is_missing_field {
            self.0.place = Some((node.file.clone(), node.span));
            if self.0.help.is_none() {
                self.0.help = help_for(node, &self.0.message);
            }
        }
        self
    }

    pub(super) fn at_key(mut self, key: &Key) -> Self {
        if self.0.place.is_none() {
            self.0.place = Some((key.file.clone(), key.span));
        }
        self
    }

    pub(super) fn into_diagnostic(self, root: &Node) -> Diagnostic {
        let inner = *self.0;
        let (file, span) = inner
            .place
            .unwrap_or_else(|| (root.file.clone(), Span::at(root.span.start)));
        let found = Diagnostic::error(&file, span, inner.message);
        match inner.help {
            Some(help) => found.with_help(help),
            None => found,
        }
    }
}

impl Node {
    pub(super) fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Int(value) => Unexpected::Signed(*value),
            Value::UInt(value) => Unexpected::Unsigned(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::String(text, _) => Unexpected::Str(text),
            Value::Sequence(_) => Unexpected::Seq,
            Value::Mapping(_) => Unexpected::Map,
        }
    }
}

/// Mistakes that have one usual cause.
fn help_for(node: &Node, message: &str) -> Option<String> {
    match &node.value {
        Value::String(text, _)
            if message.starts_with("expected a boolean")
                && matches!(
                    text.to_ascii_lowercase().as_str(),
                    "yes" | "no" | "on" | "off" | "y" | "n" | "true" | "false"
                ) =>
        {
            Some("write `true` or `false`, without quotes".to_owned())
        }
        Value::Null if message.starts_with("expected") => {
            Some("give a value, or remove the key to use the default".to_owned())
        }
        _ => None,
    }
}

fn describe(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Bool(value) => format!("the boolean `{value}`"),
        Unexpected::Str(text) => format!("the string {text:?}"),
        Unexpected::Unsigned(value) => format!("the integer `{value}`"),
        Unexpected::Signed(value) => format!("the integer `{value}`"),
        Unexpected::Float(value) => format!("the number `{value}`"),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

impl SerdeError for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string(), None)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(
            format!("expected {expected}, found {}", describe(&found)),
            None,
        )
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(
            format!("unknown value `{variant}`"),
            suggest::help(variant, expected.iter().copied()),
        )
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(
            format!("unknown key `{field}`"),
            suggest::help(field, expected.iter().copied()),
        )
    }

    fn missing_field(field: &'static str) -> Self {
        let mut error = Self::new(format!("the key `{field}` is missing"), None);
        error.0.is_missing_field = true;
        error
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.place {
            Some((file, span)) => write!(f, "{}: {}", file.locate(span.start), self.0.message),
            None => f.write_str(&self.0.message),
        }
    }
}

impl std::error::Error for Error {}
