//! What a search says of one resource, in memory.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

use super::decimal::{self, Decimal};
use super::expr::{Check, Comparison, Expr, Literal, Test};
use super::field::{ConditionPart, Field};
use super::like;
use crate::column::Column;
use crate::resource::Resource;
use crate::time::Time;

/// `None` is SQL's NULL.
pub(super) fn truth(expr: &Expr, resource: &Resource) -> Option<bool> {
    match expr {
        Expr::And(terms) => all(terms.iter().map(|term| truth(term, resource))),
        Expr::Or(terms) => any(terms.iter().map(|term| truth(term, resource))),
        Expr::Not(term) => truth(term, resource).map(|truth| !truth),
        Expr::Test(test) => check(test, resource),
    }
}

fn all(terms: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(terms.map(|term| term.map(|truth| !truth))).map(|truth| !truth)
}

/// True if one is, else unknown if one is.
fn any(mut terms: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut unknown = false;
    let found = terms.any(|term| {
        unknown |= term.is_none();
        term == Some(true)
    });
    match (found, unknown) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    }
}

fn check(test: &Test, resource: &Resource) -> Option<bool> {
    let compared = |comparison: Comparison, literal: &Literal| {
        compare(&test.field, resource, literal).map(|ordering| comparison.holds(ordering))
    };
    match &test.check {
        Check::Compare(comparison, literal) => compared(*comparison, literal),
        Check::In(literals) => any(literals
            .iter()
            .map(|literal| compared(Comparison::Equal, literal))),
        Check::Between(low, high) => all([
            compared(Comparison::GreaterOrEqual, low),
            compared(Comparison::LessOrEqual, high),
        ]
        .into_iter()),
        Check::Like { pattern, case } => {
            text(&test.field, resource).map(|text| like::matches(pattern, *case, &text))
        }
        Check::IsNull => Some(is_null(&test.field, resource)),
    }
}

/// The field's value compared with a literal; `None` if there is none of the literal's type.
fn compare(field: &Field, resource: &Resource, literal: &Literal) -> Option<Ordering> {
    match literal {
        Literal::Text(literal) => Some(text(field, resource)?.as_ref().cmp(literal)),
        Literal::Integer(literal) => Some(integer(field, resource)?.cmp(literal)),
        Literal::Time(literal) => Some(time(field, resource)?.cmp(literal)),
        Literal::Status(literal) => match field {
            Field::Condition(kind) => {
                let status = resource.condition(kind)?.status;
                Some(status.as_str().cmp(literal.as_str()))
            }
            _ => None,
        },
        Literal::Number(literal) => Some(number(spec(field, resource)?)?.cmp(literal)),
        Literal::Bool(literal) => Some(spec(field, resource)?.as_bool()?.cmp(literal)),
    }
}

fn text<'a>(field: &Field, resource: &'a Resource) -> Option<Cow<'a, str>> {
    let owner = resource.owner_references.as_ref();
    let text = match field {
        Field::Column(Column::Id) => return Some(resource.id.to_string().into()),
        Field::Column(Column::OwnerId) => return Some(owner?.id.to_string().into()),
        Field::Column(Column::Kind) => &resource.kind,
        Field::Column(Column::Name) => &resource.name,
        Field::Column(Column::Href) => &resource.href,
        Field::Column(Column::CreatedBy) => &resource.created_by,
        Field::Column(Column::UpdatedBy) => &resource.updated_by,
        Field::Column(Column::DeletedBy) => resource.deleted_by.as_ref()?,
        Field::Column(Column::OwnerKind) => &owner?.kind,
        Field::Column(Column::OwnerHref) => &owner?.href,
        Field::Phase => resource.status.phase.as_str(),
        Field::Label(key) => resource.labels.get(key)?,
        Field::Tenancy(key) => resource.tenancy.get(key)?,
        Field::Spec(_) => {
            return match spec(field, resource)? {
                Value::String(text) => Some(text.into()),
                Value::Number(number) => Some(decimal::plain(number).into()),
                Value::Bool(value) => Some(value.to_string().into()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
        }
        Field::Column(_) | Field::Condition(_) | Field::ConditionPart(..) => return None,
    };
    Some(text.into())
}

fn integer(field: &Field, resource: &Resource) -> Option<i32> {
    match field {
        Field::Column(Column::Generation) => Some(resource.generation.get()),
        Field::ConditionPart(kind, ConditionPart::ObservedGeneration) => {
            Some(resource.condition(kind)?.observed_generation.get())
        }
        _ => None,
    }
}

fn time(field: &Field, resource: &Resource) -> Option<Time> {
    match field {
        Field::Column(Column::CreatedTime) => Some(resource.created_time),
        Field::Column(Column::UpdatedTime) => Some(resource.updated_time),
        Field::Column(Column::DeletedTime) => resource.deleted_time,
        Field::ConditionPart(kind, ConditionPart::LastUpdatedTime) => {
            Some(resource.condition(kind)?.last_updated_time)
        }
        Field::ConditionPart(kind, ConditionPart::LastTransitionTime) => {
            Some(resource.condition(kind)?.last_transition_time)
        }
        _ => None,
    }
}

/// A JSON number, or a text that is one.
fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::parse(&number.to_string()),
        Value::String(text) => Decimal::of_text(text),
        _ => None,
    }
}

fn is_null(field: &Field, resource: &Resource) -> bool {
    match field {
        Field::Spec(_) => matches!(spec(field, resource), None | Some(Value::Null)),
        Field::Condition(kind) | Field::ConditionPart(kind, _) => {
            resource.condition(kind).is_none()
        }
        Field::Column(Column::DeletedTime) => resource.deleted_time.is_none(),
        Field::Column(Column::Generation | Column::CreatedTime | Column::UpdatedTime) => false,
        Field::Column(_) | Field::Phase | Field::Label(_) | Field::Tenancy(_) => {
            text(field, resource).is_none()
        }
    }
}

fn spec<'a>(field: &Field, resource: &'a Resource) -> Option<&'a Value> {
    let Field::Spec(path) = field else {
        return None;
    };
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(resource.spec.get(first)?, |value, key| step(value, key))
}

/// One step into JSON, as PostgreSQL's `#>` takes it: into an array by index, from its end if that is negative.
fn step<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(object) => object.get(key),
        Value::Array(items) => {
            let blank = [' ', '\t', '\n', '\x0b', '\x0c', '\r'];
            let index: i32 = key.trim_start_matches(blank).parse().ok()?;
            let back = usize::try_from(index.unsigned_abs()).ok()?;
            match index < 0 {
                true => items.get(items.len().checked_sub(back)?),
                false => items.get(back),
            }
        }
        _ => None,
    }
}
