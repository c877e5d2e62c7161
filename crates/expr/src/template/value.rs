//! What a template computes with. Caller data is borrowed, never copied; only
//! what a function builds is owned.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use chrono::{DateTime, FixedOffset};
use regex::Regex;
use serde_json::{Map, Value as Json};

use super::Data;

/// A dict made by a template; `set` changes it in place, as in sprig.
pub(super) type Dict<'a> = Rc<RefCell<BTreeMap<String, Value<'a>>>>;

#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(Text<'a>),
    Array(&'a [Json]),
    Object(&'a Map<String, Json>),
    /// The data of the whole template: `.` outside `range` and `with`, and `$`.
    Roots(&'a Data<'a>),
    List(Rc<Vec<Value<'a>>>),
    Dict(Dict<'a>),
    Time(DateTime<FixedOffset>),
    Pattern(&'a Regex),
}

#[derive(Clone, Debug)]
pub(super) enum Text<'a> {
    Borrowed(&'a str),
    Shared(Rc<str>),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(s) => s,
            Text::Shared(s) => s,
        }
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Value::Nil,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => match (n.as_i64(), n.as_u64()) {
                (Some(i), _) => Value::Int(i),
                (None, Some(u)) => Value::Uint(u),
                _ => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(s) => Value::Text(Text::Borrowed(s)),
            Json::Array(items) => Value::Array(items),
            Json::Object(map) => Value::Object(map),
        }
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Text::Shared(text.into()))
    }
}

impl From<bool> for Value<'_> {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}

impl<'a> Value<'a> {
    /// Go's `IsTrue`.
    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Nil => false,
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Uint(u) => *u != 0,
            Value::Float(f) => *f != 0.0,
            Value::Text(t) => !t.as_str().is_empty(),
            Value::Time(_) | Value::Pattern(_) => true,
            _ => self.len() != Some(0),
        }
    }

    /// What sprig's `empty` and `coalesce` call empty: the same as untrue.
    pub(super) fn is_empty(&self) -> bool {
        !self.truth()
    }

    pub(super) fn len(&self) -> Option<usize> {
        Some(match self {
            Value::Text(t) => t.as_str().len(),
            Value::Array(a) => a.len(),
            Value::List(l) => l.len(),
            Value::Object(o) => o.len(),
            Value::Dict(d) => d.borrow().len(),
            Value::Roots(r) => r.len(),
            _ => return None,
        })
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Value::Array(_) | Value::List(_))
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self, Value::Object(_) | Value::Dict(_) | Value::Roots(_))
    }

    /// The item of a list.
    pub(super) fn item(&self, index: usize) -> Option<Value<'a>> {
        match self {
            Value::Array(a) => a.get(index).map(Value::from),
            Value::List(l) => l.get(index).cloned(),
            _ => None,
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Option<Vec<Value<'a>>> {
        match self {
            Value::Array(a) => Some(a.iter().map(Value::from).collect()),
            Value::List(l) => Some(l.to_vec()),
            _ => None,
        }
    }

    /// The entry of a map.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        match self {
            Value::Object(o) => o.get(key).map(Value::from),
            Value::Dict(d) => d.borrow().get(key).cloned(),
            Value::Roots(r) => r.get(key).map(Value::from),
            _ => None,
        }
    }

    /// The keys of a map, sorted as Go ranges over them.
    pub(super) fn keys(&self) -> Option<Vec<Cow<'a, str>>> {
        let mut keys: Vec<Cow<'a, str>> = match self {
            Value::Object(o) => o.keys().map(|k| Cow::Borrowed(k.as_str())).collect(),
            Value::Dict(d) => d.borrow().keys().map(|k| Cow::Owned(k.clone())).collect(),
            Value::Roots(r) => r.names().map(Cow::Borrowed).collect(),
            _ => return None,
        };
        keys.sort_unstable();
        Some(keys)
    }

    /// For messages: what kind of thing this is.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Value::Nil => "null",
            Value::Bool(_) => "a bool",
            Value::Int(_) | Value::Uint(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Text(_) => "text",
            Value::Array(_) | Value::List(_) => "a list",
            Value::Object(_) | Value::Dict(_) | Value::Roots(_) => "a map",
            Value::Time(_) => "a time",
            Value::Pattern(_) => "a pattern",
        }
    }

    /// Order of numbers (across kinds) and of texts; `None` when not comparable.
    pub(super) fn order(&self, other: &Value<'a>) -> Option<std::cmp::Ordering> {
        fn wide(value: &Value<'_>) -> Option<i128> {
            match value {
                Value::Int(i) => Some(i128::from(*i)),
                Value::Uint(u) => Some(i128::from(*u)),
                _ => None,
            }
        }
        match (self, other) {
            (Value::Text(a), Value::Text(b)) => Some(a.as_str().cmp(b.as_str())),
            (a, b) => match (wide(a), wide(b)) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => a.number()?.partial_cmp(&b.number()?),
            },
        }
    }

    /// A number of any kind as a float.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::Uint(u) => Some(*u as f64),
            Value::Float(f) => Some(*f),
            _ => None,
        }
    }
}
