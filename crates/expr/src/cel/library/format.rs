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

fn format<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (Value::String(pattern), Value::List(values)) = (&args[0], &args[1]) else {
        return Err(Fault::Overload);
    };
    let mut out = Output {
        text: String::new(),
        meter,
    };
    out.expand(pattern.as_str(), values)?;
    Ok(Value::string(out.text))
}

/// Text that is paid and bounded while it grows: shared parts of a value may be written out many times.
struct Output<'m, 'l> {
    text: String,
    meter: &'m mut Meter<'l>,
}

impl Output<'_, '_> {
    fn push(&mut self, text: &str) -> Result<(), Box<EvalError>> {
        self.meter.read(text.len())?;
        if self.text.len() + text.len() > self.meter.limits.string_bytes {
            return self.meter.produce(self.text.len() + text.len());
        }
        self.text.push_str(text);
        Ok(())
    }

    fn expand(&mut self, pattern: &str, values: &List<'_>) -> Result<(), Box<EvalError>> {
        let mut rest = pattern;
        let mut next = 0;
        while let Some(at) = rest.find('%') {
            self.push(&rest[..at])?;
            rest = &rest[at + 1..];
            if let Some(tail) = rest.strip_prefix('%') {
                self.push("%")?;
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
            match verb {
                's' => self.plain(&value)?,
                _ => self.push(&clause(verb, precision, &value)?)?,
            }
        }
        self.push(rest)
    }

    /// `%s`: every type but optionals has a plain form; maps are in the order of their keys' text.
    fn plain(&mut self, value: &Value<'_>) -> Result<(), Box<EvalError>> {
        self.meter.charge(1)?;
        match value {
            Value::Null => self.push("null"),
            Value::Bool(b) => self.push(if *b { "true" } else { "false" }),
            Value::Int(n) => self.push(&n.to_string()),
            Value::Uint(n) => self.push(&n.to_string()),
            Value::Double(n) => self.push(&unusual(*n).unwrap_or_else(|| n.to_string())),
            Value::String(s) => self.push(s.as_str()),
            Value::Bytes(b) => self.push(&String::from_utf8_lossy(b)),
            Value::Timestamp(t) => self.push(&clock::format_timestamp(t)),
            Value::Duration(d) => self.push(&clock::format_duration(*d)),
            Value::Type(t) => self.push(t.name()),
            Value::List(list) => {
                self.push("[")?;
                for (i, item) in list.iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" })?;
                    self.plain(&item)?;
                }
                self.push("]")
            }
            Value::Map(map) => {
                let mut entries: Vec<_> = map
                    .iter()
                    .map(|(key, value)| (key.to_string(), value))
                    .collect();
                entries.sort_by(|(a, _), (b, _)| a.cmp(b));
                self.push("{")?;
                for (i, (key, item)) in entries.iter().enumerate() {
                    self.push(if i > 0 { ", " } else { "" })?;
                    self.push(key)?;
                    self.push(": ")?;
                    self.plain(item)?;
                }
                self.push("}")
            }
            Value::Optional(_) => Err(invalid("`%s` cannot show an optional value")),
        }
    }
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

fn clause(
    verb: char,
    precision: Option<usize>,
    value: &Value<'_>,
) -> Result<String, Box<EvalError>> {
    let text = match (verb, value) {
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
