//! JSON in and out.

use base64::Engine as _;

use super::{List, Map, Str, Value};
use crate::cel::clock;
use crate::cel::library::double_text;
use crate::cel::meter::Budget;

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
    ///
    /// Costs what the written-out value costs; the result of an untrusted expression can be far larger than it looks,
    /// so take that from [`Program::evaluate_json`](crate::cel::Program::evaluate_json), which is bounded.
    pub fn to_json(&self) -> serde_json::Value {
        self.to_json_within(&mut { Budget::UNBOUNDED })
            .unwrap_or_default()
    }

    /// As [`to_json`](Self::to_json); `None` when the steps run out.
    pub(crate) fn to_json_within(&self, budget: &mut Budget) -> Option<serde_json::Value> {
        budget.take(1)?;
        Some(match self {
            Self::Null | Self::Optional(None) => serde_json::Value::Null,
            Self::Bool(b) => (*b).into(),
            Self::Int(n) => (*n).into(),
            Self::Uint(n) => (*n).into(),
            Self::Double(n) => serde_json::Number::from_f64(*n)
                .map_or_else(|| double_text(*n).into(), serde_json::Value::Number),
            Self::String(s) => {
                budget.take_text(s.as_str().len())?;
                s.as_str().into()
            }
            Self::Bytes(b) => {
                budget.take_text(b.len())?;
                base64::engine::general_purpose::STANDARD.encode(b).into()
            }
            Self::List(List::Json(items)) => {
                items.iter().try_for_each(|item| pay(item, budget))?;
                serde_json::Value::Array((*items).clone())
            }
            Self::List(list) => {
                let items: Option<Vec<_>> = list.iter().map(|v| v.to_json_within(budget)).collect();
                serde_json::Value::Array(items?)
            }
            Self::Map(Map::Json(map)) => {
                map.values().try_for_each(|value| pay(value, budget))?;
                serde_json::Value::Object((*map).clone())
            }
            Self::Map(map) => {
                let mut object = serde_json::Map::new();
                for (key, value) in map.iter() {
                    object.insert(key.to_string(), value.to_json_within(budget)?);
                }
                serde_json::Value::Object(object)
            }
            Self::Timestamp(t) => clock::format_timestamp(t).into(),
            Self::Duration(d) => clock::format_duration(*d).into(),
            Self::Type(t) => t.name().into(),
            Self::Optional(Some(inner)) => inner.to_json_within(budget)?,
        })
    }
}

/// Takes the steps for copying a piece of JSON.
fn pay(json: &serde_json::Value, budget: &mut Budget) -> Option<()> {
    match json {
        serde_json::Value::String(s) => budget.take_text(s.len()),
        serde_json::Value::Array(items) => {
            budget.take(1)?;
            items.iter().try_for_each(|item| pay(item, budget))
        }
        serde_json::Value::Object(map) => {
            budget.take(1)?;
            map.iter().try_for_each(|(key, value)| {
                budget.take_text(key.len())?;
                pay(value, budget)
            })
        }
        _ => budget.take(1),
    }
}
