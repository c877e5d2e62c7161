//! The syntax tree, as written: macros are still calls, names still text.

use super::span::Span;
use super::value::Value;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    /// Height of the tree below, bounded while parsing so that no later pass can exhaust the stack.
    pub(crate) height: u16,
    pub(crate) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Literal(Value<'static>),
    Ident(Name),
    Select(Box<Expr>, Name, Access),
    Index(Box<Expr>, Box<Expr>, Access),
    Call {
        target: Option<Box<Expr>>,
        function: Name,
        args: Vec<Expr>,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Chains of one operator stay flat: a hundred alternatives are not a hundred levels deep.
    Logic(LogicOp, Vec<Expr>),
    Conditional(Box<[Expr; 3]>),
    List(Vec<(Expr, Access)>),
    Map(Vec<(Expr, Expr, Access)>),
    /// `pkg.Type{field: value}`: parsed so that the complaint can be precise.
    Message,
}

/// An identifier where it stands. `rooted` is the leading dot of `.name`.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
    pub(crate) rooted: bool,
}

/// `a.b` or `a.?b`, `[x]` or `[?x]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Required,
    Optional,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogicOp {
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
}

impl BinaryOp {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
        }
    }
}

impl ExprKind {
    fn children_height(&self) -> u16 {
        let tallest =
            |items: &mut dyn Iterator<Item = &Expr>| items.map(|e| e.height).max().unwrap_or(0);
        match self {
            Self::Literal(_) | Self::Ident(_) | Self::Message => 0,
            Self::Select(a, _, _) | Self::Unary(_, a) => a.height,
            Self::Index(a, b, _) | Self::Binary(_, a, b) => a.height.max(b.height),
            Self::Call { target, args, .. } => tallest(&mut args.iter().chain(target.as_deref())),
            Self::Logic(_, args) => tallest(&mut args.iter()),
            Self::Conditional(parts) => tallest(&mut parts.iter()),
            Self::List(items) => tallest(&mut items.iter().map(|(e, _)| e)),
            Self::Map(entries) => tallest(&mut entries.iter().flat_map(|(k, v, _)| [k, v])),
        }
    }
}

impl Expr {
    pub(crate) fn new(span: Span, kind: ExprKind) -> Self {
        let height = kind.children_height().saturating_add(1);
        Self { span, height, kind }
    }

    /// `a.b.c` as its parts when nothing but plain names is involved.
    pub(crate) fn qualified_name(&self) -> Option<Vec<&Name>> {
        let mut parts = Vec::new();
        let mut at = self;
        loop {
            match &at.kind {
                ExprKind::Ident(name) => {
                    parts.push(name);
                    parts.reverse();
                    return Some(parts);
                }
                ExprKind::Select(operand, field, Access::Required) => {
                    parts.push(field);
                    at = operand;
                }
                _ => return None,
            }
        }
    }
}
