//! A parsed rule.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    pub kind: Kind,
    pub span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    /// `#`: the element a closure looks at.
    Element,
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// `a.b` and `a["b"]`; with `safe`, `a?.b`, which gives nil where `a` is nil.
    Get {
        base: Box<Expr>,
        key: Box<Expr>,
        safe: bool,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary {
        operator: Operator,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Choose {
        test: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    Call {
        function: Function,
        args: Vec<Expr>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Coalesce,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    All,
    Any,
    None,
    One,
    Filter,
    Map,
    Count,
    Find,
    Len,
    First,
    Last,
    Sum,
    Lower,
    Upper,
    Trim,
}

/// Name, least and most arguments, and whether the second one is a closure.
pub(super) const FUNCTIONS: [(&str, Function, usize, usize, bool); 15] = [
    ("all", Function::All, 2, 2, true),
    ("any", Function::Any, 2, 2, true),
    ("none", Function::None, 2, 2, true),
    ("one", Function::One, 2, 2, true),
    ("filter", Function::Filter, 2, 2, true),
    ("map", Function::Map, 2, 2, true),
    ("count", Function::Count, 1, 2, true),
    ("find", Function::Find, 2, 2, true),
    ("len", Function::Len, 1, 1, false),
    ("first", Function::First, 1, 1, false),
    ("last", Function::Last, 1, 1, false),
    ("sum", Function::Sum, 1, 1, false),
    ("lower", Function::Lower, 1, 1, false),
    ("upper", Function::Upper, 1, 1, false),
    ("trim", Function::Trim, 1, 1, false),
];
