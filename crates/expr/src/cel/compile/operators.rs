//! Unary and binary operators: which types they take, and folding.

use super::{Compiler, Typed, fold};
use crate::cel::ast::{BinaryOp, Expr, UnaryOp};
use crate::cel::plan::Kind;
use crate::cel::span::Span;
use crate::cel::typing::Type;

impl Compiler<'_> {
    pub(super) fn unary(&mut self, span: Span, op: UnaryOp, operand: &Expr) -> Typed {
        let operand = self.expr(operand);
        let ty = match op {
            UnaryOp::Not => {
                self.expect_bool(&operand, "the operand of `!`");
                Type::Bool
            }
            UnaryOp::Negate => {
                let fits = matches!(
                    operand.ty,
                    Type::Int | Type::Double | Type::Duration | Type::Dyn
                );
                if self.checks_types() && !fits {
                    self.problem(span, format!("`-` is not defined for {}", operand.ty));
                }
                operand.ty
            }
        };
        let kind = fold::unary(op, &operand.node)
            .unwrap_or_else(|| Kind::Unary(op, Box::new(operand.node)));
        self.typed(span, kind, ty)
    }

    pub(super) fn binary(&mut self, span: Span, op: BinaryOp, left: &Expr, right: &Expr) -> Typed {
        let left = self.expr(left);
        let right = self.expr(right);
        let ty = match result(op, left.ty, right.ty) {
            Some(ty) => ty,
            None => {
                if self.checks_types() {
                    self.mismatch(span, op, &left, &right);
                }
                Type::Dyn
            }
        };
        let nodes = [left.node, right.node];
        let kind = fold::binary(op, &nodes, &self.env.limits)
            .unwrap_or_else(|| Kind::Binary(op, Box::new(nodes)));
        self.typed(span, kind, ty)
    }

    fn mismatch(&mut self, span: Span, op: BinaryOp, left: &Typed, right: &Typed) {
        let (a, b) = (left.ty, right.ty);
        let message = match op {
            BinaryOp::Equal | BinaryOp::NotEqual => {
                format!(
                    "`{}` compares {a} with {b}, which are never equal",
                    op.symbol()
                )
            }
            BinaryOp::In => format!("`in` needs a list or map on the right, found {b}"),
            _ => format!("`{}` is not defined for {a} and {b}", op.symbol()),
        };
        let text = |t: &Typed| self.text(t.node.span);
        let help = match (op, a, b) {
            (_, Type::Optional, _) => Some(format!("unwrap the value: {}.orValue(…)", text(left))),
            (_, _, Type::Optional) => Some(format!("unwrap the value: {}.orValue(…)", text(right))),
            (BinaryOp::In, _, Type::String) => Some(format!(
                "for a substring write {}.contains({})",
                text(right),
                text(left)
            )),
            (_, Type::String, Type::Timestamp) => {
                Some(format!("convert the text: timestamp({})", text(left)))
            }
            (_, Type::Timestamp, Type::String) => {
                Some(format!("convert the text: timestamp({})", text(right)))
            }
            (_, Type::String, Type::Duration) => {
                Some(format!("convert the text: duration({})", text(left)))
            }
            (_, Type::Duration, Type::String) => {
                Some(format!("convert the text: duration({})", text(right)))
            }
            (BinaryOp::Add, Type::String, _) => {
                Some(format!("convert the number: string({})", text(right)))
            }
            (BinaryOp::Add, _, Type::String) => {
                Some(format!("convert the number: string({})", text(left)))
            }
            (_, a, b) if a.is_numeric() && b.is_numeric() => {
                Some("convert one side, for example with double(…) or int(…)".to_owned())
            }
            _ => None,
        };
        self.problem_with_help(span, message, help);
    }
}

/// Type of the result, or `None` when no values of these types fit.
fn result(op: BinaryOp, a: Type, b: Type) -> Option<Type> {
    match op {
        BinaryOp::Equal | BinaryOp::NotEqual => a.comparable(b).then_some(Type::Bool),
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            (ordered(a) && ordered(b) && a.comparable(b)).then_some(Type::Bool)
        }
        BinaryOp::In => matches!(b, Type::List | Type::Map | Type::Dyn).then_some(Type::Bool),
        BinaryOp::Add => arithmetic(a, b, |a, b| match (a, b) {
            (Type::Timestamp, Type::Duration) | (Type::Duration, Type::Timestamp) => {
                Some(Type::Timestamp)
            }
            (a, b) if a == b => (a.is_numeric()
                || matches!(a, Type::String | Type::Bytes | Type::List | Type::Duration))
            .then_some(a),
            _ => None,
        }),
        BinaryOp::Subtract => arithmetic(a, b, |a, b| match (a, b) {
            (Type::Timestamp, Type::Timestamp) => Some(Type::Duration),
            (Type::Timestamp, Type::Duration) => Some(Type::Timestamp),
            (a, b) if a == b => (a.is_numeric() || a == Type::Duration).then_some(a),
            _ => None,
        }),
        BinaryOp::Multiply | BinaryOp::Divide => {
            arithmetic(a, b, |a, b| (a == b && a.is_numeric()).then_some(a))
        }
        BinaryOp::Remainder => arithmetic(a, b, |a, b| {
            (a == b && matches!(a, Type::Int | Type::Uint)).then_some(a)
        }),
    }
}

fn ordered(t: Type) -> bool {
    t.is_numeric()
        || matches!(
            t,
            Type::String | Type::Bytes | Type::Bool | Type::Timestamp | Type::Duration | Type::Dyn
        )
}

/// With one side unknown, the operator must still have a partner for the known side.
fn arithmetic(a: Type, b: Type, rule: fn(Type, Type) -> Option<Type>) -> Option<Type> {
    const PARTNERS: [Type; 8] = [
        Type::Int,
        Type::Uint,
        Type::Double,
        Type::String,
        Type::Bytes,
        Type::List,
        Type::Timestamp,
        Type::Duration,
    ];
    let results: Vec<Type> = match (a, b) {
        (Type::Dyn, Type::Dyn) => return Some(Type::Dyn),
        (Type::Dyn, b) => PARTNERS.iter().filter_map(|a| rule(*a, b)).collect(),
        (a, Type::Dyn) => PARTNERS.iter().filter_map(|b| rule(a, *b)).collect(),
        (a, b) => return rule(a, b),
    };
    results.into_iter().reduce(Type::either)
}
