//! What can be asked about which field: every wrong type and every senseless operator is found before anything runs.

use chrono::{DateTime, Datelike};

use super::decimal::Decimal;
use super::error::SearchError;
use super::expr::{Check, Comparison, LetterCase, Literal};
use super::field::{Field, Type};
use super::like;
use crate::condition::ConditionStatus;
use crate::time::Time;

/// A literal as it was written, and where.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) value: Value,
    pub(super) position: usize,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Number(Decimal),
    Bool(bool),
    Null,
}

/// The most values in a list.
const MAX_LIST: usize = 1000;
/// The longest pattern of LIKE, in bytes: matching costs up to the product of pattern and text.
const MAX_PATTERN: usize = 256;

pub(super) fn compare(
    field: &Field,
    comparison: Comparison,
    literal: Written,
    operator: usize,
) -> Result<Check, SearchError> {
    let position = literal.position;
    let literal = typed(field, literal)?;
    let ordered = !matches!(literal, Literal::Bool(_) | Literal::Status(_));
    if ordered || matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
        return Ok(Check::Compare(comparison, literal));
    }
    let position = operator.min(position);
    Err(refused(field, comparison.as_str(), position))
}

pub(super) fn one_of(field: &Field, values: Vec<Written>) -> Result<Check, SearchError> {
    let mut literals: Vec<Literal> = Vec::with_capacity(values.len());
    for value in values {
        let position = value.position;
        let literal = typed(field, value)?;
        if literals.len() == MAX_LIST {
            let message = format!("a list holds at most {MAX_LIST} values");
            return Err(SearchError::new(position, message));
        }
        same_type(literals.first(), &literal, position)?;
        literals.push(literal);
    }
    Ok(Check::In(literals))
}

pub(super) fn between(
    field: &Field,
    low: Written,
    high: Written,
    operator: usize,
) -> Result<Check, SearchError> {
    let position = high.position;
    let (low, high) = (typed(field, low)?, typed(field, high)?);
    if matches!(low, Literal::Bool(_) | Literal::Status(_)) {
        return Err(refused(field, "BETWEEN", operator));
    }
    same_type(Some(&low), &high, position)?;
    Ok(Check::Between(low, high))
}

pub(super) fn like(
    field: &Field,
    case: LetterCase,
    pattern: Written,
    operator: usize,
) -> Result<Check, SearchError> {
    let name = match case {
        LetterCase::Exact => "LIKE",
        LetterCase::Ignored => "ILIKE",
    };
    if !matches!(field.of_type(), Type::Text | Type::Json) {
        return Err(refused(field, name, operator));
    }
    let Value::Text(text) = pattern.value else {
        let message = format!("{name} expects a quoted pattern");
        return Err(SearchError::new(pattern.position, message));
    };
    if text.len() > MAX_PATTERN {
        let message = format!("a pattern of {name} has at most {MAX_PATTERN} bytes");
        return Err(SearchError::new(pattern.position, message));
    }
    if like::ends_in_escape(&text) {
        let message = format!("a pattern of {name} must not end with a single '\\'");
        return Err(SearchError::new(pattern.position, message));
    }
    Ok(Check::Like {
        pattern: text,
        case,
    })
}

fn refused(field: &Field, operator: &str, position: usize) -> SearchError {
    SearchError::new(
        position,
        format!("operator '{operator}' is not supported for field '{field}'"),
    )
}

fn same_type(
    first: Option<&Literal>,
    literal: &Literal,
    position: usize,
) -> Result<(), SearchError> {
    match first {
        Some(first) if std::mem::discriminant(first) != std::mem::discriminant(literal) => Err(
            SearchError::new(position, "the values of one comparison must be of one type"),
        ),
        _ => Ok(()),
    }
}

fn typed(field: &Field, written: Written) -> Result<Literal, SearchError> {
    let position = written.position;
    let expects =
        |what: &str| SearchError::new(position, format!("field '{field}' expects {what}"));
    match (field.of_type(), written.value) {
        (_, Value::Null) => Err(SearchError::new(
            position,
            "null can only be compared with =, !=, IS NULL and IS NOT NULL",
        )),
        (Type::Text | Type::Json, Value::Text(text)) => Ok(Literal::Text(text)),
        (Type::Text, _) => Err(expects("a quoted text")),
        (Type::Json, Value::Number(number)) => Ok(Literal::Number(number)),
        (Type::Json, Value::Bool(value)) => Ok(Literal::Bool(value)),
        (Type::Integer, Value::Number(number)) => match number.to_i32() {
            Some(number) => Ok(Literal::Integer(number)),
            None => Err(expects("an integer").help("of 32 bits")),
        },
        (Type::Integer, _) => Err(expects("an integer")),
        (Type::Time, value) => match value {
            Value::Text(text) => time(&text),
            _ => None,
        }
        .map(Literal::Time)
        .ok_or_else(|| expects("an RFC3339 timestamp (e.g. 2026-01-01T00:00:00Z)")),
        (Type::Status, value) => match value {
            Value::Text(text) => status(&text),
            _ => None,
        }
        .map(Literal::Status)
        .ok_or_else(|| expects("'True', 'False' or 'Unknown'")),
    }
}

fn status(text: &str) -> Option<ConditionStatus> {
    ConditionStatus::ALL
        .into_iter()
        .find(|status| status.as_str() == text)
}

/// A timestamp, or the first moment of a day in UTC; to the microsecond.
fn time(text: &str) -> Option<Time> {
    let time = DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_rfc3339(&format!("{text}T00:00:00Z")))
        .ok()?;
    // Through microseconds, which also puts a leap second where the database has it.
    Time::from_timestamp_micros(time.timestamp_micros())
        .filter(|time| (0..=9999).contains(&time.year()))
}
