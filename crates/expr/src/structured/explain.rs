//! Outcomes in words.

use serde_json::Value as Json;

use super::{Condition, Operator};

/// Longer values are cut; hiding secrets is up to who knows the keys.
const SHOWN: usize = 200;

pub(super) fn explain(condition: &Condition, seen: Option<&Json>, met: bool) -> String {
    let is = is(condition, seen);
    if met {
        return is;
    }
    let value = shown(&condition.value);
    match condition.operator {
        Operator::Equals => format!("{is}, wanted {value}"),
        Operator::NotEquals => format!("{is}, wanted anything else"),
        Operator::In => format!("{is}, wanted one of {value}"),
        Operator::NotIn => format!("{is}, wanted none of {value}"),
        Operator::Contains => format!("{is}, wanted it to contain {value}"),
        Operator::Exists => format!("{is}, wanted a value"),
        Operator::NotExists => format!("{is}, wanted none"),
        Operator::GreaterThan => format!("{is}, wanted more than {value}"),
        Operator::LessThan => format!("{is}, wanted less than {value}"),
        Operator::GreaterThanOrEqual => format!("{is}, wanted at least {value}"),
        Operator::LessThanOrEqual => format!("{is}, wanted at most {value}"),
    }
}

/// The field holds a kind of value the operator does not work on.
pub(super) fn unfit(condition: &Condition, seen: Option<&Json>) -> String {
    let field = &condition.field;
    let operator = condition.operator.name();
    match seen {
        None => format!("not met: field {field} is missing"),
        Some(Json::Null) => format!("not met: field {field} is null"),
        Some(value) => {
            let kind = match value {
                Json::String(_) => "text",
                Json::Bool(_) => "a bool",
                Json::Number(_) => "a number",
                Json::Array(_) => "a list",
                _ => "a map",
            };
            format!(
                "{}, which is {kind}; {operator} does not work on that",
                is(condition, seen)
            )
        }
    }
}

fn is(condition: &Condition, seen: Option<&Json>) -> String {
    match seen {
        None => format!("{} is missing", condition.field),
        Some(value) => format!("{} is {}", condition.field, shown(value)),
    }
}

fn shown(value: &Json) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head}…")
}
