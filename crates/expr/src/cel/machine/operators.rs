//! Unary and binary operators, shared with constant folding.

use std::cmp::Ordering;

use chrono::TimeDelta;

use crate::cel::ast::{BinaryOp, UnaryOp};
use crate::cel::clock;
use crate::cel::error::{ErrorKind, EvalError, Fault, overflow};
use crate::cel::machine::text_len;
use crate::cel::meter::Meter;
use crate::cel::value::{Key, List, Value, equal_within, order};

type Result<'a> = std::result::Result<Value<'a>, Fault>;

pub(crate) fn unary<'a>(op: UnaryOp, value: &Value<'a>) -> Result<'a> {
    match (op, value) {
        (UnaryOp::Not, Value::Bool(b)) => Ok(Value::Bool(!b)),
        (UnaryOp::Negate, Value::Int(n)) => int(n.checked_neg()),
        (UnaryOp::Negate, Value::Double(n)) => Ok(Value::Double(-n)),
        (UnaryOp::Negate, Value::Duration(d)) => duration(d.checked_neg()),
        _ => Err(Fault::Overload),
    }
}

pub(crate) fn binary<'a>(
    op: BinaryOp,
    a: &Value<'a>,
    b: &Value<'a>,
    meter: &mut Meter<'_>,
) -> Result<'a> {
    match op {
        BinaryOp::Equal => Ok(Value::Bool(compare(a, b, meter)?)),
        BinaryOp::NotEqual => Ok(Value::Bool(!compare(a, b, meter)?)),
        BinaryOp::Less => relation(a, b, meter, Ordering::is_lt),
        BinaryOp::LessEqual => relation(a, b, meter, Ordering::is_le),
        BinaryOp::Greater => relation(a, b, meter, Ordering::is_gt),
        BinaryOp::GreaterEqual => relation(a, b, meter, Ordering::is_ge),
        BinaryOp::In => contains(a, b, meter),
        BinaryOp::Add => add(a, b, meter),
        BinaryOp::Subtract => subtract(a, b),
        BinaryOp::Multiply => multiply(a, b),
        BinaryOp::Divide => divide(a, b),
        BinaryOp::Remainder => remainder(a, b),
    }
}

/// Equality that is paid for.
pub(crate) fn compare<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    meter: &mut Meter<'_>,
) -> std::result::Result<bool, Box<EvalError>> {
    equal_within(a, b, &mut meter.budget).ok_or_else(|| meter.exhausted())
}

fn relation<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    meter: &mut Meter<'_>,
    holds: fn(Ordering) -> bool,
) -> Result<'a> {
    meter.read(text_len(a).min(text_len(b)))?;
    match order(a, b) {
        Some(ordering) => Ok(Value::Bool(ordering.is_some_and(holds))),
        None => Err(Fault::Overload),
    }
}

fn contains<'a>(needle: &Value<'a>, haystack: &Value<'a>, meter: &mut Meter<'_>) -> Result<'a> {
    match haystack {
        Value::List(list) => {
            for item in list.iter() {
                if compare(needle, &item, meter)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Value::Map(map) => {
            meter.read(text_len(needle))?;
            let found = Key::lookup(needle).is_some_and(|key| map.get(&key).is_some());
            Ok(Value::Bool(found))
        }
        _ => Err(Fault::Overload),
    }
}

fn int<'a>(n: Option<i64>) -> Result<'a> {
    Ok(Value::Int(n.ok_or_else(|| overflow("integer overflow"))?))
}

fn uint<'a>(n: Option<u64>) -> Result<'a> {
    Ok(Value::Uint(
        n.ok_or_else(|| overflow("unsigned integer overflow"))?,
    ))
}

fn duration<'a>(n: Option<i64>) -> Result<'a> {
    Ok(Value::Duration(
        n.ok_or_else(|| overflow("duration out of range"))?,
    ))
}

fn timestamp<'a>(time: Option<chrono::DateTime<chrono::Utc>>) -> Result<'a> {
    let time = time
        .and_then(clock::in_range)
        .ok_or_else(|| overflow("timestamp out of range"))?;
    Ok(Value::Timestamp(time))
}

fn add<'a>(a: &Value<'a>, b: &Value<'a>, meter: &mut Meter<'_>) -> Result<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::String(a), Value::String(b)) => {
            let (a, b) = (a.as_str(), b.as_str());
            meter.produce(a.len() + b.len())?;
            Ok(Value::string([a, b].concat()))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            meter.produce(a.len() + b.len())?;
            Ok(Value::Bytes([&a[..], &b[..]].concat().into()))
        }
        (Value::List(a), Value::List(b)) => concat(a, b, meter),
        (Value::Timestamp(t), Value::Duration(d)) | (Value::Duration(d), Value::Timestamp(t)) => {
            timestamp(t.checked_add_signed(TimeDelta::nanoseconds(*d)))
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_add(*b)),
        _ => Err(Fault::Overload),
    }
}

fn concat<'a>(a: &List<'a>, b: &List<'a>, meter: &mut Meter<'_>) -> Result<'a> {
    if b.is_empty() {
        return Ok(Value::List(a.clone()));
    }
    if a.is_empty() {
        return Ok(Value::List(b.clone()));
    }
    meter.items(a.len() + b.len())?;
    Ok(Value::list(a.iter().chain(b.iter()).collect()))
}

fn subtract<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Timestamp(t), Value::Duration(d)) => {
            timestamp(t.checked_sub_signed(TimeDelta::nanoseconds(*d)))
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            duration(a.signed_duration_since(b).num_nanoseconds())
        }
        (Value::Duration(a), Value::Duration(b)) => duration(a.checked_sub(*b)),
        _ => Err(Fault::Overload),
    }
}

fn multiply<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        _ => Err(Fault::Overload),
    }
}

fn by_zero(what: &str) -> Fault {
    EvalError::new(ErrorKind::DivideByZero, format!("{what} by zero")).into()
}

fn divide<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(by_zero("division"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        _ => Err(Fault::Overload),
    }
}

fn remainder<'a>(a: &Value<'a>, b: &Value<'a>) -> Result<'a> {
    match (a, b) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => {
            Err(by_zero("remainder"))
        }
        (Value::Int(a), Value::Int(b)) => int(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint(a.checked_rem(*b)),
        _ => Err(Fault::Overload),
    }
}
