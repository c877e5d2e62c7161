//! Defaults, choices, and questions about a value's type.

use super::{ANY, Function, Outcome, plain, text};
use crate::template::context::{Context, Problem};
use crate::template::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    plain("default", 2, 2, |_, a| {
        // The adapter's rule: only null and "" are replaced; 0 and false are values.
        let unset = match &a[1] {
            Value::Nil => true,
            Value::Text(text) => text.as_str().is_empty(),
            _ => false,
        };
        Ok(a[usize::from(!unset)].clone())
    }),
    plain("empty", 1, 1, |_, a| Ok(a[0].is_empty().into())),
    plain("coalesce", 0, ANY, |_, a| {
        Ok(a.iter()
            .find(|v| !v.is_empty())
            .cloned()
            .unwrap_or(Value::Nil))
    }),
    plain("all", 0, ANY, |_, a| {
        Ok((!a.iter().any(Value::is_empty)).into())
    }),
    plain("any", 0, ANY, |_, a| {
        Ok(a.iter().any(|v| !v.is_empty()).into())
    }),
    plain("ternary", 3, 3, |_, a| match &a[2] {
        Value::Bool(b) => Ok(a[usize::from(!*b)].clone()),
        other => Err(super::wrong(2, "a bool", other)),
    }),
    plain("fail", 1, 1, |_, a| {
        Err(Problem::Message(text(a, 0)?.into_owned()))
    }),
    plain("required", 2, 2, required),
    plain("kindOf", 1, 1, |c, a| c.text(kind(&a[0]).to_owned())),
    plain("kindIs", 2, 2, |_, a| {
        Ok((text(a, 0)? == kind(&a[1])).into())
    }),
    plain("typeOf", 1, 1, |c, a| c.text(type_of(&a[0]).to_owned())),
    plain("typeIs", 2, 2, |_, a| {
        Ok((text(a, 0)? == type_of(&a[1])).into())
    }),
    plain("deepEqual", 2, 2, |c, a| Ok(c.same(&a[0], &a[1])?.into())),
];

fn required<'a>(_: &Context<'a>, args: &[Value<'a>]) -> Outcome<'a> {
    let missing = match &args[1] {
        Value::Nil => true,
        Value::Text(text) => text.as_str().is_empty(),
        _ => false,
    };
    match missing {
        true => Err(Problem::Message(text(args, 0)?.into_owned())),
        false => Ok(args[1].clone()),
    }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Nil => "invalid",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Uint(_) => "uint64",
        Value::Float(_) => "float64",
        Value::Text(_) | Value::Pattern(_) => "string",
        Value::Array(_) | Value::List(_) => "slice",
        Value::Object(_) | Value::Dict(_) | Value::Roots(_) => "map",
        Value::Time(_) => "struct",
    }
}

fn type_of(value: &Value<'_>) -> &'static str {
    match value {
        Value::Nil => "<nil>",
        Value::Array(_) | Value::List(_) => "[]interface {}",
        Value::Object(_) | Value::Dict(_) | Value::Roots(_) => "map[string]interface {}",
        Value::Time(_) => "time.Time",
        other => kind(other),
    }
}
