//! What the fields of a kind look like: enough to prune unknown fields, merge lists by key and track ownership.
//!
//! Built-in kinds come from `tables/types.txt`, custom ones from their definition's OpenAPI schema.

mod crd;
mod decode;
mod table;

use std::collections::BTreeMap;

use serde_json::{Value, json};

pub(crate) use crd::{fill_defaults, from_open_api, validate};
pub(crate) use decode::{decode, drop_empty};
pub(crate) use table::builtin;

/// The form of one value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Text,
    Integer,
    Number,
    Boolean,
    /// A quantity or int-or-string.
    IntOrText,
    /// No schema. `granular` maps are owned key by key, others as one value.
    Any {
        granular: bool,
    },
    List(Box<ListShape>),
    Map {
        atomic: bool,
        item: Box<Shape>,
    },
    Struct(Box<StructShape>),
    /// A built-in type, looked up by name because types refer to themselves.
    Named(String),
    /// A built-in type owned as a whole where it is used.
    AtomicNamed(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListShape {
    pub identity: Identity,
    /// Key a strategic merge patch merges by; `None` replaces the list, `Some("")` unites scalars.
    pub patch_key: Option<String>,
    pub item: Shape,
}

/// How items of a list are told apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Identity {
    /// The list is one value.
    Atomic,
    /// Items are scalars and their own key.
    Set,
    /// Items are maps told apart by these fields; a missing one counts as its default.
    Keys(Vec<(String, Option<Value>)>),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct StructShape {
    pub atomic: bool,
    pub fields: BTreeMap<String, Field>,
    /// Form of fields that are not listed; `None` drops them.
    pub rest: Option<Shape>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub shape: Shape,
    /// Strategic merge patch removes the keys its patch does not name (`retainKeys`).
    pub retain_keys: bool,
}

static ANY_ATOMIC: Shape = Shape::Any { granular: false };
static ANY_GRANULAR: Shape = Shape::Any { granular: true };

impl Shape {
    /// Follows a name to the type it stands for.
    pub(crate) fn resolve(&self) -> &Shape {
        match self {
            Shape::Named(name) | Shape::AtomicNamed(name) => builtin(name).unwrap_or(&ANY_ATOMIC),
            other => other,
        }
    }

    /// Whether a map of this shape has one owner for all of it.
    pub(crate) fn is_atomic_map(&self) -> bool {
        if matches!(self, Shape::AtomicNamed(_)) {
            return true;
        }
        match self.resolve() {
            Shape::Struct(shape) => shape.atomic,
            Shape::Map { atomic, .. } => *atomic,
            Shape::Any { granular } => !granular,
            _ => false,
        }
    }

    pub(crate) fn list(&self) -> Option<&ListShape> {
        match self.resolve() {
            Shape::List(list) => Some(list),
            _ => None,
        }
    }

    /// The shape below a map key, and whether that key is a declared field.
    pub(crate) fn below(&self, key: &str) -> (&Shape, bool) {
        match self.resolve() {
            Shape::Struct(shape) => match shape.fields.get(key) {
                Some(field) => (&field.shape, true),
                None => (shape.rest.as_ref().unwrap_or(&ANY_GRANULAR), false),
            },
            Shape::Map { item, .. } => (item, false),
            _ => (&ANY_GRANULAR, false),
        }
    }

    pub(crate) fn retains_keys(&self, key: &str) -> bool {
        match self.resolve() {
            Shape::Struct(shape) => shape.fields.get(key).is_some_and(|f| f.retain_keys),
            _ => false,
        }
    }
}

impl ListShape {
    /// The path element naming `item` within its list, in FieldsV1 form; `None` for atomic lists and keyless items.
    pub(crate) fn element(&self, item: &Value) -> Option<String> {
        match &self.identity {
            Identity::Atomic => None,
            Identity::Set => Some(format!("v:{item}")),
            Identity::Keys(keys) => {
                let mut parts = Vec::new();
                for (key, default) in keys {
                    if let Some(value) = item.get(key).filter(|v| !v.is_null()).or(default.as_ref())
                    {
                        parts.push((key, value));
                    }
                }
                if parts.is_empty() {
                    return None;
                }
                parts.sort_by_key(|(key, _)| *key);
                let inner: Vec<String> = parts
                    .iter()
                    .map(|(k, v)| format!("{}:{v}", json!(k)))
                    .collect();
                Some(format!("k:{{{}}}", inner.join(",")))
            }
        }
    }
}
