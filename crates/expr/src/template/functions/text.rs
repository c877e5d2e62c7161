//! Texts.

use std::collections::BTreeMap;

use super::{ANY, Function, Outcome, count, integer, list, plain, subject_first, text};
use crate::template::context::{Context, Problem};
use crate::template::printf::quote;
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("lower", 1, 1, |c, a| c.text(text(a, 0)?.to_lowercase())),
    plain("upper", 1, 1, |c, a| c.text(text(a, 0)?.to_uppercase())),
    plain("trim", 1, 1, |c, a| c.text(text(a, 0)?.trim().to_owned())),
    plain("trimAll", 2, 2, |c, a| {
        let (set, subject) = (text(a, 0)?, text(a, 1)?);
        c.text(subject.trim_matches(|ch| set.contains(ch)).to_owned())
    }),
    subject_first("trimPrefix", 2, |c, a| {
        let (subject, prefix) = (text(a, 0)?, text(a, 1)?);
        c.text(
            subject
                .strip_prefix(&*prefix)
                .unwrap_or(&subject)
                .to_owned(),
        )
    }),
    subject_first("trimSuffix", 2, |c, a| {
        let (subject, suffix) = (text(a, 0)?, text(a, 1)?);
        c.text(
            subject
                .strip_suffix(&*suffix)
                .unwrap_or(&subject)
                .to_owned(),
        )
    }),
    subject_first("replace", 3, replace),
    subject_first("contains", 2, |_, a| {
        Ok(text(a, 0)?.contains(&*text(a, 1)?).into())
    }),
    subject_first("hasPrefix", 2, |_, a| {
        Ok(text(a, 0)?.starts_with(&*text(a, 1)?).into())
    }),
    subject_first("hasSuffix", 2, |_, a| {
        Ok(text(a, 0)?.ends_with(&*text(a, 1)?).into())
    }),
    plain("quote", 1, ANY, |c, a| quoted(c, a, |s| quote(&s, false))),
    plain("squote", 1, ANY, |c, a| quoted(c, a, |s| format!("'{s}'"))),
    plain("nospace", 1, 1, |c, a| {
        c.text(
            text(a, 0)?
                .chars()
                .filter(|ch| !ch.is_whitespace())
                .collect(),
        )
    }),
    plain("trunc", 2, 2, trunc),
    plain("abbrev", 2, 2, abbrev),
    plain("substr", 3, 3, substr),
    plain("repeat", 2, 2, |c, a| {
        let (times, subject) = (count(a, 0)?, text(a, 1)?);
        c.room(subject.len().saturating_mul(times))?;
        c.text(subject.repeat(times))
    }),
    plain("cat", 0, ANY, cat),
    plain("indent", 2, 2, |c, a| c.text(indented(c, a, "")?)),
    plain("nindent", 2, 2, |c, a| c.text(indented(c, a, "\n")?)),
    plain("plural", 3, 3, |_, a| {
        Ok(a[usize::from(integer(a, 2)? != 1)].clone())
    }),
    plain("split", 2, 2, |c, a| {
        let (separator, subject) = (text(a, 0)?, text(a, 1)?);
        numbered(c, parts(&subject, &separator))
    }),
    plain("splitn", 3, 3, |c, a| {
        let (separator, limit, subject) = (text(a, 0)?, integer(a, 1)?, text(a, 2)?);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        numbered(c, subject.splitn(limit, &*separator).collect())
    }),
    plain("splitList", 2, 2, |c, a| {
        let (separator, subject) = (text(a, 0)?, text(a, 1)?);
        c.texts(parts(&subject, &separator))
    }),
    plain("join", 2, 2, |c, a| {
        let (separator, items) = (text(a, 0)?, words(c, &a[1])?);
        let bytes: usize = items.iter().map(|item| item.len() + separator.len()).sum();
        c.room(bytes)?;
        c.text(items.join(&separator))
    }),
    plain("sortAlpha", 1, 1, |c, a| {
        let mut items = words(c, &a[0])?;
        items.sort_unstable();
        c.texts(items)
    }),
    plain("toStrings", 1, 1, |c, a| c.texts(words(c, &a[0])?)),
    plain("string", 1, 1, |c, a| c.text(c.printed(&a[0])?)),
    plain("toString", 1, 1, |c, a| c.text(c.printed(&a[0])?)),
    plain("base", 1, 1, |c, a| {
        let path = text(a, 0)?;
        let trimmed = path.trim_end_matches('/');
        c.text(match (path.is_empty(), trimmed.is_empty()) {
            (true, _) => ".".to_owned(),
            (false, true) => "/".to_owned(),
            _ => trimmed.rsplit('/').next().unwrap_or(trimmed).to_owned(),
        })
    }),
];

fn replace<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (subject, old, new) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    let hits = match old.is_empty() {
        true => subject.chars().count() + 1,
        false => subject.matches(&*old).count(),
    };
    context.room(subject.len().saturating_add(hits.saturating_mul(new.len())))?;
    context.text(subject.replace(&*old, &new))
}

/// Null arguments are left out, as in sprig.
fn quoted<'a>(
    context: &Context<'a>,
    args: &[Value<'a>],
    quote: fn(String) -> String,
) -> Outcome<'a> {
    let mut out = Vec::new();
    for arg in args.iter().filter(|arg| !matches!(arg, Value::Nil)) {
        out.push(quote(context.printed(arg)?));
    }
    context.text(out.join(" "))
}

/// A byte position moved back to where a character begins, so that cutting
/// never breaks one (Go cuts bytes).
fn boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn trunc<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (size, subject) = (integer(args, 0)?, text(args, 1)?);
    let bytes = usize::try_from(size.unsigned_abs()).unwrap_or(usize::MAX);
    let kept = match size < 0 {
        true if bytes < subject.len() => &subject[boundary(&subject, subject.len() - bytes)..],
        true => &subject,
        false => &subject[..boundary(&subject, bytes)],
    };
    context.text(kept.to_owned())
}

fn abbrev<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (width, subject) = (integer(args, 0)?, text(args, 1)?);
    let width = usize::try_from(width).unwrap_or(0);
    if width < 4 || subject.len() <= width {
        return context.text(subject.into_owned());
    }
    context.text(format!("{}...", &subject[..boundary(&subject, width - 3)]))
}

fn substr<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (start, end, subject) = (integer(args, 0)?, integer(args, 1)?, text(args, 2)?);
    let len = subject.len();
    let clamp = |at: i64| boundary(&subject, usize::try_from(at).unwrap_or(0));
    let (from, to) = match (start, end) {
        (start, end) if start < 0 => (0, clamp(end)),
        (start, end) if end < 0 => (clamp(start), len),
        (start, end) => (clamp(start), clamp(end)),
    };
    if from > to {
        return Err(format!("the range {start} to {end} is empty the wrong way").into());
    }
    context.text(subject[from..to].to_owned())
}

fn cat<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut out = Vec::new();
    for arg in args.iter().filter(|arg| !matches!(arg, Value::Nil)) {
        out.push(context.printed(arg)?);
    }
    context.text(out.join(" "))
}

fn indented(context: &Context<'_>, args: &[Value<'_>], before: &str) -> Result<String, Problem> {
    let (spaces, subject) = (count(args, 0)?, text(args, 1)?);
    let lines = subject.matches('\n').count() + 1;
    context.room(lines.saturating_mul(spaces).saturating_add(subject.len()))?;
    let pad = " ".repeat(spaces);
    Ok(format!(
        "{before}{pad}{}",
        subject.replace('\n', &format!("\n{pad}"))
    ))
}

/// `strings.Split`: an empty separator splits into characters.
fn parts<'t>(subject: &'t str, separator: &str) -> Vec<&'t str> {
    if separator.is_empty() {
        return subject
            .char_indices()
            .map(|(i, c)| &subject[i..i + c.len_utf8()])
            .collect();
    }
    subject.split(separator).collect()
}

fn numbered<'a>(context: &Context<'a>, parts: Vec<&str>) -> Outcome<'a> {
    let parts = parts.into_iter().enumerate();
    let parts = parts.map(|(i, part)| (format!("_{i}"), part.to_owned().into()));
    context.dict(parts.collect::<BTreeMap<_, _>>())
}

/// The items of a list as texts without nulls; anything else is a list of itself.
pub(super) fn words<'a>(context: &Context<'a>, value: &Value<'a>) -> Result<Vec<String>, Problem> {
    let items = match value {
        Value::Nil => Vec::new(),
        value if value.is_list() => list(std::slice::from_ref(value), 0)?,
        value => vec![value.clone()],
    };
    let items = items.iter().filter(|item| !matches!(item, Value::Nil));
    items.map(|item| context.printed(item)).collect()
}
