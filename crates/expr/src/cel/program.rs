//! A compiled expression.

use std::sync::Arc;

use super::bindings::Bindings;
use super::error::{ErrorKind, EvalError};
use super::limits::Limits;
use super::machine::Machine;
use super::plan::{Node, keys};
use super::typing::Type;
use super::value::Value;

/// Compiled once, evaluated often, shared freely.
#[derive(Clone, Debug)]
pub struct Program {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) source: String,
    pub(crate) root: Node,
    pub(crate) result: Type,
    pub(crate) references: Vec<String>,
    /// Most local variables alive at once.
    pub(crate) locals: usize,
    pub(crate) limits: Arc<Limits>,
}

impl Program {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The expression as written.
    pub fn source(&self) -> &str {
        &self.inner.source
    }

    /// Variables the expression uses, each once, in order of appearance.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.inner.references.iter().map(String::as_str)
    }

    /// The entries of `variable` that the expression names, as in `adapters["dns"]` or `adapters.dns`; sorted.
    pub fn keys_of(&self, variable: &str) -> Vec<&str> {
        let index = self.inner.references.iter().position(|n| n == variable);
        index
            .and_then(|index| u32::try_from(index).ok())
            .map_or_else(Vec::new, |index| keys(&self.inner.root, index))
    }

    /// What is known about the result without evaluating.
    pub fn result_type(&self) -> Type {
        self.inner.result
    }

    /// The value; it borrows from the bound data and from the program.
    pub fn evaluate<'a>(&'a self, bindings: &Bindings<'a>) -> Result<Value<'a>, EvalError> {
        Machine::new(&self.inner, bindings)
            .run()
            .map_err(|error| *error)
    }

    /// The truth value; anything else is [`ErrorKind::NotBoolean`].
    pub fn evaluate_bool(&self, bindings: &Bindings<'_>) -> Result<bool, EvalError> {
        match self.evaluate(bindings)? {
            Value::Bool(b) => Ok(b),
            other => Err(EvalError {
                kind: ErrorKind::NotBoolean,
                message: format!(
                    "expected true or false, the expression gave {}",
                    describe(&other)
                ),
                span: 0..self.inner.source.len(),
            }),
        }
    }

    /// The value as clean JSON, see [`Value::to_json`]; writing it out counts towards the limits.
    pub fn evaluate_json(&self, bindings: &Bindings<'_>) -> Result<serde_json::Value, EvalError> {
        Machine::new(&self.inner, bindings)
            .run_json()
            .map_err(|error| *error)
    }
}

/// Type only: the value itself may be a secret.
fn describe(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        other => format!("a value of type {}", other.type_of()),
    }
}
