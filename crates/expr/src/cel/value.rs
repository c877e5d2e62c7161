//! What an expression computes with. Values borrow from the bound JSON and from the program; only what an expression
//! builds is allocated, and then shared by reference count.

mod compare;
mod json;
mod map;
mod text;

use std::sync::Arc;

use chrono::{DateTime, Utc};

pub(crate) use compare::{equal, equal_within, order};
pub use map::{Key, Map};
pub use text::Str;

use super::typing::Type;

/// A CEL value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// Signed integer; every integral JSON number that fits is one.
    Int(i64),
    /// Unsigned integer.
    Uint(u64),
    /// Floating point number.
    Double(f64),
    /// Text.
    String(Str<'a>),
    /// Bytes.
    Bytes(Arc<[u8]>),
    /// List, borrowed or built.
    List(List<'a>),
    /// Map, borrowed or built.
    Map(Map<'a>),
    /// Point in time between the years 1 and 9999.
    Timestamp(DateTime<Utc>),
    /// Nanoseconds, as Go counts them: ± 292 years.
    Duration(i64),
    /// A type as a value.
    Type(Type),
    /// Present or absent value.
    Optional(Option<Arc<Value<'a>>>),
}

/// A list that lives in the bound JSON or was built by the expression.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// Borrowed from the input; elements become values when touched.
    Json(&'a Vec<serde_json::Value>),
    /// Built during evaluation.
    Built(Arc<Vec<Value<'a>>>),
}

impl<'a> List<'a> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Built(items) => items.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element at `index`.
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Self::Json(items) => items.get(index).map(Value::from_json),
            Self::Built(items) => items.get(index).cloned(),
        }
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
}

impl<'a> Value<'a> {
    /// Text that borrows.
    pub fn str(text: &'a str) -> Self {
        Self::String(Str::Borrowed(text))
    }

    /// Text that was made.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(Str::Shared(text.into()))
    }

    /// A built list.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List::Built(Arc::new(items)))
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    pub(crate) fn none() -> Self {
        Self::Optional(None)
    }

    /// Run-time type; never `Dyn`.
    pub fn type_of(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(_) => Type::List,
            Self::Map(_) => Type::Map,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::Type(_) => Type::Type,
            Self::Optional(_) => Type::Optional,
        }
    }

    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(s) => Some(s.as_str()),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The entry of a map with a text key; `None` for anything else.
    pub fn field(&self, name: &'a str) -> Option<Value<'a>> {
        match self {
            Self::Map(map) => map.field(name),
            _ => None,
        }
    }

    /// What `optional.ofNonZeroValue` treats as absent.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(b) => !b,
            Self::Int(n) => *n == 0,
            Self::Uint(n) => *n == 0,
            Self::Double(n) => *n == 0.0,
            Self::String(s) => s.as_str().is_empty(),
            Self::Bytes(b) => b.is_empty(),
            Self::List(l) => l.is_empty(),
            Self::Map(m) => m.is_empty(),
            Self::Timestamp(t) => t.timestamp() == 0 && t.timestamp_subsec_nanos() == 0,
            Self::Duration(d) => *d == 0,
            Self::Type(_) => false,
            Self::Optional(inner) => inner.is_none(),
        }
    }
}

impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        equal(self, other)
    }
}

impl From<bool> for Value<'_> {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<i64> for Value<'_> {
    fn from(n: i64) -> Self {
        Self::Int(n)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(s: &'a str) -> Self {
        Self::str(s)
    }
}

impl From<String> for Value<'_> {
    fn from(s: String) -> Self {
        Self::string(s)
    }
}

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    fn from(json: &'a serde_json::Value) -> Self {
        Self::from_json(json)
    }
}
