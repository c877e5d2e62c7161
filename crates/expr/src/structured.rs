//! Structured conditions: a field, an operator and a value.
//!
//! ```text
//!  field: clusterPhase, operator: in, values: [Ready, Installing]
//!        │ parse: operator, value, path
//!        ▼
//!  Condition ──to_cel()──► clusterPhase in ["Ready", "Installing"]
//!        │ evaluate(variables): the same CEL over the value found
//!        ▼
//!  Outcome { met: false, explanation: clusterPhase is "Pending", wanted one of ["Ready","Installing"] }
//! ```
//!
//! A missing field is null: it equals null, is in a list that has null, does not
//! exist, contains nothing, and is neither more nor less than a number.

mod explain;
mod lower;

use std::borrow::Cow;
use std::sync::LazyLock;

use chrono::DateTime;
use serde_json::Value as Json;

use crate::cel::{Bindings, Environment, Program, Type};
use crate::path::{Path, PathError};

/// What a condition asks of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Equals,
    NotEquals,
    In,
    NotIn,
    Contains,
    Exists,
    NotExists,
    GreaterThan,
    LessThan,
    GreaterThanOrEqual,
    LessThanOrEqual,
}

impl Operator {
    /// All eleven, in the order of the adapter guide.
    pub const ALL: [Operator; 11] = [
        Operator::Equals,
        Operator::NotEquals,
        Operator::In,
        Operator::NotIn,
        Operator::Contains,
        Operator::Exists,
        Operator::NotExists,
        Operator::GreaterThan,
        Operator::LessThan,
        Operator::GreaterThanOrEqual,
        Operator::LessThanOrEqual,
    ];

    /// As configurations spell it.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Equals => "equals",
            Operator::NotEquals => "notEquals",
            Operator::In => "in",
            Operator::NotIn => "notIn",
            Operator::Contains => "contains",
            Operator::Exists => "exists",
            Operator::NotExists => "notExists",
            Operator::GreaterThan => "greaterThan",
            Operator::LessThan => "lessThan",
            Operator::GreaterThanOrEqual => "greaterThanOrEqual",
            Operator::LessThanOrEqual => "lessThanOrEqual",
        }
    }

    /// The operator of that name.
    pub fn parse(name: &str) -> Result<Operator, ConditionError> {
        let found = Operator::ALL.into_iter().find(|op| op.name() == name);
        found.ok_or_else(|| ConditionError::Operator {
            name: name.to_owned(),
            hint: crate::template::nearest(name, Operator::ALL.into_iter().map(Operator::name)),
        })
    }

    fn compares_numbers(self) -> bool {
        matches!(
            self,
            Operator::GreaterThan
                | Operator::LessThan
                | Operator::GreaterThanOrEqual
                | Operator::LessThanOrEqual
        )
    }
}

/// A mistake in a condition, found when it is loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConditionError {
    #[error(transparent)]
    Field(#[from] PathError),
    #[error("the operator {name:?} is not known{hint}")]
    Operator { name: String, hint: String },
    /// The value is missing, too much, or of a kind the operator cannot use.
    #[error("the operator {operator} {message}")]
    Value {
        operator: &'static str,
        message: &'static str,
    },
}

/// One condition, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    field: Path,
    operator: Operator,
    value: Json,
}

/// Whether a condition is met, and why, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub met: bool,
    pub explanation: String,
}

/// The operators as CEL over `field` and `value`, compiled once.
static PROGRAMS: LazyLock<Vec<Option<Program>>> = LazyLock::new(|| {
    let names = [("field", Type::Dyn), ("value", Type::Dyn)];
    let environment = Environment::standard().with_variables(names);
    let compile = |operator: Operator| {
        let source = lower::operator(operator, "field", lower::VARIABLE);
        environment.compile_predicate(&source).ok()
    };
    Operator::ALL.into_iter().map(compile).collect()
});

impl Condition {
    /// Checks a condition as configured; `value` is that of `value` or `values`.
    pub fn new(
        field: &str,
        operator: Operator,
        value: Option<Json>,
    ) -> Result<Condition, ConditionError> {
        let bad = |message| {
            Err(ConditionError::Value {
                operator: operator.name(),
                message,
            })
        };
        let field = Path::parse(field)?;
        let value = match (operator, value) {
            (Operator::Exists | Operator::NotExists, None) => Json::Null,
            (Operator::Exists | Operator::NotExists, Some(_)) => return bad("takes no value"),
            (_, None) => return bad("needs a value"),
            (Operator::In | Operator::NotIn, Some(value)) if !value.is_array() => {
                return bad("needs a list of values");
            }
            (operator, Some(value)) if operator.compares_numbers() && !value.is_number() => {
                return bad("needs a number");
            }
            (_, Some(value)) => value,
        };
        Ok(Condition {
            field,
            operator,
            value,
        })
    }

    pub fn field(&self) -> &Path {
        &self.field
    }

    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The condition as one CEL expression over the variables, for a field that
    /// is a plain path; a JSONPath with filters or wildcards has none.
    pub fn to_cel(&self) -> Option<String> {
        let field = lower::field(&self.field)?;
        Some(lower::operator(
            self.operator,
            &field,
            &self.value.to_string(),
        ))
    }

    /// Looks at the variables, which `variables` finds by name.
    pub fn evaluate<'a>(&self, variables: impl Fn(&str) -> Option<&'a Json>) -> Outcome {
        self.evaluate_found(self.field.get_in(variables))
    }

    /// Looks at one JSON value.
    pub fn evaluate_on(&self, data: &Json) -> Outcome {
        self.evaluate_found(self.field.get(data))
    }

    fn evaluate_found(&self, found: Option<Cow<'_, Json>>) -> Outcome {
        let seen = found.as_deref();
        let program = PROGRAMS
            .get(self.operator as usize)
            .and_then(Option::as_ref);
        let bindings = Bindings::new(DateTime::UNIX_EPOCH)
            .bind("field", seen.unwrap_or(&Json::Null))
            .bind("value", &self.value);
        // An error is a value of a kind the operator does not work on.
        let met = program.map(|program| program.evaluate_bool(&bindings));
        match met {
            Some(Ok(met)) => Outcome {
                met,
                explanation: explain::explain(self, seen, met),
            },
            _ => Outcome {
                met: false,
                explanation: explain::unfit(self, seen),
            },
        }
    }
}
