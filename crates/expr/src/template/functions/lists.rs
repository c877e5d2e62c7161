//! Lists. All of these return a new list; none changes its argument.

use super::{ANY, Function, Outcome, count, integer, list, plain};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("list", 0, ANY, |c, a| c.list(a.to_vec())),
    plain("tuple", 0, ANY, |c, a| c.list(a.to_vec())),
    plain("first", 1, 1, |_, a| {
        Ok(list(a, 0)?.into_iter().next().unwrap_or(Value::Nil))
    }),
    plain("last", 1, 1, |_, a| {
        Ok(list(a, 0)?.pop().unwrap_or(Value::Nil))
    }),
    plain("rest", 1, 1, |c, a| {
        c.list(list(a, 0)?.into_iter().skip(1).collect())
    }),
    plain("initial", 1, 1, |c, a| {
        let mut items = list(a, 0)?;
        items.pop();
        c.list(items)
    }),
    plain("append", 2, 2, append),
    plain("push", 2, 2, append),
    plain("prepend", 2, 2, |c, a| {
        let mut items = list(a, 0)?;
        items.insert(0, a[1].clone());
        c.list(items)
    }),
    plain("concat", 0, ANY, |c, a| {
        let mut items = Vec::new();
        for i in 0..a.len() {
            items.extend(list(a, i)?);
            c.spend(items.len())?;
        }
        c.list(items)
    }),
    plain("reverse", 1, 1, |c, a| {
        c.list(list(a, 0)?.into_iter().rev().collect())
    }),
    plain("uniq", 1, 1, |c, a| {
        let mut items: Vec<Value<'_>> = Vec::new();
        for item in list(a, 0)? {
            if !among(c, &items, &item)? {
                items.push(item);
            }
        }
        c.list(items)
    }),
    plain("without", 1, ANY, |c, a| {
        let mut items = Vec::new();
        for item in list(a, 0)? {
            if !among(c, &a[1..], &item)? {
                items.push(item);
            }
        }
        c.list(items)
    }),
    plain("has", 2, 2, |c, a| match &a[1] {
        Value::Nil => Ok(false.into()),
        _ => Ok(among(c, &list(a, 1)?, &a[0])?.into()),
    }),
    plain("compact", 1, 1, |c, a| {
        c.list(
            list(a, 0)?
                .into_iter()
                .filter(|item| !item.is_empty())
                .collect(),
        )
    }),
    plain("chunk", 2, 2, |c, a| {
        let size = count(a, 0)?.max(1);
        let chunks = list(a, 1)?;
        let chunks = chunks.chunks(size).map(|chunk| c.list(chunk.to_vec()));
        c.list(chunks.collect::<Result<_, _>>()?)
    }),
    plain("until", 1, 1, |c, a| {
        let stop = integer(a, 0)?;
        c.list(steps(c, 0, stop, stop.signum())?)
    }),
    plain("untilStep", 3, 3, |c, a| {
        c.list(steps(c, integer(a, 0)?, integer(a, 1)?, integer(a, 2)?)?)
    }),
    plain("seq", 1, 3, seq),
];

fn append<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut items = list(args, 0)?;
    items.push(args[1].clone());
    context.list(items)
}

fn among<'a>(
    context: &Context<'a>,
    items: &[Value<'a>],
    wanted: &Value<'a>,
) -> Result<bool, Problem> {
    for item in items {
        if context.same(item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The numbers from `start` up or down to, but without, `stop`.
fn steps<'a>(
    context: &Context<'a>,
    start: i64,
    stop: i64,
    step: i64,
) -> Result<Vec<Value<'a>>, Problem> {
    let distance = i128::from(stop) - i128::from(start);
    if step == 0 || distance.signum() != i128::from(step.signum()) {
        return Ok(Vec::new());
    }
    let size = i128::from(step).abs();
    let numbers = (distance.abs() + size - 1) / size;
    context.spend(usize::try_from(numbers).unwrap_or(usize::MAX))?;
    let mut items = Vec::new();
    let mut at = i128::from(start);
    while (distance > 0 && at < i128::from(stop)) || (distance < 0 && at > i128::from(stop)) {
        items.push(Value::Int(at as i64));
        at += i128::from(step);
    }
    Ok(items)
}

/// Like the shell's: `seq 5`, `seq 2 5`, `seq 0 2 10`, as text.
fn seq<'a>(context: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (start, step, end) = match args.len() {
        1 => (1, None, integer(args, 0)?),
        2 => (integer(args, 0)?, None, integer(args, 1)?),
        _ => (
            integer(args, 0)?,
            Some(integer(args, 1)?),
            integer(args, 2)?,
        ),
    };
    let direction = if end < start { -1 } else { 1 };
    let step = step.unwrap_or(direction);
    let stop = end.saturating_add(direction);
    let numbers = steps(context, start, stop, step)?;
    let numbers: Vec<String> = numbers
        .iter()
        .map(|n| context.printed(n))
        .collect::<Result<_, _>>()?;
    context.text(numbers.join(" "))
}
