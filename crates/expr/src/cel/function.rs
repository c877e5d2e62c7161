//! Functions a host adds to an environment.

use std::fmt;
use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};

use super::bindings::Bindings;
use super::error::EvalError;
use super::typing::Type;
use super::value::Value;

/// How a function is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// `f(x)`.
    Global,
    /// `x.f()`.
    Member,
}

type Body = dyn for<'a> Fn(&Call<'_, 'a>) -> Result<Value<'a>, EvalError> + Send + Sync;

/// A function of the host: a name, how it is called, and a closure.
pub struct Function {
    pub(crate) name: String,
    pub(crate) style: Style,
    pub(crate) arity: RangeInclusive<usize>,
    pub(crate) returns: Type,
    pub(crate) body: Box<Body>,
}

impl Function {
    /// A global function `name(…)` with a fixed number of arguments. The result is taken as any type.
    pub fn new<F>(name: impl Into<String>, arity: usize, body: F) -> Self
    where
        F: for<'a> Fn(&Call<'_, 'a>) -> Result<Value<'a>, EvalError> + Send + Sync + 'static,
    {
        Self {
            name: name.into(),
            style: Style::Global,
            arity: arity..=arity,
            returns: Type::Dyn,
            body: Box::new(body),
        }
    }

    /// Called as `x.name(…)`; the receiver is the first argument and not counted in the arity.
    pub fn member(mut self) -> Self {
        self.style = Style::Member;
        self
    }

    /// Takes between `least` and `most` arguments.
    pub fn arity(mut self, arity: RangeInclusive<usize>) -> Self {
        self.arity = arity;
        self
    }

    /// Type of the result, for the checker.
    pub fn returning(mut self, returns: Type) -> Self {
        self.returns = returns;
        self
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.name)
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

/// One call of a host function.
pub struct Call<'c, 'a> {
    pub(crate) args: &'c [Value<'a>],
    pub(crate) bindings: &'c Bindings<'a>,
}

impl<'c, 'a> Call<'c, 'a> {
    /// Arguments; for a member function the receiver comes first.
    pub fn args(&self) -> &'c [Value<'a>] {
        self.args
    }

    /// A variable of the evaluation, so that a function can look at its context.
    pub fn variable(&self, name: &str) -> Option<&'c Value<'a>> {
        self.bindings.get(name)
    }

    /// The evaluation's fixed time.
    pub fn now(&self) -> DateTime<Utc> {
        self.bindings.now()
    }
}
