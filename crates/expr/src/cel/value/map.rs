//! Maps and their keys.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Str, Value};

/// A map that lives in the bound JSON or was built by the expression.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// Borrowed from the input.
    Json(&'a serde_json::Map<String, serde_json::Value>),
    /// Built during evaluation; iterates in key order, so results do not depend on chance.
    Built(Arc<BTreeMap<Key<'a>, Value<'a>>>),
    /// Made by the host, with a few text keys: cheaper to make than a tree, and as quick to read. Behind a thin
    /// pointer: a wider value would widen every frame of the evaluator.
    Record(Arc<Vec<(&'a str, Value<'a>)>>),
}

/// What a map can be keyed by. `1` and `1u` are the same key.
#[derive(Clone, Debug)]
pub enum Key<'a> {
    /// Boolean key.
    Bool(bool),
    /// Signed key.
    Int(i64),
    /// Unsigned key.
    Uint(u64),
    /// Text key.
    String(Str<'a>),
}

impl<'a> Key<'a> {
    /// The key a value stands for; doubles only when integral. `None` when no map can have such a key.
    pub(crate) fn lookup(value: &Value<'a>) -> Option<Self> {
        match value {
            Value::Double(n) => integral(*n),
            other => Self::literal(other),
        }
    }

    /// The key a map literal may declare: no doubles.
    pub(crate) fn literal(value: &Value<'a>) -> Option<Self> {
        match value {
            Value::Bool(b) => Some(Self::Bool(*b)),
            Value::Int(n) => Some(Self::Int(*n)),
            Value::Uint(n) => Some(Self::Uint(*n)),
            Value::String(s) => Some(Self::String(s.clone())),
            _ => None,
        }
    }

    pub(crate) fn value(&self) -> Value<'a> {
        match self {
            Self::Bool(b) => Value::Bool(*b),
            Self::Int(n) => Value::Int(*n),
            Self::Uint(n) => Value::Uint(*n),
            Self::String(s) => Value::String(s.clone()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) | Self::Uint(_) => 1,
            Self::String(_) => 2,
        }
    }
}

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(b) => b.fmt(f),
            Self::Int(n) => n.fmt(f),
            Self::Uint(n) => n.fmt(f),
            Self::String(s) => f.write_str(s.as_str()),
        }
    }
}

fn integral<'a>(n: f64) -> Option<Key<'a>> {
    if n.fract() != 0.0 || !n.is_finite() {
        return None;
    }
    // 2^63 and 2^64 are exact as doubles; below them the casts are exact for integral values.
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&n) {
        Some(Key::Int(n as i64))
    } else if (0.0..18_446_744_073_709_551_616.0).contains(&n) {
        Some(Key::Uint(n as u64))
    } else {
        None
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key<'_> {}

impl PartialOrd for Key<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Int(a), Self::Uint(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::Uint(a), Self::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::String(a), Self::String(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl<'a> Map<'a> {
    /// A map with these entries; of equal keys the last one stays.
    pub fn from_entries(entries: impl IntoIterator<Item = (Key<'a>, Value<'a>)>) -> Self {
        Self::built(entries.into_iter().collect())
    }

    /// A map with these text keys, which differ from each other; it is searched from the front.
    pub fn record(fields: impl Into<Vec<(&'a str, Value<'a>)>>) -> Self {
        Self::Record(Arc::new(fields.into()))
    }

    pub(crate) fn built(entries: BTreeMap<Key<'a>, Value<'a>>) -> Self {
        Self::Built(Arc::new(entries))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Json(map) => map.len(),
            Self::Built(map) => map.len(),
            Self::Record(fields) => fields.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entry with a text key.
    pub fn field(&self, name: &'a str) -> Option<Value<'a>> {
        match self {
            Self::Json(map) => map.get(name).map(Value::from_json),
            Self::Built(map) => map.get(&Key::String(Str::Borrowed(name))).cloned(),
            Self::Record(fields) => record_field(fields, name),
        }
    }

    /// Entry for any key.
    pub fn get(&self, key: &Key<'a>) -> Option<Value<'a>> {
        match (self, key) {
            (Self::Json(map), Key::String(name)) => map.get(name.as_str()).map(Value::from_json),
            (Self::Json(_), _) => None,
            (Self::Built(map), key) => map.get(key).cloned(),
            (Self::Record(fields), Key::String(name)) => record_field(fields, name.as_str()),
            (Self::Record(_), _) => None,
        }
    }

    /// All entries, in the order of the underlying map.
    pub fn iter(&self) -> Box<dyn Iterator<Item = (Key<'a>, Value<'a>)> + '_> {
        match self {
            Self::Json(map) => Box::new(
                map.iter()
                    .map(|(k, v)| (Key::String(Str::Borrowed(k.as_str())), Value::from_json(v))),
            ),
            Self::Built(map) => Box::new(map.iter().map(|(k, v)| (k.clone(), v.clone()))),
            Self::Record(fields) => Box::new(
                fields
                    .iter()
                    .map(|(k, v)| (Key::String(Str::Borrowed(k)), v.clone())),
            ),
        }
    }
}

fn record_field<'a>(fields: &[(&'a str, Value<'a>)], name: &str) -> Option<Value<'a>> {
    let mut fields = fields.iter();
    fields
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value.clone())
}
