//! Optional values.

use super::{ANY, Builtin, LIST, OPTIONAL, Outcome};
use crate::cel::error::{Fault, invalid};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::Value;

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global("optional.of", &[ANY], Type::Optional, of),
    Builtin::global("optional.none", &[], Type::Optional, none),
    Builtin::global(
        "optional.ofNonZeroValue",
        &[ANY],
        Type::Optional,
        of_non_zero_value,
    ),
    Builtin::global("optional.unwrap", &[LIST], Type::List, unwrap),
    Builtin::member("unwrapOpt", &[LIST], Type::List, unwrap),
    Builtin::member("hasValue", &[OPTIONAL], Type::Bool, has_value),
    Builtin::member("value", &[OPTIONAL], Type::Dyn, value),
    Builtin::member("or", &[OPTIONAL, OPTIONAL], Type::Optional, or),
    Builtin::member("orValue", &[OPTIONAL, ANY], Type::Dyn, or_value),
];

fn of<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::some(args[0].clone()))
}

fn none<'a>(_: &mut Meter<'_>, _: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::none())
}

fn of_non_zero_value<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    Ok(if args[0].is_zero() {
        Value::none()
    } else {
        Value::some(args[0].clone())
    })
}

/// The present values of a list of optionals.
fn unwrap<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let mut out = Vec::new();
    for item in super::lists::list(args, 0)?.iter() {
        meter.charge(1)?;
        match item {
            Value::Optional(Some(value)) => out.push((*value).clone()),
            Value::Optional(None) => {}
            _ => return Err(Fault::Overload),
        }
    }
    Ok(Value::list(out))
}

fn has_value<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Optional(inner) => Ok(Value::Bool(inner.is_some())),
        _ => Err(Fault::Overload),
    }
}

fn value<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Optional(Some(inner)) => Ok((**inner).clone()),
        Value::Optional(None) => Err(invalid("the optional value is absent").into()),
        _ => Err(Fault::Overload),
    }
}

fn or<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Optional(Some(_)), _) => Ok(args[0].clone()),
        (Value::Optional(None), Value::Optional(_)) => Ok(args[1].clone()),
        _ => Err(Fault::Overload),
    }
}

fn or_value<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match &args[0] {
        Value::Optional(Some(inner)) => Ok((**inner).clone()),
        Value::Optional(None) => Ok(args[1].clone()),
        _ => Err(Fault::Overload),
    }
}
