//! What adapters ask of conditions and other reported objects. Works on any list, bound or computed, with the field
//! spelling of the API (`last_transition_time`) and of Kubernetes (`lastTransitionTime`).

use super::{ANY, Accepts, BOOL, Builtin, INT, Outcome, STRING};
use crate::cel::clock;
use crate::cel::error::{EvalError, Fault};
use crate::cel::meter::Meter;
use crate::cel::typing::Type;
use crate::cel::value::{Key, List, Str, Value};

/// A list; also null or an absent optional, which is how "no conditions yet" arrives.
const CONDITIONS: Accepts = Accepts::only(Type::List).or(Type::Null).or(Type::Optional);

pub(super) const TABLE: &[Builtin] = &[
    Builtin::global(
        "conditionStatus",
        &[CONDITIONS, STRING],
        Type::String,
        condition_status,
    ),
    Builtin::global(
        "conditionAge",
        &[CONDITIONS, STRING],
        Type::Int,
        condition_age,
    )
    .impure(),
    Builtin::global(
        "stableFor",
        &[CONDITIONS, STRING, INT],
        Type::Bool,
        stable_for,
    )
    .impure(),
    Builtin::global(
        "statusFeedbackValue",
        &[ANY, STRING],
        Type::String,
        status_feedback_value,
    ),
    Builtin::global("triState", &[BOOL, BOOL], Type::String, tri_state),
    Builtin::global("dig", &[ANY, STRING], Type::Dyn, dig),
    Builtin::member("dig", &[ANY, STRING], Type::Dyn, dig),
];

/// First element whose `field` is `wanted`.
fn find<'a>(
    meter: &mut Meter<'_>,
    list: &List<'a>,
    field: &'static str,
    wanted: &str,
) -> Result<Option<Value<'a>>, Box<EvalError>> {
    for item in list.iter() {
        meter.charge(1)?;
        meter.read(wanted.len())?;
        if item.field(field).as_ref().and_then(Value::as_str) == Some(wanted) {
            return Ok(Some(item));
        }
    }
    Ok(None)
}

fn condition<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Result<Option<Value<'a>>, Fault> {
    let wanted = args[1].as_str().ok_or(Fault::Overload)?;
    let list = match &args[0] {
        Value::Optional(Some(inner)) => inner,
        other => other,
    };
    match list {
        Value::List(list) => Ok(find(meter, list, "type", wanted)?),
        Value::Null | Value::Optional(None) => Ok(None),
        _ => Err(Fault::Overload),
    }
}

fn condition_status<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let status = condition(meter, args)?.and_then(|c| c.field("status"));
    Ok(match status {
        Some(text @ Value::String(_)) => text,
        _ => Value::str("Unknown"),
    })
}

/// Whole seconds since the last transition; `None` when there is no such condition or no readable time.
fn age(meter: &Meter<'_>, condition: &Value<'_>) -> Option<i64> {
    let time = condition
        .field("last_transition_time")
        .or_else(|| condition.field("lastTransitionTime"))?;
    let time = match &time {
        Value::Timestamp(t) => *t,
        other => clock::parse_timestamp(other.as_str()?)?,
    };
    Some(meter.now.signed_duration_since(time).num_seconds())
}

fn condition_age<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let found = condition(meter, args)?;
    Ok(Value::Int(found.and_then(|c| age(meter, &c)).unwrap_or(-1)))
}

fn stable_for<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let Value::Int(seconds) = &args[2] else {
        return Err(Fault::Overload);
    };
    let stable = condition(meter, args)?.is_some_and(|c| {
        c.field("status").as_ref().and_then(Value::as_str) == Some("True")
            && age(meter, &c).is_some_and(|age| age >= *seconds)
    });
    Ok(Value::Bool(stable))
}

/// `values[].fieldValue.string` of the value with that name, or the empty text.
fn status_feedback_value<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let name = args[1].as_str().ok_or(Fault::Overload)?;
    let feedback = match &args[0] {
        Value::Optional(Some(inner)) => inner,
        other => other,
    };
    let found = match feedback.field("values") {
        Some(Value::List(values)) => find(meter, &values, "name", name)?,
        _ => None,
    };
    let text = found
        .and_then(|v| v.field("fieldValue"))
        .and_then(|v| v.field("string"));
    Ok(text
        .filter(|v| matches!(v, Value::String(_)))
        .unwrap_or(Value::str("")))
}

fn tri_state<'a>(_: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    match (&args[0], &args[1]) {
        (Value::Bool(true), Value::Bool(_)) => Ok(Value::str("True")),
        (Value::Bool(false), Value::Bool(true)) => Ok(Value::str("False")),
        (Value::Bool(false), Value::Bool(false)) => Ok(Value::str("Unknown")),
        _ => Err(Fault::Overload),
    }
}

/// Follows a dotted path through maps and lists; null when something on the way is missing. A key that has dots itself,
/// as those of annotations do, can be the end of the path.
fn dig<'a>(meter: &mut Meter<'_>, args: &[Value<'a>]) -> Outcome<'a> {
    let path = args[1].as_str().ok_or(Fault::Overload)?;
    let key = |text: &str| Key::String(Str::Shared(text.into()));
    let mut at = args[0].clone();
    let mut rest = Some(path);
    while let Some(left) = rest {
        meter.charge(1)?;
        if let Value::Optional(inner) = &at {
            at = inner.as_ref().map_or(Value::Null, |v| (**v).clone());
        }
        let (segment, after) = match left.split_once('.') {
            Some((segment, after)) => (segment, Some(after)),
            None => (left, None),
        };
        if let (Value::Map(map), Some(_)) = (&at, after)
            && let Some(value) = map.get(&key(left))
        {
            return Ok(value);
        }
        let next = match &at {
            Value::Map(map) => map.get(&key(segment)),
            Value::List(list) => segment.parse::<usize>().ok().and_then(|i| list.get(i)),
            _ => None,
        };
        match next {
            Some(value) => at = value,
            None => return Ok(Value::Null),
        }
        rest = after;
    }
    Ok(at)
}
