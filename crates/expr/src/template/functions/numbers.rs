//! Numbers. Integer functions never wrap: a result that does not fit is an error.

use super::{ANY, Function, Outcome, integer, number, plain};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("int", 1, 1, |_, a| Ok(Value::Int(lenient(a)))),
    plain("int64", 1, 1, |_, a| Ok(Value::Int(lenient(a)))),
    plain("atoi", 1, 1, |_, a| Ok(Value::Int(lenient(a)))),
    plain("float", 1, 1, |_, a| {
        Ok(Value::Float(number(a, 0).unwrap_or(0.0)))
    }),
    plain("float64", 1, 1, |_, a| {
        Ok(Value::Float(number(a, 0).unwrap_or(0.0)))
    }),
    plain("add", 1, ANY, |_, a| fold(a, i64::checked_add)),
    plain("add1", 1, 1, |_, a| {
        fold(&[a[0].clone(), Value::Int(1)], i64::checked_add)
    }),
    plain("sub", 2, 2, |_, a| fold(a, i64::checked_sub)),
    plain("mul", 1, ANY, |_, a| fold(a, i64::checked_mul)),
    plain("div", 2, 2, |_, a| {
        not_zero(a)?;
        fold(a, i64::checked_div)
    }),
    plain("mod", 2, 2, |_, a| {
        not_zero(a)?;
        fold(a, i64::checked_rem)
    }),
    plain("max", 1, ANY, |_, a| fold(a, |x, y| Some(x.max(y)))),
    plain("min", 1, ANY, |_, a| fold(a, |x, y| Some(x.min(y)))),
    plain("addf", 1, ANY, |_, a| fold_f(a, |x, y| x + y)),
    plain("subf", 1, ANY, |_, a| fold_f(a, |x, y| x - y)),
    plain("mulf", 1, ANY, |_, a| fold_f(a, |x, y| x * y)),
    plain("divf", 1, ANY, |_, a| fold_f(a, |x, y| x / y)),
    plain("maxf", 1, ANY, |_, a| fold_f(a, f64::max)),
    plain("minf", 1, ANY, |_, a| fold_f(a, f64::min)),
    plain("floor", 1, 1, |_, a| {
        Ok(Value::Float(number(a, 0)?.floor()))
    }),
    plain("ceil", 1, 1, |_, a| Ok(Value::Float(number(a, 0)?.ceil()))),
    plain("round", 2, 3, round),
];

/// The adapter's rule: what is no number is 0.
fn lenient(args: &[Value<'_>]) -> i64 {
    integer(args, 0).unwrap_or(0)
}

fn fold<'a>(args: &[Value<'a>], step: fn(i64, i64) -> Option<i64>) -> Outcome<'a> {
    let mut total = integer(args, 0)?;
    for i in 1..args.len() {
        total = step(total, integer(args, i)?)
            .ok_or_else(|| Problem::from("the result does not fit into 64 bits"))?;
    }
    Ok(Value::Int(total))
}

fn not_zero(args: &[Value<'_>]) -> Result<(), Problem> {
    match integer(args, 1)? {
        0 => Err("division by zero".into()),
        _ => Ok(()),
    }
}

fn fold_f<'a>(args: &[Value<'a>], step: fn(f64, f64) -> f64) -> Outcome<'a> {
    let mut total = number(args, 0)?;
    for i in 1..args.len() {
        total = step(total, number(args, i)?);
    }
    // Sums of decimal fractions show the decimals people expect: 0.1 + 0.2 is 0.3.
    let tidy = format!("{total:.15}").parse().unwrap_or(total);
    Ok(Value::Float(if total.abs() < 1e3 { tidy } else { total }))
}

fn round<'a>(_: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let (value, places) = (number(args, 0)?, integer(args, 1)?);
    let up_from = if args.len() > 2 {
        number(args, 2)?
    } else {
        0.5
    };
    let power = 10_f64.powi(i32::try_from(places).unwrap_or(0).clamp(-300, 300));
    let scaled = power * value;
    let rounded = if scaled.fract() >= up_from {
        scaled.ceil()
    } else {
        scaled.floor()
    };
    Ok(Value::Float(rounded / power))
}
