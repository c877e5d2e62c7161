//! What an expression may refer to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::compile;
use super::function::Function;
use super::library;
use super::limits::Limits;
use super::problem::Problems;
use super::program::Program;
use super::typing::Type;

/// Variables, functions and limits that expressions are compiled against. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Environment {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Clone, Debug)]
pub(crate) struct Inner {
    pub(crate) variables: BTreeMap<String, Type>,
    pub(crate) functions: Vec<Arc<Function>>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) container: String,
    pub(crate) check: Check,
    /// Whether an expression may ask for the time.
    pub(crate) has_clock: bool,
}

/// How much is verified at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// Variables, functions, arity, types.
    All,
    /// All but variable names.
    OpenNames,
    /// Syntax only; the rest shows at run time, as in an unchecked cel-go environment.
    Syntax,
}

impl Environment {
    fn with_check(check: Check) -> Self {
        let inner = Inner {
            variables: BTreeMap::new(),
            functions: Vec::new(),
            limits: Arc::new(Limits::default()),
            container: String::new(),
            check,
            has_clock: true,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The whole library and no variables: every name an expression uses must be declared.
    pub fn standard() -> Self {
        Self::with_check(Check::All)
    }

    /// Any variable name is allowed; an unbound one is an evaluation error. Functions, arities and literal types are
    /// still checked.
    pub fn unchecked() -> Self {
        Self::with_check(Check::OpenNames)
    }

    /// Nothing but syntax is checked: also unknown functions and impossible types wait for run time.
    pub fn syntax_only() -> Self {
        Self::with_check(Check::Syntax)
    }

    /// Refuses functions that depend on the time, for results that must stay true until the data changes.
    pub fn without_clock(mut self) -> Self {
        Arc::make_mut(&mut self.inner).has_clock = false;
        self
    }

    /// Declares variables. A name may be dotted; the longest declared prefix of `a.b.c` is the variable.
    pub fn with_variables<I, S>(mut self, names: I) -> Self
    where
        I: IntoIterator<Item = (S, Type)>,
        S: Into<String>,
    {
        let inner = Arc::make_mut(&mut self.inner);
        inner
            .variables
            .extend(names.into_iter().map(|(name, t)| (name.into(), t)));
        self
    }

    /// Adds a function of the host; it takes precedence over one of the library with the same name.
    pub fn with_function(mut self, function: Function) -> Self {
        Arc::make_mut(&mut self.inner)
            .functions
            .push(Arc::new(function));
        self
    }

    /// Replaces the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        Arc::make_mut(&mut self.inner).limits = Arc::new(limits);
        self
    }

    /// Namespace in which names are looked up first: with `a.b`, `x` means `a.b.x`, then `a.x`, then `x`.
    pub fn with_container(mut self, container: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.inner).container = container.into();
        self
    }

    /// Declared variables with their types.
    pub fn variables(&self) -> impl Iterator<Item = (&str, Type)> {
        self.inner
            .variables
            .iter()
            .map(|(name, t)| (name.as_str(), *t))
    }

    /// Names of all functions, of the library and the host; one that is both function and method comes twice.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let host = self.inner.functions.iter().map(|f| f.name.as_str());
        host.chain(library::all().map(|b| b.name))
    }

    /// Parses, checks and prepares an expression; all problems at once.
    pub fn compile(&self, source: &str) -> Result<Program, Problems> {
        compile::compile(&self.inner, source, compile::Wanted::Anything)
    }

    /// As [`compile`](Self::compile), and refuses what can never be true or false.
    pub fn compile_predicate(&self, source: &str) -> Result<Program, Problems> {
        compile::compile(&self.inner, source, compile::Wanted::Bool)
    }
}
