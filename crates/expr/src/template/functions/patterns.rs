//! Regular expressions (RE2 syntax, linear time). A literal pattern is compiled
//! when the template is loaded, any other each time it is used.

use std::borrow::Cow;

use regex::{NoExpand, Regex, RegexBuilder};

use super::{Function, Outcome, PATTERN_SIZE, integer, pattern, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    pattern("regexMatch", 2, |c, a| {
        Ok(compiled(c, a)?.is_match(&text(a, 1)?).into())
    }),
    pattern("regexFind", 2, |c, a| {
        let subject = text(a, 1)?;
        let found = compiled(c, a)?.find(&subject).map_or("", |m| m.as_str());
        c.text(found.to_owned())
    }),
    pattern("regexFindAll", 3, |c, a| {
        let (pattern, subject) = (compiled(c, a)?, text(a, 1)?);
        let limit = usize::try_from(integer(a, 2)?).unwrap_or(usize::MAX);
        c.texts(pattern.find_iter(&subject).take(limit).map(|m| m.as_str()))
    }),
    pattern("regexReplaceAll", 3, |c, a| replaced(c, a, false)),
    pattern("regexReplaceAllLiteral", 3, |c, a| replaced(c, a, true)),
    pattern("regexSplit", 3, |c, a| {
        let (pattern, subject) = (compiled(c, a)?, text(a, 1)?);
        let limit = usize::try_from(integer(a, 2)?).unwrap_or(usize::MAX);
        c.texts(pattern.splitn(&subject, limit))
    }),
    plain("regexQuoteMeta", 1, 1, |c, a| {
        c.text(regex::escape(&text(a, 0)?))
    }),
];

fn compiled<'v>(context: &Context<'_>, args: &'v [Value<'_>]) -> Result<Cow<'v, Regex>, Problem> {
    if let Some(Value::Pattern(pattern)) = args.first() {
        return Ok(Cow::Borrowed(pattern));
    }
    // Compiling costs far more than matching.
    context.spend(1000)?;
    let source = text(args, 0)?;
    match RegexBuilder::new(&source).size_limit(PATTERN_SIZE).build() {
        Ok(pattern) => Ok(Cow::Owned(pattern)),
        Err(e) => Err(format!("bad pattern {source:?}: {e}").into()),
    }
}

fn replaced<'a>(context: &Context<'a>, args: &[Value<'a>], literal: bool) -> Outcome<'a> {
    let (pattern, subject, by) = (compiled(context, args)?, text(args, 1)?, text(args, 2)?);
    let hits = pattern.find_iter(&subject).count();
    // A reference such as $1 writes at most the whole match again.
    let per_hit = by.len()
        + if literal {
            0
        } else {
            by.matches('$').count() * subject.len()
        };
    context.room(subject.len().saturating_add(hits.saturating_mul(per_hit)))?;
    context.text(match literal {
        true => pattern.replace_all(&subject, NoExpand(&by)).into_owned(),
        false => pattern.replace_all(&subject, &*by).into_owned(),
    })
}
