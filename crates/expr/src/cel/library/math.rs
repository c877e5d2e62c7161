//! Numbers: the math extension.

use std::cmp::Ordering;

use super::{Accepts, Builtin, DOUBLE, INT, INTEGER, NUMBER, Outcome};
use crate::cel::error::{Fault, invalid, overflow};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::{Value, order};

const NUMBERS: Accepts = NUMBER.or(Type::List);

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("math.greatest", &[NUMBERS], Type::Dyn, greatest).repeating(),
    Builtin::global("math.least", &[NUMBERS], Type::Dyn, least).repeating(),
    Builtin::global("math.ceil", &[DOUBLE], Type::Double, ceil),
    Builtin::global("math.floor", &[DOUBLE], Type::Double, floor),
    Builtin::global("math.round", &[DOUBLE], Type::Double, round),
    Builtin::global("math.trunc", &[DOUBLE], Type::Double, trunc),
    Builtin::global("math.sqrt", &[NUMBER], Type::Double, sqrt),
    Builtin::global("math.abs", &[NUMBER], Type::Dyn, abs),
    Builtin::global("math.sign", &[NUMBER], Type::Dyn, sign),
    Builtin::global("math.isNaN", &[DOUBLE], Type::Bool, is_nan),
    Builtin::global("math.isInf", &[DOUBLE], Type::Bool, is_inf),
    Builtin::global("math.isFinite", &[DOUBLE], Type::Bool, is_finite),
    Builtin::global("math.bitAnd", &[INTEGER, INTEGER], Type::Dyn, bit_and),
    Builtin::global("math.bitOr", &[INTEGER, INTEGER], Type::Dyn, bit_or),
    Builtin::global("math.bitXor", &[INTEGER, INTEGER], Type::Dyn, bit_xor),
    Builtin::global("math.bitNot", &[INTEGER], Type::Dyn, bit_not),
    Builtin::global("math.bitShiftLeft", &[INTEGER, INT], Type::Dyn, shift_left),
    Builtin::global(
        "math.bitShiftRight",
        &[INTEGER, INT],
        Type::Dyn,
        shift_right,
    ),
];

fn greatest<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(meter, args, Ordering::Greater)
}

fn least<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    extreme(meter, args, Ordering::Less)
}

/// The first of the most extreme numbers, of the arguments or of one list.
fn extreme<'a>(meter: &mut Meter<'_>, args: &[Value<'a>], wanted: Ordering) -> Outcome<'a> {
    match args {
        [Value::List(list)] => pick(meter, list.iter(), wanted),
        numbers => pick(meter, numbers.iter().cloned(), wanted),
    }
}

fn pick<'a>(
    meter: &mut Meter<'_>,
    numbers: impl Iterator<Item = Value<'a>>,
    wanted: Ordering,
) -> Outcome<'a> {
    let mut best: Option<Value<'a>> = None;
    for number in numbers {
        meter.charge(1)?;
        if !number.type_of().is_numeric() {
            return Err(Fault::Overload);
        }
        if best
            .as_ref()
            .is_none_or(|b| order(&number, b).flatten() == Some(wanted))
        {
            best = Some(number);
        }
    }
    best.ok_or_else(|| invalid("the list of numbers is empty").into())
}

fn double(args: &[Value<'_>]) -> Result<f64, Fault> {
    match &args[0] {
        Value::Double(n) => Ok(*n),
        _ => Err(Fault::Overload),
    }
}

fn ceil<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(double(args)?.ceil()))
}

fn floor<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(double(args)?.floor()))
}

fn round<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(double(args)?.round()))
}

fn trunc<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Double(double(args)?.trunc()))
}

fn sqrt<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let n = match &args[0] {
        Value::Double(n) => *n,
        Value::Int(n) => *n as f64,
        Value::Uint(n) => *n as f64,
        _ => return Err(Fault::Overload),
    };
    Ok(Value::Double(n.sqrt()))
}

fn abs<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Int(n) => Ok(Value::Int(
            n.checked_abs()
                .ok_or_else(|| overflow("integer overflow"))?,
        )),
        Value::Uint(n) => Ok(Value::Uint(*n)),
        Value::Double(n) => Ok(Value::Double(n.abs())),
        _ => Err(Fault::Overload),
    }
}

fn sign<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Int(n) => Ok(Value::Int(n.signum())),
        Value::Uint(n) => Ok(Value::Uint((*n).min(1))),
        Value::Double(n) if *n == 0.0 || n.is_nan() => Ok(Value::Double(*n)),
        Value::Double(n) => Ok(Value::Double(n.signum())),
        _ => Err(Fault::Overload),
    }
}

fn is_nan<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(double(args)?.is_nan()))
}

fn is_inf<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(double(args)?.is_infinite()))
}

fn is_finite<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(double(args)?.is_finite()))
}

fn bits<'a>(args: &[Value<'a>], combine: fn(u64, u64) -> u64) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Int(a), Value::Int(b)) => Ok(Value::Int(combine(*a as u64, *b as u64) as i64)),
        (Value::Uint(a), Value::Uint(b)) => Ok(Value::Uint(combine(*a, *b))),
        _ => Err(Fault::Overload),
    }
}

fn bit_and<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    bits(args, |a, b| a & b)
}

fn bit_or<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    bits(args, |a, b| a | b)
}

fn bit_xor<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    bits(args, |a, b| a ^ b)
}

fn bit_not<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Int(n) => Ok(Value::Int(!n)),
        Value::Uint(n) => Ok(Value::Uint(!n)),
        _ => Err(Fault::Overload),
    }
}

/// Shifts the bit pattern: the sign bit is no exception, and 64 places leave nothing.
fn shift<'a>(args: &[Value<'a>], by: fn(u64, u32) -> Option<u64>) -> Outcome<'a> {
    let Value::Int(places) = &args[1] else {
        return Err(Fault::Overload);
    };
    let places = u32::try_from(*places.min(&64))
        .map_err(|_| invalid("cannot shift by a negative number"))?;
    match &args[0] {
        Value::Int(n) => Ok(Value::Int(by(*n as u64, places).unwrap_or(0) as i64)),
        Value::Uint(n) => Ok(Value::Uint(by(*n, places).unwrap_or(0))),
        _ => Err(Fault::Overload),
    }
}

fn shift_left<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    shift(args, u64::checked_shl)
}

fn shift_right<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    shift(args, u64::checked_shr)
}
