//! Text: the standard functions and the strings extension. Positions count characters, not bytes.

use super::{Builtin, INT, LIST, Outcome, STRING};
use crate::cel::error::{Fault, invalid, out_of_range};
use crate::cel::meter::Meter;
use crate::cel::pattern::Pattern;
use crate::cel::typing::{Accepts, Type};
use crate::cel::value::Value;

const REVERSIBLE: Accepts = STRING.or(Type::List);

pub(super) const TABLE: &[Builtin] = &[
    Builtin::member("contains", &[STRING, STRING], Type::Bool, contains),
    Builtin::member("startsWith", &[STRING, STRING], Type::Bool, starts_with),
    Builtin::member("endsWith", &[STRING, STRING], Type::Bool, ends_with),
    Builtin::member("matches", &[STRING, STRING], Type::Bool, matches),
    Builtin::global("matches", &[STRING, STRING], Type::Bool, matches),
    Builtin::member("charAt", &[STRING, INT], Type::String, char_at),
    Builtin::member("indexOf", &[STRING, STRING], Type::Int, index_of),
    Builtin::member("indexOf", &[STRING, STRING, INT], Type::Int, index_of),
    Builtin::member("lastIndexOf", &[STRING, STRING], Type::Int, last_index_of),
    Builtin::member(
        "lastIndexOf",
        &[STRING, STRING, INT],
        Type::Int,
        last_index_of,
    ),
    Builtin::member("join", &[LIST], Type::String, join),
    Builtin::member("join", &[LIST, STRING], Type::String, join),
    Builtin::member("lowerAscii", &[STRING], Type::String, lower_ascii),
    Builtin::member("upperAscii", &[STRING], Type::String, upper_ascii),
    Builtin::member("replace", &[STRING, STRING, STRING], Type::String, replace),
    Builtin::member(
        "replace",
        &[STRING, STRING, STRING, INT],
        Type::String,
        replace,
    ),
    Builtin::member("split", &[STRING, STRING], Type::List, split),
    Builtin::member("split", &[STRING, STRING, INT], Type::List, split),
    Builtin::member("substring", &[STRING, INT], Type::String, substring),
    Builtin::member("substring", &[STRING, INT, INT], Type::String, substring),
    Builtin::member("trim", &[STRING], Type::String, trim),
    Builtin::member("reverse", &[REVERSIBLE], Type::Dyn, reverse),
    Builtin::global("strings.quote", &[STRING], Type::String, quote),
];

fn text<'v>(args: &'v [Value<'_>], i: usize) -> Result<&'v str, Fault> {
    args.get(i).and_then(Value::as_str).ok_or(Fault::Overload)
}

/// Receiver and first argument.
fn pair<'v>(args: &'v [Value<'_>]) -> Result<(&'v str, &'v str), Fault> {
    Ok((text(args, 0)?, text(args, 1)?))
}

fn int(args: &[Value<'_>], i: usize) -> Result<Option<i64>, Fault> {
    match args.get(i) {
        None => Ok(None),
        Some(Value::Int(n)) => Ok(Some(*n)),
        Some(_) => Err(Fault::Overload),
    }
}

fn made<'a>(meter: &mut Meter<'_>, text: String) -> Outcome<'a> {
    meter.produce(text.len())?;
    Ok(Value::string(text))
}

fn contains<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, t) = pair(args)?;
    Ok(Value::Bool(s.contains(t)))
}

fn starts_with<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, t) = pair(args)?;
    Ok(Value::Bool(s.starts_with(t)))
}

fn ends_with<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, t) = pair(args)?;
    Ok(Value::Bool(s.ends_with(t)))
}

/// Only computed patterns come here; literal ones are compiled with the expression.
fn matches<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, pattern) = (text(args, 0)?, text(args, 1)?);
    // Compiling costs some hundred times an ordinary step, and far more for a large pattern.
    meter.charge(500 + pattern.len() as u64 * 10)?;
    let pattern = Pattern::new(pattern, meter.limits)?;
    if pattern.is_large() {
        meter.charge(20_000)?;
    }
    let found = pattern.is_match(meter, s)?;
    Ok(Value::Bool(found))
}

/// Byte position of the character at `index`; the end of the text is a position too.
fn position(s: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    s.char_indices()
        .map(|(at, _)| at)
        .chain([s.len()])
        .nth(index)
}

fn outside(index: i64) -> Fault {
    out_of_range(format!("index {index} is outside of the text")).into()
}

fn char_at<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let s = text(args, 0)?;
    let index = int(args, 1)?.ok_or(Fault::Overload)?;
    let at = position(s, index).ok_or_else(|| outside(index))?;
    Ok(Value::string(s[at..].chars().take(1).collect::<String>()))
}

fn index_of<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, t) = pair(args)?;
    let from = int(args, 2)?.unwrap_or(0);
    let start = position(s, from).ok_or_else(|| outside(from))?;
    Ok(found(s, s[start..].find(t).map(|at| start + at)))
}

fn last_index_of<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, t) = pair(args)?;
    let Some(last) = int(args, 2)? else {
        return Ok(found(s, s.rfind(t)));
    };
    let last = position(s, last).ok_or_else(|| outside(last))?;
    // A match starts at `last` at the latest, so it ends on a character boundary at or before this.
    let end = (last + t.len()).min(s.len());
    let end = (0..=end)
        .rev()
        .find(|i| s.is_char_boundary(*i))
        .unwrap_or(0);
    Ok(found(s, s[..end].rfind(t)))
}

fn found<'a>(s: &str, at: Option<usize>) -> Value<'a> {
    Value::Int(at.map_or(-1, |at| s[..at].chars().count() as i64))
}

fn join<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let Value::List(list) = &args[0] else {
        return Err(Fault::Overload);
    };
    let separator = if args.len() > 1 { text(args, 1)? } else { "" };
    let mut out = String::new();
    for (i, item) in list.iter().enumerate() {
        let item = item.as_str().ok_or_else(|| {
            invalid(format!(
                "join needs a list of strings, element {i} is {}",
                item.type_of()
            ))
        })?;
        meter.charge(1)?;
        if i > 0 {
            out.push_str(separator);
        }
        out.push_str(item);
        if out.len() > meter.limits.string_bytes {
            break;
        }
    }
    made(meter, out)
}

fn lower_ascii<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    made(meter, text(args, 0)?.to_ascii_lowercase())
}

fn upper_ascii<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    made(meter, text(args, 0)?.to_ascii_uppercase())
}

fn replace<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, from) = pair(args)?;
    let to = text(args, 2)?;
    let most = int(args, 3)?.unwrap_or(-1);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // The result's length is known before it exists: refuse first, allocate then.
    let hits = s.matches(from).take(most).count();
    meter.produce((s.len() - hits * from.len()).saturating_add(hits.saturating_mul(to.len())))?;
    Ok(Value::string(s.replacen(from, to, most)))
}

fn split<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (s, separator) = pair(args)?;
    let most = int(args, 2)?.unwrap_or(-1);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    if most == 0 {
        return Ok(Value::list(Vec::new()));
    }
    meter.produce(s.len())?;
    let made = |part: &str| Value::string(part.to_owned());
    let parts: Vec<Value<'a>> = if separator.is_empty() {
        split_characters(s, most).map(made).collect()
    } else {
        s.splitn(most, separator).map(made).collect()
    };
    meter.items(parts.len())?;
    Ok(Value::list(parts))
}

/// As Go: an empty separator cuts between characters, the last part takes the rest.
fn split_characters(s: &str, most: usize) -> impl Iterator<Item = &str> {
    let count = s.chars().count().min(most);
    s.char_indices()
        .take(count)
        .enumerate()
        .map(move |(i, (at, c))| {
            if i + 1 == count {
                &s[at..]
            } else {
                &s[at..at + c.len_utf8()]
            }
        })
}

fn substring<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let s = text(args, 0)?;
    let from = int(args, 1)?.ok_or(Fault::Overload)?;
    let start = position(s, from).ok_or_else(|| outside(from))?;
    let end = match int(args, 2)? {
        Some(to) => position(s, to).ok_or_else(|| outside(to))?,
        None => s.len(),
    };
    let part = s
        .get(start..end)
        .ok_or_else(|| out_of_range("substring ends before it starts"))?;
    made(meter, part.to_owned())
}

fn trim<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    made(meter, text(args, 0)?.trim().to_owned())
}

fn reverse<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::String(s) => made(meter, s.as_str().chars().rev().collect()),
        Value::List(list) => {
            meter.items(list.len())?;
            let mut items: Vec<_> = list.iter().collect();
            items.reverse();
            Ok(Value::list(items))
        }
        _ => Err(Fault::Overload),
    }
}

fn quote<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let s = text(args, 0)?;
    let mut out = String::with_capacity(s.len() + 2);
    out.push('"');
    for c in s.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    made(meter, out)
}
