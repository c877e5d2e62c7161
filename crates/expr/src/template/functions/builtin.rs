//! The functions every Go template has. `and` and `or` are part of the language
//! (they stop early) and live in the executor.

use std::cmp::Ordering;

use super::{ANY, Function, Outcome, integer, plain, text, wrong};
use crate::template::context::{Context, Problem};
use crate::template::printf::sprintf;
use crate::template::value::{Text, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("eq", 2, ANY, eq),
    plain("ne", 2, 2, |c, a| Ok((!equal(c, &a[0], &a[1])?).into())),
    plain("lt", 2, 2, |_, a| ordered(a, |o| o == Ordering::Less)),
    plain("le", 2, 2, |_, a| ordered(a, |o| o != Ordering::Greater)),
    plain("gt", 2, 2, |_, a| ordered(a, |o| o == Ordering::Greater)),
    plain("ge", 2, 2, |_, a| ordered(a, |o| o != Ordering::Less)),
    plain("not", 1, 1, |_, a| Ok((!a[0].truth()).into())),
    plain("len", 1, 1, len),
    plain("index", 1, ANY, index),
    plain("slice", 1, 3, slice),
    plain("print", 0, ANY, |c, a| c.text(sprint(c, a)?)),
    plain("println", 0, ANY, println),
    plain("printf", 1, ANY, |c, a| {
        let format = text(a, 0)?;
        c.text(sprintf(c, &format, &a[1..])?)
    }),
    plain("html", 1, ANY, |c, a| c.text(escaped(&joined(c, a)?, html))),
    plain("js", 1, ANY, |c, a| c.text(escaped(&joined(c, a)?, js))),
    plain("urlquery", 1, ANY, |c, a| c.text(urlquery(&joined(c, a)?))),
];

/// Integers and floats compare by value; Go would refuse to mix them, but our
/// data does not tell 1 from 1.0.
fn equal<'a>(context: &Context<'a>, a: &Value<'a>, b: &Value<'a>) -> Result<bool, Problem> {
    context.spend(1)?;
    match (a, b) {
        (Value::Nil, b) => Ok(matches!(b, Value::Nil)),
        (_, Value::Nil) => Ok(false),
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        (Value::Time(a), Value::Time(b)) => Ok(a == b),
        (a, b) => match a.order(b) {
            Some(order) => Ok(order == Ordering::Equal),
            None if a.number().is_some() && b.number().is_some() => Ok(false),
            None => Err(incomparable(a, b)),
        },
    }
}

fn incomparable(a: &Value<'_>, b: &Value<'_>) -> Problem {
    format!("cannot compare {} with {}", a.what(), b.what()).into()
}

fn eq<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    for other in &args[1..] {
        if equal(context, &args[0], other)? {
            return Ok(true.into());
        }
    }
    Ok(false.into())
}

fn ordered<'a>(args: &[Value<'a>], wanted: fn(Ordering) -> bool) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Time(a), Value::Time(b)) => Ok(wanted(a.cmp(b)).into()),
        (a, b) => match a.order(b) {
            Some(order) => Ok(wanted(order).into()),
            None => Err(incomparable(a, b)),
        },
    }
}

fn len<'a>(_: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    match args[0].len() {
        Some(len) => Ok(Value::Int(len as i64)),
        None => Err(wrong(0, "text, a list or a map", &args[0])),
    }
}

fn index<'a>(_: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut value = args[0].clone();
    for i in 1..args.len() {
        value = match &value {
            map if map.is_map() => match &args[i] {
                Value::Text(key) => map.get(key.as_str()).unwrap_or(Value::Nil),
                other => return Err(wrong(i, "a key", other)),
            },
            Value::Text(_) | Value::Array(_) | Value::List(_) => {
                let (Value::Int(_) | Value::Uint(_)) = &args[i] else {
                    return Err(wrong(i, "an index", &args[i]));
                };
                let at = integer(args, i)?;
                let item = usize::try_from(at).ok().and_then(|at| match &value {
                    Value::Text(t) => t
                        .as_str()
                        .as_bytes()
                        .get(at)
                        .map(|b| Value::Int((*b).into())),
                    list => list.item(at),
                });
                item.ok_or_else(|| Problem::from(format!("the index {at} is out of range")))?
            }
            other => return Err(format!("cannot index {}", other.what()).into()),
        };
    }
    Ok(value)
}

fn slice<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let Some(len) = args[0].len().filter(|_| !args[0].is_map()) else {
        return Err(wrong(0, "text or a list", &args[0]));
    };
    let bound = |i: usize, default: usize| -> Result<usize, Problem> {
        if i >= args.len() {
            return Ok(default);
        }
        let at = integer(args, i)?;
        let fits = usize::try_from(at).ok().filter(|at| *at <= len);
        fits.ok_or_else(|| format!("the index {at} is out of range").into())
    };
    let (from, to) = (bound(1, 0)?, bound(2, len)?);
    if from > to {
        return Err(format!("the range {from} to {to} is empty the wrong way").into());
    }
    match &args[0] {
        Value::Text(Text::Borrowed(text)) => match text.get(from..to) {
            Some(part) => Ok(Value::Text(Text::Borrowed(part))),
            None => Err("the range cuts a character".into()),
        },
        Value::Text(Text::Shared(text)) => match text.get(from..to) {
            Some(part) => context.text(part.to_owned()),
            None => Err("the range cuts a character".into()),
        },
        Value::Array(items) => Ok(Value::Array(&items[from..to])),
        list => context.list(list.items().unwrap_or_default()[from..to].to_vec()),
    }
}

/// `fmt.Sprint`: spaces only between operands of which neither is text.
fn sprint<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Result<String, Problem> {
    let mut out = String::new();
    for (i, arg) in args.iter().enumerate() {
        let texts = |v: &Value<'_>| matches!(v, Value::Text(_));
        if i > 0 && !texts(arg) && !texts(&args[i - 1]) {
            out.push(' ');
        }
        context.print(&mut out, arg)?;
    }
    Ok(out)
}

fn println<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut out = String::new();
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        context.print(&mut out, arg)?;
    }
    out.push('\n');
    context.text(out)
}

/// How the escaping functions see their arguments.
fn joined<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Result<String, Problem> {
    match args {
        [Value::Nil] => Ok("<no value>".to_owned()),
        args => sprint(context, args),
    }
}

fn escaped(text: &str, escape: fn(char) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match escape(c) {
            Some(escape) => out.push_str(escape),
            None => out.push(c),
        }
    }
    out
}

fn html(c: char) -> Option<&'static str> {
    Some(match c {
        '"' => "&#34;",
        '\'' => "&#39;",
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '\0' => "\u{fffd}",
        _ => return None,
    })
}

fn js(c: char) -> Option<&'static str> {
    Some(match c {
        '\\' => "\\\\",
        '\'' => "\\'",
        '"' => "\\\"",
        '<' => "\\u003C",
        '>' => "\\u003E",
        '&' => "\\u0026",
        '=' => "\\u003D",
        '\n' => "\\u000A",
        '\r' => "\\u000D",
        '\t' => "\\u0009",
        _ => return None,
    })
}

fn urlquery(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(b));
            }
            b' ' => out.push('+'),
            b => write!(out, "%{b:02X}").unwrap_or_default(),
        }
    }
    out
}
