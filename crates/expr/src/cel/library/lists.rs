//! Lists: the lists extension.

use std::cmp::Ordering;

use super::{Builtin, INT, LIST, Outcome};
use crate::cel::error::{Fault, invalid, out_of_range};
use crate::cel::machine::{compare, text_len};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::{List, Value, order};

pub(super) const TABLE: &[Builtin] = &[
    Builtin::member("slice", &[LIST, INT, INT], Type::List, slice),
    Builtin::member("flatten", &[LIST], Type::List, flatten),
    Builtin::member("flatten", &[LIST, INT], Type::List, flatten),
    Builtin::member("distinct", &[LIST], Type::List, distinct),
    Builtin::member("sort", &[LIST], Type::List, sort),
    Builtin::member("first", &[LIST], Type::Optional, first),
    Builtin::member("last", &[LIST], Type::Optional, last),
    Builtin::global("lists.range", &[INT], Type::List, range),
];

pub(super) fn list<'v, 'a>(args: &'v [Value<'a>], i: usize) -> Result<&'v List<'a>, Fault> {
    match args.get(i) {
        Some(Value::List(list)) => Ok(list),
        _ => Err(Fault::Overload),
    }
}

fn slice<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let items = list(args, 0)?;
    let (Value::Int(from), Value::Int(to)) = (&args[1], &args[2]) else {
        return Err(Fault::Overload);
    };
    let bound = |n: i64| usize::try_from(n).ok().filter(|n| *n <= items.len());
    match (bound(*from), bound(*to)) {
        (Some(start), Some(end)) if start <= end => {
            meter.items(end - start)?;
            Ok(Value::list(
                (start..end).filter_map(|i| items.get(i)).collect(),
            ))
        }
        _ => {
            let message = format!(
                "slice({from}, {to}) is out of range for a list of {}",
                items.len()
            );
            Err(out_of_range(message).into())
        }
    }
}

fn flatten<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let depth = match args.get(1) {
        None => 1,
        Some(Value::Int(n)) => {
            u64::try_from(*n).map_err(|_| invalid("flatten needs a depth of zero or more"))?
        }
        Some(_) => return Err(Fault::Overload),
    };
    let mut out = Vec::new();
    flatten_into(meter, list(args, 0)?, depth, &mut out)?;
    Ok(Value::list(out))
}

/// Recursion ends with the data's own nesting.
fn flatten_into<'a>(
    meter: &mut Meter<'_>,
    items: &List<'a>,
    depth: u64,
    out: &mut Vec<Value<'a>>,
) -> Result<(), Fault> {
    for item in items.iter() {
        meter.charge(1)?;
        match (item, depth) {
            (Value::List(inner), 1..) => flatten_into(meter, &inner, depth - 1, out)?,
            (other, _) => out.push(other),
        }
        if out.len() > meter.limits.collection_items {
            meter.items(out.len())?;
        }
    }
    Ok(())
}

fn distinct<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut out: Vec<Value<'a>> = Vec::new();
    'items: for item in list(args, 0)?.iter() {
        for known in &out {
            if compare(known, &item, meter)? {
                continue 'items;
            }
        }
        out.push(item);
    }
    meter.items(out.len())?;
    Ok(Value::list(out))
}

fn sort<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let pairs = list(args, 0)?
        .iter()
        .map(|item| (item.clone(), item))
        .collect();
    sort_pairs(meter, pairs)
}

/// Sorts values by their keys, stably. All keys must be of one ordered type.
pub(crate) fn sort_pairs<'a>(
    meter: &mut Meter<'_>,
    mut pairs: Vec<(Value<'a>, Value<'a>)>,
) -> Outcome<'a> {
    let count = pairs.len();
    meter.items(count)?;
    // Every key is compared about log n times, over its whole text in the worst case.
    let text: usize = pairs.iter().map(|(key, _)| text_len(key)).sum();
    meter.charge(
        (count as u64 + text as u64 / 16).saturating_mul(u64::from(count.max(1).ilog2())),
    )?;
    if let Some((first, _)) = pairs.first() {
        if order(first, first).is_none() {
            return Err(
                invalid(format!("values of type {} have no order", first.type_of())).into(),
            );
        }
        if let Some((other, _)) = pairs
            .iter()
            .find(|(key, _)| key.type_of() != first.type_of())
        {
            let message = format!(
                "cannot sort {} together with {}",
                first.type_of(),
                other.type_of()
            );
            return Err(invalid(message).into());
        }
    }
    // NaN compares to nothing; it keeps its place rather than breaking the sort.
    pairs.sort_by(|(a, _), (b, _)| match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
        (a, b) => order(a, b).flatten().unwrap_or(Ordering::Equal),
    });
    Ok(Value::list(
        pairs.into_iter().map(|(_, value)| value).collect(),
    ))
}

fn first<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(list(args, 0)?.get(0).map_or_else(Value::none, Value::some))
}

fn last<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let items = list(args, 0)?;
    Ok(items
        .len()
        .checked_sub(1)
        .and_then(|i| items.get(i))
        .map_or_else(Value::none, Value::some))
}

fn range<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let Value::Int(n) = &args[0] else {
        return Err(Fault::Overload);
    };
    meter.items(usize::try_from(*n).unwrap_or(0))?;
    Ok(Value::list((0..*n).map(Value::Int).collect()))
}
