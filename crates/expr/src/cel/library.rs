//! The functions every expression can call, one table per topic.

mod conditions;
mod convert;
mod encoders;
mod format;
mod lists;
mod math;
mod optionals;
mod sets;
mod strings;
mod times;

pub(crate) use convert::double_text;
pub(crate) use lists::sort_pairs;

use super::error::Fault;
use super::function::Style;
use super::meter::Meter;
use super::typing::{Accepts, Type};
use super::value::Value;

pub(crate) type Outcome<'a> = Result<Value<'a>, Fault>;
pub(crate) type Run = for<'a> fn(&mut Meter<'_>, &[Value<'a>]) -> Outcome<'a>;

/// A function of the library. Overloads by argument type are one entry; overloads by number of arguments are several.
#[derive(Debug)]
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) style: Style,
    /// Receiver first, if there is one.
    pub(crate) params: &'static [Accepts],
    /// Whether the last parameter may repeat.
    pub(crate) variadic: bool,
    pub(crate) returns: Type,
    pub(crate) run: Run,
    /// Same arguments, same result: may be computed once at compile time.
    pub(crate) pure: bool,
}

impl Builtin {
    const fn global(
        name: &'static str,
        params: &'static [Accepts],
        returns: Type,
        run: Run,
    ) -> Self {
        Self {
            name,
            style: Style::Global,
            params,
            variadic: false,
            returns,
            run,
            pure: true,
        }
    }

    const fn member(
        name: &'static str,
        params: &'static [Accepts],
        returns: Type,
        run: Run,
    ) -> Self {
        Self {
            name,
            style: Style::Member,
            params,
            variadic: false,
            returns,
            run,
            pure: true,
        }
    }

    const fn repeating(mut self) -> Self {
        self.variadic = true;
        self
    }

    /// Depends on the clock.
    const fn impure(mut self) -> Self {
        self.pure = false;
        self
    }

    pub(crate) fn takes_count(&self, count: usize) -> bool {
        count == self.params.len() || self.variadic && count > self.params.len()
    }

    pub(crate) fn takes(&self, types: &[Type]) -> bool {
        let last = self.params.last();
        types
            .iter()
            .enumerate()
            .all(|(i, t)| self.params.get(i).or(last).is_some_and(|p| p.takes(*t)))
    }
}

const ANY: Accepts = Accepts::ANY;
const BOOL: Accepts = Accepts::only(Type::Bool);
const INT: Accepts = Accepts::only(Type::Int);
const STRING: Accepts = Accepts::only(Type::String);
const BYTES: Accepts = Accepts::only(Type::Bytes);
const LIST: Accepts = Accepts::only(Type::List);
const OPTIONAL: Accepts = Accepts::only(Type::Optional);
const NUMBER: Accepts = Accepts::only(Type::Int).or(Type::Uint).or(Type::Double);
const INTEGER: Accepts = Accepts::only(Type::Int).or(Type::Uint);
const DOUBLE: Accepts = Accepts::only(Type::Double);

static TABLES: [&[Builtin]; 10] = [
    convert::TABLE,
    strings::TABLE,
    format::TABLE,
    lists::TABLE,
    math::TABLE,
    times::TABLE,
    optionals::TABLE,
    sets::TABLE,
    encoders::TABLE,
    conditions::TABLE,
];

pub(crate) fn all() -> impl Iterator<Item = &'static Builtin> {
    TABLES.into_iter().flatten()
}

/// Every function of that name and style, whatever it takes.
pub(crate) fn named(name: &str, style: Style) -> impl Iterator<Item = &'static Builtin> {
    all().filter(move |b| b.style == style && b.name == name)
}
