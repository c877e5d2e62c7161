//! What the evaluator walks: names are slots, macros are loops, constants are folded.

mod keys;

use std::sync::Arc;

use super::ast::{Access, BinaryOp, LogicOp, UnaryOp};
use super::error::ErrorKind;
use super::function::Function;
use super::library::Builtin;
use super::pattern::Pattern;
use super::span::Span;
use super::typing::Type;
use super::value::Value;
pub(crate) use keys::keys;

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Constant(Value<'static>),
    /// Index into the program's references.
    Variable(u32),
    /// A type's name where names are open: a variable that is called so wins.
    TypeName(Type),
    /// Slot of a comprehension or `cel.bind` variable.
    Local(u32),
    Select(Box<Node>, Box<str>, Access),
    /// `has(operand.field)`.
    Present(Box<Node>, Box<str>),
    Index(Box<[Node; 2]>, Access),
    Builtin(&'static Builtin, Box<[Node]>),
    Host(Arc<Function>, Box<[Node]>),
    /// A call that cannot succeed, in an environment that leaves this to run time.
    Undefined(Box<str>, ErrorKind),
    /// `matches` with a literal pattern, compiled once.
    Matches(Box<Node>, Pattern),
    /// `timestamp(now())` without the detour over text.
    NowTimestamp,
    Unary(UnaryOp, Box<Node>),
    Binary(BinaryOp, Box<[Node; 2]>),
    Logic(LogicOp, Box<[Node]>),
    Conditional(Box<[Node; 3]>),
    List(Box<[(Node, Access)]>),
    Map(Box<[(Node, Node, Access)]>),
    /// `cel.bind(slot, value, body)`.
    Bind(u32, Box<[Node; 2]>),
    OptionalMap(Box<OptionalMap>),
    /// `a.or(b)` and `a.orValue(b)`: the alternative is evaluated only when needed.
    OptionalOr(Box<[Node; 2]>, Alternative),
    Comprehension(Box<Comprehension>),
}

/// `target.optMap(slot, body)`, or `optFlatMap` when `flat`.
#[derive(Clone, Debug)]
pub(crate) struct OptionalMap {
    pub(crate) target: Node,
    pub(crate) slot: u32,
    pub(crate) body: Node,
    pub(crate) flat: bool,
}

/// What stands in for an absent value: another optional, or a plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alternative {
    Optional,
    Value,
}

/// A loop over a list or map. With one variable it sees elements or keys, with two also index or key.
#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub(crate) fold: Fold,
    pub(crate) range: Node,
    pub(crate) slot: u32,
    /// The second variable's slot.
    pub(crate) second: Option<u32>,
    /// Elements for which this is false are left out.
    pub(crate) filter: Option<Node>,
    pub(crate) body: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    All,
    Exists,
    ExistsOne,
    Filter,
    List,
    Map,
    MapEntry,
    SortBy,
}

impl Node {
    pub(crate) fn constant(&self) -> Option<&Value<'static>> {
        match &self.kind {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }
}
