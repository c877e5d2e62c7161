//! JSON in and out.

use base64::Engine as _;

use super::{List, Map, Str, Value};
use crate::cel::clock;

impl<'a> Value<'a> {
    /// Borrows: no list, map or text is copied. Integral numbers are ints, uints only beyond the signed range.
    pub fn from_json(json: &'a serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(b) => Self::Bool(*b),
            serde_json::Value::Number(n) => {
                if let Some(i) = n.as_i64() {
                    Self::Int(i)
                } else if let Some(u) = n.as_u64() {
                    Self::Uint(u)
                } else {
                    Self::Double(n.as_f64().unwrap_or(f64::NAN))
                }
            }
            serde_json::Value::String(s) => Self::String(Str::Borrowed(s)),
            serde_json::Value::Array(items) => Self::List(List::Json(items)),
            serde_json::Value::Object(map) => Self::Map(Map::Json(map)),
        }
    }

    /// Clean JSON: times as RFC 3339 with `Z`, durations as `"3.5s"`, bytes as base64, an absent optional as null,
    /// keys as text, and numbers JSON cannot hold (NaN, infinities) as text.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null | Self::Optional(None) => serde_json::Value::Null,
            Self::Bool(b) => (*b).into(),
            Self::Int(n) => (*n).into(),
            Self::Uint(n) => (*n).into(),
            Self::Double(n) => serde_json::Number::from_f64(*n).map_or_else(
                || crate::cel::library::double_text(*n).into(),
                serde_json::Value::Number,
            ),
            Self::String(s) => s.as_str().into(),
            Self::Bytes(b) => base64::engine::general_purpose::STANDARD.encode(b).into(),
            Self::List(List::Json(items)) => serde_json::Value::Array((*items).clone()),
            Self::List(list) => list.iter().map(|v| v.to_json()).collect(),
            Self::Map(Map::Json(map)) => serde_json::Value::Object((*map).clone()),
            Self::Map(map) => map
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_json()))
                .collect(),
            Self::Timestamp(t) => clock::format_timestamp(t).into(),
            Self::Duration(d) => clock::format_duration(*d).into(),
            Self::Type(t) => t.name().into(),
            Self::Optional(Some(inner)) => inner.to_json(),
        }
    }
}
