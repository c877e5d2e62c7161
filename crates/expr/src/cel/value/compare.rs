//! Equality and order. Numbers compare by value across int, uint and double.

use std::cmp::Ordering;

use super::{Map, Value};

/// `==`: values of different types are unequal, never an error.
pub(crate) fn equal<'x>(a: &Value<'x>, b: &Value<'x>) -> bool {
    equal_counted(a, b, &mut 0)
}

/// As [`equal`], counting the compared values, because a comparison of big objects must be paid for.
pub(crate) fn equal_counted<'x>(a: &Value<'x>, b: &Value<'x>, visited: &mut u64) -> bool {
    *visited += 1;
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| equal_counted(&a, &b, visited))
        }
        (Value::Map(a), Value::Map(b)) => maps_equal(a, b, visited),
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => equal_counted(a, b, visited),
        (a, b) => numeric(a, b) == Some(Some(Ordering::Equal)),
    }
}

fn maps_equal<'x>(a: &Map<'x>, b: &Map<'x>, visited: &mut u64) -> bool {
    a.len() == b.len()
        && a.iter().all(|(key, value)| {
            b.get(&key)
                .is_some_and(|other| equal_counted(&value, &other, visited))
        })
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
