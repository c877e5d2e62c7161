//! What expr-lang does and CEL does not, as functions.

use std::cmp::Ordering;

use crate::cel::{Environment, ErrorKind, EvalError, Function, Key, Type, Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// Adds the functions that lowered rules call. Their names begin with two
/// underscores, which no rule can spell as a call.
pub(super) fn functions(environment: Environment) -> Environment {
    environment
        .with_function(Function::new("__get", 2, |c| {
            get(&c.args()[0], &c.args()[1])
        }))
        .with_function(Function::new("__get_safe", 2, |c| match &c.args()[0] {
            Value::Null => Ok(Value::Null),
            base => get(base, &c.args()[1]),
        }))
        .with_function(
            Function::new("__list", 1, |c| match &c.args()[0] {
                list @ Value::List(_) => Ok(list.clone()),
                other => Err(wrong(format!("expected a list, not {}", what(other)))),
            })
            .returning(Type::List),
        )
        .with_function(Function::new("__len", 1, |c| len(&c.args()[0])).returning(Type::Int))
        .with_function(Function::new("__first", 1, |c| at(&c.args()[0], 0)))
        .with_function(Function::new("__last", 1, |c| at(&c.args()[0], -1)))
        .with_function(Function::new("__sum", 1, |c| sum(&c.args()[0])))
        .with_function(
            Function::new("__lower", 1, |c| text(&c.args()[0], str::to_lowercase))
                .returning(Type::String),
        )
        .with_function(
            Function::new("__upper", 1, |c| text(&c.args()[0], str::to_uppercase))
                .returning(Type::String),
        )
        .with_function(
            Function::new("__trim", 1, |c| text(&c.args()[0], |s| s.trim().to_owned()))
                .returning(Type::String),
        )
        .with_function(
            Function::new("__in", 2, |c| contained(&c.args()[0], &c.args()[1]))
                .returning(Type::Bool),
        )
        .with_function(order("__less", |o| o == Ordering::Less))
        .with_function(order("__less_or_equal", |o| o != Ordering::Greater))
        .with_function(Function::new("__negate", 1, |c| {
            arithmetic(
                &Value::Int(0),
                &c.args()[0],
                "-",
                i64::checked_sub,
                |a, b| a - b,
            )
        }))
        .with_function(Function::new("__add", 2, |c| {
            match (&c.args()[0], &c.args()[1]) {
                (Value::String(a), Value::String(b)) => {
                    Ok(Value::string(format!("{}{}", a.as_str(), b.as_str())))
                }
                (a, b) => arithmetic(a, b, "+", i64::checked_add, |a, b| a + b),
            }
        }))
        .with_function(binary("__subtract", "-", i64::checked_sub, |a, b| a - b))
        .with_function(binary("__multiply", "*", i64::checked_mul, |a, b| a * b))
        .with_function(Function::new("__divide", 2, |c| {
            match (number(&c.args()[0]), number(&c.args()[1])) {
                (Some(a), Some(b)) => Ok(Value::Double(a / b)),
                _ => Err(no_operator("/", &c.args()[0], &c.args()[1])),
            }
        }))
        .with_function(Function::new("__remainder", 2, |c| {
            match (&c.args()[0], &c.args()[1]) {
                (Value::Int(_), Value::Int(0)) => {
                    Err(EvalError::new(ErrorKind::DivideByZero, "division by zero"))
                }
                (Value::Int(a), Value::Int(b)) => Ok(Value::Int(a.checked_rem(*b).unwrap_or(0))),
                (a, b) => Err(no_operator("%", a, b)),
            }
        }))
        .with_function(Function::new("__power", 2, |c| {
            match (number(&c.args()[0]), number(&c.args()[1])) {
                (Some(a), Some(b)) => Ok(Value::Double(a.powf(b))),
                _ => Err(no_operator("**", &c.args()[0], &c.args()[1])),
            }
        }))
}

fn wrong(message: String) -> EvalError {
    EvalError::new(ErrorKind::NoSuchOverload, message)
}

fn what(value: &Value<'_>) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        other => other.type_of().to_string(),
    }
}

fn no_operator(operator: &str, a: &Value<'_>, b: &Value<'_>) -> EvalError {
    wrong(format!(
        "`{operator}` does not work on {} and {}",
        what(a),
        what(b)
    ))
}

/// A missing key is nil; nil itself has no fields.
fn get<'a>(base: &Value<'a>, key: &Value<'a>) -> Outcome<'a> {
    match (base, key) {
        (Value::Map(map), Value::String(name)) => {
            Ok(map.get(&Key::String(name.clone())).unwrap_or(Value::Null))
        }
        (Value::List(_), Value::Int(index)) => at(base, *index),
        (Value::Null, Value::String(name)) => Err(EvalError::new(
            ErrorKind::NoSuchKey,
            format!("nil has no field `{}`", name.as_str()),
        )),
        (base, key) => Err(wrong(format!(
            "{} cannot be indexed by {}",
            what(base),
            what(key)
        ))),
    }
}

/// The element at an index, from the end if negative; nil if there is none.
fn at<'a>(list: &Value<'a>, index: i64) -> Outcome<'a> {
    let Value::List(list) = list else {
        return Err(wrong(format!("expected a list, not {}", what(list))));
    };
    let index = if index < 0 {
        index + list.len() as i64
    } else {
        index
    };
    let item = usize::try_from(index)
        .ok()
        .and_then(|index| list.get(index));
    Ok(item.unwrap_or(Value::Null))
}

fn len<'a>(value: &Value<'a>) -> Outcome<'a> {
    let len = match value {
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        Value::String(text) => text.as_str().chars().count(),
        other => return Err(wrong(format!("{} has no length", what(other)))),
    };
    Ok(Value::Int(len as i64))
}

fn text<'a>(value: &Value<'a>, change: fn(&str) -> String) -> Outcome<'a> {
    match value {
        Value::String(text) => Ok(Value::string(change(text.as_str()))),
        other => Err(wrong(format!("expected text, not {}", what(other)))),
    }
}

fn sum<'a>(list: &Value<'a>) -> Outcome<'a> {
    let Value::List(list) = list else {
        return Err(wrong(format!("expected a list, not {}", what(list))));
    };
    let mut total = Value::Int(0);
    for item in list.iter() {
        total = arithmetic(&total, &item, "+", i64::checked_add, |a, b| a + b)?;
    }
    Ok(total)
}

fn contained<'a>(item: &Value<'a>, collection: &Value<'a>) -> Outcome<'a> {
    Ok(Value::Bool(match (item, collection) {
        (_, Value::Null) => false,
        (item, Value::List(list)) => list.iter().any(|other| equal(item, &other)),
        (Value::String(key), Value::Map(map)) => map.get(&Key::String(key.clone())).is_some(),
        (item, other) => return Err(no_operator("in", item, other)),
    }))
}

fn equal<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b,
        (a, b) => match (number(a), number(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a.to_json() == b.to_json(),
        },
    }
}

fn compared(a: &Value<'_>, b: &Value<'_>) -> Result<Option<Ordering>, EvalError> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Some(a.cmp(b))),
        (Value::String(a), Value::String(b)) => Ok(Some(a.cmp(b))),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(Some(a.cmp(b))),
        (Value::Duration(a), Value::Duration(b)) => Ok(Some(a.cmp(b))),
        (a, b) => match (number(a), number(b)) {
            (Some(a), Some(b)) => Ok(a.partial_cmp(&b)),
            _ => Err(wrong(format!("{} and {} have no order", what(a), what(b)))),
        },
    }
}

/// Ordering by nil is false rather than an error.
fn order(name: &'static str, wanted: fn(Ordering) -> bool) -> Function {
    let body = move |a: &Value<'_>, b: &Value<'_>| match (a, b) {
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (a, b) => compared(a, b).map(|order| order.is_some_and(wanted)),
    };
    Function::new(name, 2, move |c| {
        Ok(Value::Bool(body(&c.args()[0], &c.args()[1])?))
    })
    .returning(Type::Bool)
}

fn binary(
    name: &'static str,
    symbol: &'static str,
    whole: fn(i64, i64) -> Option<i64>,
    float: fn(f64, f64) -> f64,
) -> Function {
    Function::new(name, 2, move |c| {
        arithmetic(&c.args()[0], &c.args()[1], symbol, whole, float)
    })
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(i) => Some(*i as f64),
        Value::Uint(u) => Some(*u as f64),
        Value::Double(f) => Some(*f),
        _ => None,
    }
}

/// Integers stay integers, anything with a float is a float.
fn arithmetic<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    symbol: &str,
    whole: fn(i64, i64) -> Option<i64>,
    float: fn(f64, f64) -> f64,
) -> Outcome<'a> {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        return whole(*a, *b)
            .map(Value::Int)
            .ok_or_else(|| EvalError::new(ErrorKind::Overflow, "the number is too large"));
    }
    match (number(a), number(b)) {
        (Some(a), Some(b)) => Ok(Value::Double(float(a, b))),
        _ => Err(no_operator(symbol, a, b)),
    }
}
