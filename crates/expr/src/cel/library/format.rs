//! `"…%s…".format([args])`.

use super::{Builtin, LIST, Outcome, STRING};
use crate::cel::clock;
use crate::cel::error::{EvalError, Fault, invalid};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::{List, Value};

pub(super) const TABLE: &[Builtin] = &[Builtin::member(
    "format",
    &[STRING, LIST],
    Type::String,
    format,
)];

type Text = Result<String, Box<EvalError>>;

fn format<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (Value::String(pattern), Value::List(values)) = (&args[0], &args[1]) else {
        return Err(Fault::Overload);
    };
    let out = expand(meter, pattern.as_str(), values)?;
    Ok(Value::string(out))
}

fn expand(meter: &mut Meter<'_>, pattern: &str, values: &List<'_>) -> Text {
    let mut out = String::new();
    let mut rest = pattern;
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(tail) = rest.strip_prefix('%') {
            out.push('%');
            rest = tail;
            continue;
        }
        let (precision, tail) = precision(rest)?;
        let verb = tail
            .chars()
            .next()
            .ok_or_else(|| invalid("the format ends with a lone `%`"))?;
        rest = &tail[verb.len_utf8()..];
        let value = values
            .get(next)
            .ok_or_else(|| invalid(format!("the format needs more than {next} arguments")))?;
        next += 1;
        let text = clause(verb, precision, &value)?;
        meter.produce(out.len() + text.len())?;
        out.push_str(&text);
    }
    out.push_str(rest);
    meter.produce(out.len())?;
    Ok(out)
}

/// `.3` of `%.3f`.
fn precision(rest: &str) -> Result<(Option<usize>, &str), Box<EvalError>> {
    let Some(digits) = rest.strip_prefix('.') else {
        return Ok((None, rest));
    };
    let len = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    match digits[..len].parse::<usize>() {
        Ok(n) if n <= 100 => Ok((Some(n), &digits[len..])),
        _ => Err(invalid(
            "the precision of a format must be a number up to 100",
        )),
    }
}

fn clause(verb: char, precision: Option<usize>, value: &Value<'_>) -> Text {
    let text = match (verb, value) {
        ('s', value) => plain(value),
        ('d', Value::Int(n)) => Some(n.to_string()),
        ('d', Value::Uint(n)) => Some(n.to_string()),
        ('d', Value::Double(n)) => Some(unusual(*n).unwrap_or_else(|| n.to_string())),
        ('f', value) => number(value)
            .map(|n| unusual(n).unwrap_or_else(|| format!("{n:.*}", precision.unwrap_or(6)))),
        ('e', value) => number(value)
            .map(|n| unusual(n).unwrap_or_else(|| scientific(n, precision.unwrap_or(6)))),
        ('b', Value::Bool(b)) => Some(u8::from(*b).to_string()),
        ('b', value) => radix(value, |n| format!("{n:b}")),
        ('o', value) => radix(value, |n| format!("{n:o}")),
        ('x', Value::String(s)) => Some(hex(s.as_str().as_bytes())),
        ('x', Value::Bytes(b)) => Some(hex(b)),
        ('x', value) => radix(value, |n| format!("{n:x}")),
        ('X', Value::String(s)) => Some(hex(s.as_str().as_bytes()).to_uppercase()),
        ('X', Value::Bytes(b)) => Some(hex(b).to_uppercase()),
        ('X', value) => radix(value, |n| format!("{n:X}")),
        (other, _) => return Err(invalid(format!("unknown format `%{other}`"))),
    };
    text.ok_or_else(|| {
        invalid(format!(
            "`%{verb}` cannot show a value of type {}",
            value.type_of()
        ))
    })
}

fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(n) => Some(*n),
        Value::Int(n) => Some(*n as f64),
        Value::Uint(n) => Some(*n as f64),
        _ => None,
    }
}

fn unusual(n: f64) -> Option<String> {
    if n.is_nan() {
        Some("NaN".to_owned())
    } else if n.is_infinite() {
        Some(if n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned())
    } else {
        None
    }
}

fn scientific(n: f64, precision: usize) -> String {
    let text = format!("{n:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent
        .strip_prefix('-')
        .map_or(('+', exponent), |d| ('-', d));
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn radix(value: &Value<'_>, show: fn(u64) -> String) -> Option<String> {
    match value {
        Value::Int(n) if *n < 0 => Some(format!("-{}", show(n.unsigned_abs()))),
        Value::Int(n) => Some(show(n.unsigned_abs())),
        Value::Uint(n) => Some(show(*n)),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// `%s`: every type has a plain form; maps are in the order of their keys' text.
fn plain(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Uint(n) => n.to_string(),
        Value::Double(n) => unusual(*n).unwrap_or_else(|| n.to_string()),
        Value::String(s) => s.as_str().to_owned(),
        Value::Bytes(b) => String::from_utf8_lossy(b).into_owned(),
        Value::Timestamp(t) => clock::format_timestamp(t),
        Value::Duration(d) => clock::format_duration(*d),
        Value::Type(t) => t.name().to_owned(),
        Value::List(list) => {
            let items: Option<Vec<_>> = list.iter().map(|v| plain(&v)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, value) in map.iter() {
                entries.push((key.to_string(), plain(&value)?));
            }
            entries.sort();
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(k, v)| format!("{k}: {v}"))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Optional(_) => return None,
    })
}
