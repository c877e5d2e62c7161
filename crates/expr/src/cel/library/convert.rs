//! Conversions between types, and `size`.

use chrono::{DateTime, Utc};

use super::{ANY, Accepts, Builtin, NUMBER, Outcome};
use crate::cel::clock;
use crate::cel::error::{Fault, invalid, overflow};
use crate::cel::lexer::shorten;
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::Value;

const SIZED: Accepts = Accepts::only(Type::String)
    .or(Type::Bytes)
    .or(Type::List)
    .or(Type::Map);
const TO_INT: Accepts = NUMBER
    .or(Type::String)
    .or(Type::Timestamp)
    .or(Type::Duration);
const TO_NUMBER: Accepts = NUMBER.or(Type::String);
const TO_STRING: Accepts = NUMBER
    .or(Type::String)
    .or(Type::Bytes)
    .or(Type::Bool)
    .or(Type::Timestamp)
    .or(Type::Duration);
const TO_BOOL: Accepts = Accepts::only(Type::Bool).or(Type::String);
const TO_BYTES: Accepts = Accepts::only(Type::Bytes).or(Type::String);
const TO_TIMESTAMP: Accepts = Accepts::only(Type::Timestamp)
    .or(Type::String)
    .or(Type::Int);
const TO_DURATION: Accepts = Accepts::only(Type::Duration).or(Type::String).or(Type::Int);

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("size", &[SIZED], Type::Int, size),
    Builtin::member("size", &[SIZED], Type::Int, size),
    Builtin::global("dyn", &[ANY], Type::Dyn, same),
    Builtin::global("type", &[ANY], Type::Type, type_of),
    Builtin::global("bool", &[TO_BOOL], Type::Bool, to_bool),
    Builtin::global("int", &[TO_INT], Type::Int, to_int),
    Builtin::global("uint", &[TO_NUMBER], Type::Uint, to_uint),
    Builtin::global("double", &[TO_NUMBER], Type::Double, to_double),
    Builtin::global("string", &[TO_STRING], Type::String, to_string),
    Builtin::global("bytes", &[TO_BYTES], Type::Bytes, to_bytes),
    Builtin::global("timestamp", &[TO_TIMESTAMP], Type::Timestamp, to_timestamp),
    Builtin::global("duration", &[TO_DURATION], Type::Duration, to_duration),
];

fn size<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let n = match &args[0] {
        Value::String(s) => s.as_str().chars().count(),
        Value::Bytes(b) => b.len(),
        Value::List(l) => l.len(),
        Value::Map(m) => m.len(),
        _ => return Err(Fault::Overload),
    };
    Ok(Value::Int(n as i64))
}

fn same<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(args[0].clone())
}

fn type_of<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Type(args[0].type_of()))
}

fn to_bool<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bool(b) => Ok(Value::Bool(*b)),
        Value::String(s) => match s.as_str() {
            "1" | "t" | "T" | "true" | "True" | "TRUE" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "False" | "FALSE" => Ok(Value::Bool(false)),
            other => Err(invalid(format!("{} is neither true nor false", quoted(other))).into()),
        },
        _ => Err(Fault::Overload),
    }
}

fn to_int<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let n = match &args[0] {
        Value::Int(n) => *n,
        Value::Uint(n) => {
            i64::try_from(*n).map_err(|_| overflow(format!("{n} is too large for an int")))?
        }
        // The bounds are exclusive: 2^63 - 1 is no double, and its neighbour 2^63 is no int. -2^63 follows cel-go.
        Value::Double(n)
            if *n > -9_223_372_036_854_775_808.0 && *n < 9_223_372_036_854_775_808.0 =>
        {
            *n as i64
        }
        Value::Double(n) => return Err(overflow(format!("{n} is outside of the int range")).into()),
        Value::String(s) => s
            .as_str()
            .parse()
            .map_err(|_| invalid(format!("{} is not an integer", quoted(s.as_str()))))?,
        Value::Timestamp(t) => t.timestamp(),
        Value::Duration(d) => d / clock::NANOS,
        _ => return Err(Fault::Overload),
    };
    Ok(Value::Int(n))
}

fn to_uint<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let n = match &args[0] {
        Value::Uint(n) => *n,
        Value::Int(n) => u64::try_from(*n).map_err(|_| overflow(format!("{n} is negative")))?,
        Value::Double(n) if *n > -1.0 && *n < 18_446_744_073_709_551_616.0 => *n as u64,
        Value::Double(n) => {
            return Err(overflow(format!("{n} is outside of the uint range")).into());
        }
        Value::String(s) => s
            .as_str()
            .parse()
            .map_err(|_| invalid(format!("{} is not an unsigned integer", quoted(s.as_str()))))?,
        _ => return Err(Fault::Overload),
    };
    Ok(Value::Uint(n))
}

fn to_double<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let n = match &args[0] {
        Value::Double(n) => *n,
        Value::Int(n) => *n as f64,
        Value::Uint(n) => *n as f64,
        Value::String(s) => s
            .as_str()
            .parse()
            .map_err(|_| invalid(format!("{} is not a number", quoted(s.as_str()))))?,
        _ => return Err(Fault::Overload),
    };
    Ok(Value::Double(n))
}

fn to_string<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let text = match &args[0] {
        Value::String(_) => return Ok(args[0].clone()),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Uint(n) => n.to_string(),
        Value::Double(n) => double_text(*n),
        Value::Bytes(b) => {
            meter.produce(b.len())?;
            std::str::from_utf8(b)
                .map_err(|_| invalid("the bytes are not UTF-8 text"))?
                .to_owned()
        }
        Value::Timestamp(t) => clock::format_timestamp(t),
        Value::Duration(d) => clock::format_duration(*d),
        _ => return Err(Fault::Overload),
    };
    Ok(Value::string(text))
}

/// Shortest text that reads back as the same double; an exponent only below 1e-4 and from 1e21 on, where Go's `%v`
/// switches too.
pub(crate) fn double_text(n: f64) -> String {
    if n.is_nan() {
        return "NaN".to_owned();
    }
    if n.is_infinite() {
        return if n > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let magnitude = n.abs();
    if magnitude != 0.0 && !(1e-4..1e21).contains(&magnitude) {
        let text = format!("{n:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent
            .strip_prefix('-')
            .map_or(("+", exponent), |d| ("-", d));
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    n.to_string()
}

fn to_bytes<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Bytes(_) => Ok(args[0].clone()),
        Value::String(s) => {
            meter.produce(s.as_str().len())?;
            Ok(Value::Bytes(s.as_str().as_bytes().into()))
        }
        _ => Err(Fault::Overload),
    }
}

fn to_timestamp<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Timestamp(_) => Ok(args[0].clone()),
        Value::String(s) => clock::parse_timestamp(s.as_str())
            .map(Value::Timestamp)
            .ok_or_else(|| {
                invalid(format!(
                    "{} is not an RFC 3339 time such as \"2026-01-31T12:00:00Z\"",
                    quoted(s.as_str())
                ))
                .into()
            }),
        Value::Int(seconds) => DateTime::<Utc>::from_timestamp(*seconds, 0)
            .and_then(clock::in_range)
            .map(Value::Timestamp)
            .ok_or_else(|| {
                overflow(format!(
                    "{seconds} seconds are outside of the years 1 to 9999"
                ))
                .into()
            }),
        _ => Err(Fault::Overload),
    }
}

fn to_duration<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Duration(_) => Ok(args[0].clone()),
        Value::String(s) => clock::parse_duration(s.as_str())
            .map(Value::Duration)
            .ok_or_else(|| {
                invalid(format!(
                    "{} is not a duration such as \"1h30m\" or \"10s\"",
                    quoted(s.as_str())
                ))
                .into()
            }),
        Value::Int(nanos) => Ok(Value::Duration(*nanos)),
        _ => Err(Fault::Overload),
    }
}

/// The text in quotes, cut short: it goes into a message.
fn quoted(text: &str) -> String {
    format!("{:?}", shorten(text))
}
