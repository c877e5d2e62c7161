//! The condition of `[?(…)]`.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value as Json;

use super::{Step, find, one_or_many};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    Or(Vec<Filter>),
    And(Vec<Filter>),
    Not(Box<Filter>),
    Compare(Operand, Operator, Operand),
    /// `@.name` alone: the item has it.
    Exists(Operand),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// `@…`: from the item.
    Item(Vec<Step>),
    Literal(Json),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Operand {
    fn value<'a>(&'a self, item: &'a Json) -> Option<Cow<'a, Json>> {
        match self {
            Operand::Item(steps) => one_or_many(find(steps, vec![item])),
            Operand::Literal(value) => Some(Cow::Borrowed(value)),
        }
    }
}

impl Filter {
    pub(super) fn accepts(&self, item: &Json) -> bool {
        match self {
            Filter::Or(parts) => parts.iter().any(|part| part.accepts(item)),
            Filter::And(parts) => parts.iter().all(|part| part.accepts(item)),
            Filter::Not(part) => !part.accepts(item),
            Filter::Exists(operand) => operand.value(item).is_some(),
            Filter::Compare(left, operator, right) => match (left.value(item), right.value(item)) {
                (Some(left), Some(right)) => holds(&left, *operator, &right),
                _ => false,
            },
        }
    }
}

fn holds(left: &Json, operator: Operator, right: &Json) -> bool {
    let order = order(left, right);
    match operator {
        Operator::Equal => order == Some(Ordering::Equal) || left == right,
        Operator::NotEqual => order != Some(Ordering::Equal) && left != right,
        Operator::Less => order == Some(Ordering::Less),
        Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Operator::Greater => order == Some(Ordering::Greater),
        Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Number(a), Json::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}
