//! Equality and order. Numbers compare by value across int, uint and double.

use std::cmp::Ordering;

use super::{Map, Value};
use crate::cel::meter::Budget;

/// `==`: values of different types are unequal, never an error.
pub(crate) fn equal<'x>(a: &Value<'x>, b: &Value<'x>) -> bool {
    equal_within(a, b, &mut { Budget::UNBOUNDED }).unwrap_or(false)
}

/// As [`equal`], taking a step for each pair of values; `None` when they run out.
pub(crate) fn equal_within<'x>(a: &Value<'x>, b: &Value<'x>, budget: &mut Budget) -> Option<bool> {
    budget.take(1)?;
    Some(match (a, b) {
        (Value::String(a), Value::String(b)) => {
            same_bytes(a.as_str().as_bytes(), b.as_str().as_bytes(), budget)?
        }
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (Value::Bytes(a), Value::Bytes(b)) => same_bytes(a, b, budget)?,
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Some(false);
            }
            for (a, b) in a.iter().zip(b.iter()) {
                if !equal_within(&a, &b, budget)? {
                    return Some(false);
                }
            }
            true
        }
        (Value::Map(a), Value::Map(b)) => maps_equal(a, b, budget)?,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => equal_within(a, b, budget)?,
        (a, b) => numeric(a, b) == Some(Some(Ordering::Equal)),
    })
}

fn same_bytes(a: &[u8], b: &[u8], budget: &mut Budget) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    budget.take(a.len() as u64 / 16)?;
    Some(a == b)
}

fn maps_equal<'x>(a: &Map<'x>, b: &Map<'x>, budget: &mut Budget) -> Option<bool> {
    if a.len() != b.len() {
        return Some(false);
    }
    for (key, value) in a.iter() {
        let same = match b.get(&key) {
            Some(other) => equal_within(&value, &other, budget)?,
            None => false,
        };
        if !same {
            return Some(false);
        }
    }
    Some(true)
}

/// `<` and its kin: outer `None` when the types have no order, inner `None` when NaN is involved.
pub(crate) fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(Some(a.cmp(b))),
        (Value::Bool(a), Value::Bool(b)) => Some(Some(a.cmp(b))),
        (Value::Bytes(a), Value::Bytes(b)) => Some(Some(a.cmp(b))),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(Some(a.cmp(b))),
        (Value::Duration(a), Value::Duration(b)) => Some(Some(a.cmp(b))),
        (a, b) => numeric(a, b),
    }
}

fn numeric(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        // As cel-go: beyond 2^53 the integer is rounded to the nearest double first.
        (Value::Int(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        (Value::Double(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Uint(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        (Value::Double(a), Value::Uint(b)) => a.partial_cmp(&(*b as f64)),
        _ => return None,
    })
}
