//! Lists as sets.

use super::lists::list;
use super::{Builtin, LIST, Outcome};
use crate::cel::error::EvalError;
use crate::cel::machine::compare;
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::{List, Value};

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("sets.contains", &[LIST, LIST], Type::Bool, contains),
    Builtin::global("sets.equivalent", &[LIST, LIST], Type::Bool, equivalent),
    Builtin::global("sets.intersects", &[LIST, LIST], Type::Bool, intersects),
];

fn has<'a>(
    meter: &mut Meter<'_>,
    set: &List<'a>,
    wanted: &Value<'a>,
) -> Result<bool, Box<EvalError>> {
    for item in set.iter() {
        if compare(&item, wanted, meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn covers<'a>(
    meter: &mut Meter<'_>,
    set: &List<'a>,
    subset: &List<'a>,
) -> Result<bool, Box<EvalError>> {
    for item in subset.iter() {
        if !has(meter, set, &item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn contains<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::Bool(covers(meter, list(args, 0)?, list(args, 1)?)?))
}

fn equivalent<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (a, b) = (list(args, 0)?, list(args, 1)?);
    Ok(Value::Bool(covers(meter, a, b)? && covers(meter, b, a)?))
}

fn intersects<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let (a, b) = (list(args, 0)?, list(args, 1)?);
    for item in a.iter() {
        if has(meter, b, &item)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}
