//! Syntax tree to plan: resolves names to slots, expands macros, checks types, folds constants. Goes on after a
//! mistake so that all of them are reported at once.

mod calls;
mod fold;
mod macros;
mod names;
mod operators;

use super::ast::{Access, Expr, ExprKind, LogicOp};
use super::environment::{Check, Inner as Environment};
use super::lexer::shorten;
use super::parser;
use super::plan::{Kind, Node};
use super::problem::{Problem, Problems};
use super::program::{self, Program};
use super::span::Span;
use super::typing::Type;
use super::value::Value;

/// What the caller needs the result to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Anything,
    Bool,
}

pub(crate) fn compile(
    env: &Environment,
    source: &str,
    wanted: Wanted,
) -> Result<Program, Problems> {
    let expr = parser::parse(source, &env.limits)
        .map_err(|problem| Problems::new(source, vec![*problem]))?;
    let mut compiler = Compiler {
        env,
        source,
        problems: Vec::new(),
        references: Vec::new(),
        scope: Vec::new(),
        slots: 0,
        nesting: 0,
    };
    let root = compiler.expr(&expr);
    if wanted == Wanted::Bool {
        compiler.expect_bool(&root, "a condition");
    }
    if !compiler.problems.is_empty() {
        return Err(Problems::new(source, compiler.problems));
    }
    Ok(Program::new(program::Inner {
        source: source.to_owned(),
        root: root.node,
        result: root.ty,
        references: compiler.references,
        locals: compiler.slots,
        limits: env.limits.clone(),
    }))
}

/// A planned expression and what is known about its value.
struct Typed {
    node: Node,
    ty: Type,
}

struct Local {
    name: String,
    ty: Type,
}

struct Compiler<'e> {
    env: &'e Environment,
    source: &'e str,
    problems: Vec<Problem>,
    references: Vec<String>,
    /// Local variables in scope; the position is the slot.
    scope: Vec<Local>,
    slots: usize,
    nesting: u16,
}

impl Compiler<'_> {
    fn typed(&self, span: Span, kind: Kind, ty: Type) -> Typed {
        Typed {
            node: Node { span, kind },
            ty,
        }
    }

    /// Stands in for a part that is wrong; fits everywhere, so one mistake is reported once.
    fn broken(&self, span: Span) -> Typed {
        self.typed(span, Kind::Constant(Value::Null), Type::Dyn)
    }

    fn problem(&mut self, span: Span, message: impl Into<String>) {
        self.problem_with_help(span, message, None);
    }

    fn problem_with_help(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem {
            message: message.into(),
            span: span.range(),
            help,
        });
    }

    fn checks_types(&self) -> bool {
        self.env.check != Check::Syntax
    }

    fn text(&self, span: Span) -> String {
        shorten(span.text(self.source))
    }

    fn expect_bool(&mut self, value: &Typed, what: &str) {
        if self.checks_types() && !matches!(value.ty, Type::Bool | Type::Dyn) {
            let text = self.text(value.node.span);
            self.problem(
                value.node.span,
                format!("{what} must be true or false, but `{text}` is {}", value.ty),
            );
        }
    }

    fn expr(&mut self, expr: &Expr) -> Typed {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(value) => {
                self.typed(span, Kind::Constant(value.clone()), value.type_of())
            }
            ExprKind::Ident(_) => self.name(expr),
            ExprKind::Select(operand, field, access) => {
                self.select(expr, operand, &field.text, *access)
            }
            ExprKind::Index(operand, index, access) => self.index(span, operand, index, *access),
            ExprKind::Call {
                target,
                function,
                args,
            } => self.call(expr, target.as_deref(), function, args),
            ExprKind::Unary(op, operand) => self.unary(span, *op, operand),
            ExprKind::Binary(op, left, right) => self.binary(span, *op, left, right),
            ExprKind::Logic(op, operands) => self.logic(span, *op, operands),
            ExprKind::Conditional(parts) => self.conditional(span, parts),
            ExprKind::List(items) => self.list(span, items),
            ExprKind::Map(entries) => self.map(span, entries),
            ExprKind::Message => {
                self.problem_with_help(
                    span,
                    "message types are not supported",
                    Some("build a map instead: {\"field\": value}".to_owned()),
                );
                self.broken(span)
            }
        }
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, access: Access) -> Typed {
        if access == Access::Required && expr.qualified_name().is_some() {
            return self.name(expr);
        }
        let operand = self.expr(operand);
        self.select_from(expr.span, operand, field, access)
    }

    fn select_from(&mut self, span: Span, operand: Typed, field: &str, access: Access) -> Typed {
        self.expect_fields(&operand, field);
        let ty = match (access, operand.ty) {
            (Access::Optional, _) | (_, Type::Optional) => Type::Optional,
            _ => Type::Dyn,
        };
        self.typed(
            span,
            Kind::Select(Box::new(operand.node), field.into(), access),
            ty,
        )
    }

    fn expect_fields(&mut self, operand: &Typed, field: &str) {
        if self.checks_types() && !matches!(operand.ty, Type::Map | Type::Optional | Type::Dyn) {
            let text = self.text(operand.node.span);
            self.problem(
                operand.node.span,
                format!("no field `{field}`: `{text}` is {}, not a map", operand.ty),
            );
        }
    }

    fn index(&mut self, span: Span, operand: &Expr, index: &Expr, access: Access) -> Typed {
        let operand = self.expr(operand);
        let index = self.expr(index);
        let fits = match operand.ty {
            Type::List => index.ty.is_numeric() || index.ty == Type::Dyn,
            Type::Map => {
                matches!(index.ty, Type::Bool | Type::String | Type::Dyn) || index.ty.is_numeric()
            }
            Type::Dyn | Type::Optional => true,
            _ => false,
        };
        if self.checks_types() && !fits {
            let text = self.text(operand.node.span);
            self.problem(
                span,
                format!(
                    "`{text}` is {} and cannot be indexed by {}",
                    operand.ty, index.ty
                ),
            );
        }
        let ty = match (access, operand.ty) {
            (Access::Optional, _) | (_, Type::Optional) => Type::Optional,
            _ => Type::Dyn,
        };
        self.typed(
            span,
            Kind::Index(Box::new([operand.node, index.node]), access),
            ty,
        )
    }

    fn logic(&mut self, span: Span, op: LogicOp, operands: &[Expr]) -> Typed {
        let symbol = if op == LogicOp::And { "&&" } else { "||" };
        let mut nodes = Vec::with_capacity(operands.len());
        for operand in operands {
            let operand = self.expr(operand);
            self.expect_bool(&operand, &format!("an operand of `{symbol}`"));
            nodes.push(operand.node);
        }
        self.typed(span, Kind::Logic(op, nodes.into()), Type::Bool)
    }

    fn conditional(&mut self, span: Span, parts: &[Expr; 3]) -> Typed {
        let condition = self.expr(&parts[0]);
        self.expect_bool(&condition, "the condition of `?:`");
        let then = self.expr(&parts[1]);
        let otherwise = self.expr(&parts[2]);
        let ty = then.ty.either(otherwise.ty);
        self.typed(
            span,
            Kind::Conditional(Box::new([condition.node, then.node, otherwise.node])),
            ty,
        )
    }

    fn list(&mut self, span: Span, items: &[(Expr, Access)]) -> Typed {
        let mut nodes = Vec::with_capacity(items.len());
        for (item, access) in items {
            let item = self.expr(item);
            self.expect_optional(&item, *access);
            nodes.push((item.node, *access));
        }
        let kind = fold::list(&nodes).unwrap_or_else(|| Kind::List(nodes.into()));
        self.typed(span, kind, Type::List)
    }

    fn map(&mut self, span: Span, entries: &[(Expr, Expr, Access)]) -> Typed {
        let mut nodes = Vec::with_capacity(entries.len());
        for (key, value, access) in entries {
            let key = self.expr(key);
            let fits = matches!(
                key.ty,
                Type::Bool | Type::Int | Type::Uint | Type::String | Type::Dyn
            );
            if self.checks_types() && !fits {
                self.problem(key.node.span, format!("{} cannot be a map key", key.ty));
            }
            let value = self.expr(value);
            self.expect_optional(&value, *access);
            nodes.push((key.node, value.node, *access));
        }
        let kind = fold::map(&nodes).unwrap_or_else(|| Kind::Map(nodes.into()));
        self.typed(span, kind, Type::Map)
    }

    fn expect_optional(&mut self, value: &Typed, access: Access) {
        let optional = matches!(value.ty, Type::Optional | Type::Dyn);
        if self.checks_types() && access == Access::Optional && !optional {
            let text = self.text(value.node.span);
            self.problem(
                value.node.span,
                format!(
                    "a `?` entry needs an optional value, `{text}` is {}",
                    value.ty
                ),
            );
        }
    }
}
