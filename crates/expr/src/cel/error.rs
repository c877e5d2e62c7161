//! Failure of one evaluation.

use std::ops::Range;

/// What went wrong, for code that reacts to it; the message is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A field or map key that is not there.
    NoSuchKey,
    /// A function or operator applied to values it is not defined for.
    NoSuchOverload,
    /// A variable that is not bound, or a function nobody defined.
    UndeclaredName,
    /// Integer division or remainder by zero.
    DivideByZero,
    /// A number, timestamp or duration left its range.
    Overflow,
    /// A list index or string offset outside of the value.
    IndexOutOfRange,
    /// One of [`Limits`](super::Limits) was reached.
    LimitExceeded,
    /// A value of the right type that the function cannot use, such as `timestamp("soon")`.
    InvalidArgument,
    /// A predicate that gave something else than true or false.
    NotBoolean,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// Class of the failure.
    pub kind: ErrorKind,
    /// One sentence that names the key, name or value at fault.
    pub message: String,
    /// Byte range of the failing part in [`Program::source`](super::Program::source).
    pub span: Range<usize>,
}

impl EvalError {
    /// For host functions: the place is filled in by the evaluator.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            span: 0..0,
        }
    }

    /// The message with the expression and a caret under the failing part.
    pub fn render(&self, source: &str) -> String {
        format!(
            "{}\n{}",
            self.message,
            super::problem::excerpt(source, &self.span)
        )
    }
}

/// What a function of the library returns when it fails.
#[derive(Debug)]
pub(crate) enum Fault {
    /// No overload for these argument types; the caller knows the name and words the message.
    Overload,
    /// Boxed to keep the happy path's `Result` three words wide.
    Error(Box<EvalError>),
}

impl From<EvalError> for Fault {
    fn from(error: EvalError) -> Self {
        Self::Error(Box::new(error))
    }
}

impl From<Box<EvalError>> for Fault {
    fn from(error: Box<EvalError>) -> Self {
        Self::Error(error)
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> Box<EvalError> {
    Box::new(EvalError::new(ErrorKind::InvalidArgument, message))
}

pub(crate) fn overflow(message: impl Into<String>) -> Box<EvalError> {
    Box::new(EvalError::new(ErrorKind::Overflow, message))
}

pub(crate) fn out_of_range(message: impl Into<String>) -> Box<EvalError> {
    Box::new(EvalError::new(ErrorKind::IndexOutOfRange, message))
}

pub(crate) fn limit(message: impl Into<String>) -> Box<EvalError> {
    Box::new(EvalError::new(ErrorKind::LimitExceeded, message))
}
