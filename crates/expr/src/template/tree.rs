//! The compiled template: names resolved to functions and slots, pipelines
//! folded into nested calls, so that rendering only walks and writes.

use super::functions::Function;
use regex::Regex;

/// Byte offset into the template's source.
pub(super) type Pos = u32;

#[derive(Debug)]
pub(super) enum Node {
    Text(Box<str>),
    /// `{{ expr }}`.
    Print(Expr),
    /// `{{ $x := expr }}` and `{{ $x = expr }}`: a slot belongs to one variable,
    /// so declaring and assigning are the same write.
    Bind(usize, Expr),
    If(Branch),
    With(Branch),
    Range(Range),
    /// `{{ template "name" expr }}`.
    Template {
        pos: Pos,
        body: usize,
        dot: Option<Expr>,
    },
    Break,
    Continue,
}

#[derive(Debug)]
pub(super) struct Branch {
    /// `{{ if $x := … }}` binds before it tests.
    pub bind: Option<usize>,
    pub test: Expr,
    pub body: Vec<Node>,
    pub otherwise: Vec<Node>,
}

#[derive(Debug)]
pub(super) struct Range {
    pub pos: Pos,
    pub index: Option<usize>,
    pub item: Option<usize>,
    pub over: Expr,
    pub body: Vec<Node>,
    pub otherwise: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Base {
    Dot,
    Slot(usize),
    Expr(Box<Expr>),
}

#[derive(Debug)]
pub(super) enum Expr {
    Dot,
    Slot(usize),
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    /// A literal pattern of a `regex…` function, compiled at load.
    Pattern(Box<Regex>),
    /// `.a.b`, `$x.a`, `(expr).a`; arguments are those of a method of a time value.
    Field {
        pos: Pos,
        base: Base,
        path: Box<[Box<str>]>,
        args: Box<[Expr]>,
    },
    Call {
        pos: Pos,
        function: &'static Function,
        args: Box<[Expr]>,
    },
    /// `and`, `or`: Go evaluates no further than needed. A piped operand is
    /// the last one but was computed before the others.
    Logic {
        stop_at: bool,
        args: Box<[Expr]>,
        piped: bool,
    },
    /// `include "name" expr`: the text of a named template as a value.
    Include {
        pos: Pos,
        body: usize,
        dot: Box<Expr>,
    },
}

/// The text of one `define`, or of the template itself (always number 0).
#[derive(Debug)]
pub(super) struct Body {
    pub name: Box<str>,
    pub nodes: Vec<Node>,
    /// How many variable slots it needs; slot 0 is `$`.
    pub slots: usize,
}
