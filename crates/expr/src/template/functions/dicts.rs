//! Dicts. `set`, `unset` and `merge` change a dict the template made, as in
//! sprig; given caller data they work on a copy, which they return.

use std::collections::BTreeMap;

use super::{ANY, Function, Outcome, list, map, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::{Dict, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    plain("dict", 0, ANY, dict),
    plain("get", 2, 2, |_, a| {
        let found = map(a, 0)?.get(&text(a, 1)?);
        Ok(found.unwrap_or_else(|| String::new().into()))
    }),
    plain("set", 3, 3, |c, a| {
        let dict = writable(c, map(a, 0)?)?;
        dict.borrow_mut()
            .insert(text(a, 1)?.into_owned(), a[2].clone());
        Ok(Value::Dict(dict))
    }),
    plain("unset", 2, 2, |c, a| {
        let dict = writable(c, map(a, 0)?)?;
        dict.borrow_mut().remove(&*text(a, 1)?);
        Ok(Value::Dict(dict))
    }),
    plain("hasKey", 2, 2, |_, a| {
        Ok(map(a, 0)?.get(&text(a, 1)?).is_some().into())
    }),
    plain("pluck", 1, ANY, |c, a| {
        let key = text(a, 0)?;
        let mut found = Vec::new();
        for i in 1..a.len() {
            found.extend(map(a, i)?.get(&key));
        }
        c.list(found)
    }),
    plain("keys", 1, ANY, |c, a| {
        let mut keys = Vec::new();
        for i in 0..a.len() {
            keys.extend(map(a, i)?.keys().unwrap_or_default());
        }
        c.texts(keys)
    }),
    plain("values", 1, 1, |c, a| {
        let map = map(a, 0)?;
        let keys = map.keys().unwrap_or_default();
        c.list(keys.iter().filter_map(|key| map.get(key)).collect())
    }),
    plain("pick", 1, ANY, |c, a| select(c, a, true)),
    plain("omit", 1, ANY, |c, a| select(c, a, false)),
    plain("merge", 1, ANY, |c, a| merged(c, a, false)),
    plain("mergeOverwrite", 1, ANY, |c, a| merged(c, a, true)),
    plain("dig", 3, ANY, dig),
    plain("deepCopy", 1, 1, |c, a| c.copy(&a[0])),
];

fn dict<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    if !args.len().is_multiple_of(2) {
        return Err("a key has no value: give keys and values in turn".into());
    }
    let mut map = BTreeMap::new();
    for pair in args.chunks(2) {
        map.insert(context.printed(&pair[0])?, pair[1].clone());
    }
    context.dict(map)
}

/// The dict itself if the template made it, else a copy of its top level.
fn writable<'a>(context: &Context<'a>, value: &Value<'a>) -> Result<Dict<'a>, Problem> {
    if let Value::Dict(dict) = value {
        return Ok(dict.clone());
    }
    let keys = value.keys().unwrap_or_default();
    let entries = keys.into_iter().filter_map(|key| {
        let entry = value.get(&key)?;
        Some((key.into_owned(), entry))
    });
    match context.dict(entries.collect())? {
        Value::Dict(dict) => Ok(dict),
        other => Err(format!("expected a map, got {}", other.what()).into()),
    }
}

fn select<'a>(context: &Context<'a>, args: &[Value<'a>], wanted: bool) -> Outcome<'a> {
    let source = map(args, 0)?;
    // Keys may be given one by one or as a list.
    let mut names = Vec::new();
    for i in 1..args.len() {
        match args[i].is_list() {
            true => {
                for item in list(args, i)? {
                    names.push(context.printed(&item)?);
                }
            }
            false => names.push(text(args, i)?.into_owned()),
        }
    }
    let mut out = BTreeMap::new();
    for key in source.keys().unwrap_or_default() {
        context.spend(names.len())?;
        if names.iter().any(|name| **name == *key) == wanted
            && let Some(value) = source.get(&key)
        {
            out.insert(key.into_owned(), value);
        }
    }
    context.dict(out)
}

fn merged<'a>(context: &Context<'a>, args: &[Value<'a>], overwrite: bool) -> Outcome<'a> {
    let target = writable(context, map(args, 0)?)?;
    for i in 1..args.len() {
        merge_into(context, &target, map(args, i)?, overwrite, 0)?;
    }
    Ok(Value::Dict(target))
}

/// Fills what is missing or empty in `target`; with `overwrite` the other way
/// round, except that empty values never overwrite. Nested maps are merged.
fn merge_into<'a>(
    context: &Context<'a>,
    target: &Dict<'a>,
    source: &Value<'a>,
    overwrite: bool,
    depth: usize,
) -> Result<(), Problem> {
    if depth >= context.limits.depth {
        return Err(Problem::Limit("the maps are nested too deeply".to_owned()));
    }
    for key in source.keys().unwrap_or_default() {
        context.spend(1)?;
        let Some(new) = source.get(&key) else {
            continue;
        };
        let old = target.borrow().get(&*key).cloned();
        match old {
            Some(old) if old.is_map() && new.is_map() => {
                let inner = writable(context, &old)?;
                merge_into(context, &inner, &new, overwrite, depth + 1)?;
                target
                    .borrow_mut()
                    .insert(key.into_owned(), Value::Dict(inner));
            }
            Some(old) if !old.is_empty() && (!overwrite || new.is_empty()) => {}
            _ => {
                target.borrow_mut().insert(key.into_owned(), new);
            }
        }
    }
    Ok(())
}

/// `dig "a" "b" default map`: the default when a key is missing on the way.
fn dig<'a>(_: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (keys, rest) = args.split_at(args.len() - 2);
    let mut value = map(args, args.len() - 1)?.clone();
    for i in 0..keys.len() {
        match value.get(&text(keys, i)?) {
            Some(found) => value = found,
            None => return Ok(rest[0].clone()),
        }
    }
    Ok(value)
}
