//! Tokens to syntax tree: precedence climbing, one token of lookahead, bounded depth.

mod primary;

use super::ast::{Access, BinaryOp, Expr, ExprKind, LogicOp, Name, UnaryOp};
use super::lexer::{Lexer, Token, problem};
use super::limits::Limits;
use super::problem::Problem;
use super::span::Span;

const KEYWORDS: [&str; 4] = ["false", "in", "null", "true"];

pub(crate) fn parse(source: &str, limits: &Limits) -> Result<Box<Expr>, Box<Problem>> {
    if source.len() > limits.expression_bytes {
        return Err(problem(
            Span::new(0, 0),
            format!(
                "the expression has {} bytes, the limit is {}",
                source.len(),
                limits.expression_bytes
            ),
        ));
    }
    let mut lexer = Lexer::new(source);
    let (token, span) = lexer.next()?;
    let mut parser = Parser {
        source,
        lexer,
        token,
        span,
        last: span,
        depth: 0,
        limit: limits.effective_depth(),
    };
    if parser.token == Token::End {
        return Err(problem(parser.span, "the expression is empty"));
    }
    let expr = parser.expression()?;
    if parser.token == Token::End {
        return Ok(expr);
    }
    Err(parser.unexpected("an operator or the end of the expression"))
}

struct Parser<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    token: Token<'s>,
    span: Span,
    /// Where the token before the current one stood.
    last: Span,
    depth: u16,
    limit: u16,
}

type Parsed = Result<Box<Expr>, Box<Problem>>;

enum Infix {
    Logic(LogicOp),
    Binary(BinaryOp),
}

impl<'s> Parser<'s> {
    fn advance(&mut self) -> Result<Token<'s>, Box<Problem>> {
        let (token, span) = self.lexer.next()?;
        self.last = self.span;
        self.span = span;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(s) if s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> Result<bool, Box<Problem>> {
        let found = self.at(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str, wanted: &str) -> Result<(), Box<Problem>> {
        if self.eat(symbol)? {
            Ok(())
        } else {
            Err(self.unexpected(wanted))
        }
    }

    fn unexpected(&self, wanted: &str) -> Box<Problem> {
        let found = self.token.describe(self.span.text(self.source));
        let mut bad = problem(self.span, format!("expected {wanted}, found {found}"));
        if self.at("=") {
            bad.help = Some("equality is `==`".to_owned());
        }
        bad
    }

    fn node(&self, span: Span, kind: ExprKind) -> Parsed {
        let expr = Box::new(Expr::new(span, kind));
        if expr.height > self.limit {
            Err(self.too_deep(span))
        } else {
            Ok(expr)
        }
    }

    fn too_deep(&self, span: Span) -> Box<Problem> {
        problem(
            span,
            format!(
                "the expression is nested more than {} levels deep",
                self.limit
            ),
        )
    }

    /// conditional: or ['?' or ':' conditional]
    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > self.limit {
            return Err(self.too_deep(self.span));
        }
        let condition = self.infix(1)?;
        let expr = if self.eat("?")? {
            let then = self.infix(1)?;
            self.expect(":", "`:` of the conditional")?;
            let otherwise = self.expression()?;
            let span = condition.span.to(otherwise.span);
            self.node(
                span,
                ExprKind::Conditional(Box::new([*condition, *then, *otherwise])),
            )?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    /// Operators that bind at least as tightly as `least`; all associate to the left. One frame per operand instead of
    /// one per level of the grammar, because nesting is bounded by the stack.
    fn infix(&mut self, least: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((op, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            left = match op {
                Infix::Logic(op) => self.logic(op, binds, *left)?,
                Infix::Binary(op) => {
                    self.advance()?;
                    let right = self.infix(binds + 1)?;
                    let span = left.span.to(right.span);
                    self.node(span, ExprKind::Binary(op, left, right))?
                }
            };
        }
        Ok(left)
    }

    fn logic(&mut self, op: LogicOp, binds: u8, first: Expr) -> Parsed {
        let symbol = if op == LogicOp::Or { "||" } else { "&&" };
        let mut operands = vec![first];
        while self.eat(symbol)? {
            operands.push(*self.infix(binds + 1)?);
        }
        let span = operands[0].span.to(self.last);
        self.node(span, ExprKind::Logic(op, operands))
    }

    fn operator(&self) -> Option<(Infix, u8)> {
        let symbol = match self.token {
            Token::Symbol(s) => s,
            Token::Ident("in") => "in",
            _ => return None,
        };
        let (op, binds) = match symbol {
            "||" => return Some((Infix::Logic(LogicOp::Or), 1)),
            "&&" => return Some((Infix::Logic(LogicOp::And), 2)),
            "==" => (BinaryOp::Equal, 3),
            "!=" => (BinaryOp::NotEqual, 3),
            "<" => (BinaryOp::Less, 3),
            "<=" => (BinaryOp::LessEqual, 3),
            ">" => (BinaryOp::Greater, 3),
            ">=" => (BinaryOp::GreaterEqual, 3),
            "in" => (BinaryOp::In, 3),
            "+" => (BinaryOp::Add, 4),
            "-" => (BinaryOp::Subtract, 4),
            "*" => (BinaryOp::Multiply, 5),
            "/" => (BinaryOp::Divide, 5),
            "%" => (BinaryOp::Remainder, 5),
            _ => return None,
        };
        Some((Infix::Binary(op), binds))
    }

    fn unary(&mut self) -> Parsed {
        // Collected in a loop: a row of `!` must not recurse once per sign.
        let mut signs = Vec::new();
        loop {
            let op = match self.token {
                Token::Symbol("!") => UnaryOp::Not,
                Token::Symbol("-") => UnaryOp::Negate,
                _ => break,
            };
            signs.push((op, self.span));
            self.advance()?;
        }
        let negative = match (signs.last(), &self.token) {
            (Some((UnaryOp::Negate, span)), Token::Int(_) | Token::Double(_)) => Some(*span),
            _ => None,
        };
        if negative.is_some() {
            signs.pop();
        }
        let mut expr = self.postfix(negative)?;
        for (op, span) in signs.into_iter().rev() {
            expr = self.node(span.to(expr.span), ExprKind::Unary(op, expr))?;
        }
        Ok(expr)
    }

    fn postfix(&mut self, negative: Option<Span>) -> Parsed {
        let mut expr = self.primary(negative)?;
        loop {
            if self.eat(".")? {
                expr = self.member(expr)?;
            } else if self.eat("[")? {
                let access = self.access()?;
                let index = self.expression()?;
                self.expect("]", "`]` after the index")?;
                let span = expr.span.to(self.last);
                expr = self.node(span, ExprKind::Index(expr, index, access))?;
            } else if self.at("{") && expr.qualified_name().is_some() {
                expr = self.message(&expr)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn access(&mut self) -> Result<Access, Box<Problem>> {
        Ok(if self.eat("?")? {
            Access::Optional
        } else {
            Access::Required
        })
    }

    fn member(&mut self, operand: Box<Expr>) -> Parsed {
        let access = self.access()?;
        let span = self.span;
        let name = match self.token {
            Token::Ident(text) if KEYWORDS.contains(&text) => {
                let mut bad = self.unexpected("a field name");
                bad.help = Some(format!("write [\"{text}\"] to reach a field of that name"));
                return Err(bad);
            }
            Token::Ident(text) => text,
            Token::Quoted(text) => {
                self.advance()?;
                let field = Name {
                    text: text.to_owned(),
                    span,
                    rooted: false,
                };
                let whole = operand.span.to(span);
                return self.node(whole, ExprKind::Select(operand, field, access));
            }
            _ => return Err(self.unexpected("a field name")),
        };
        self.advance()?;
        let name = Name {
            text: name.to_owned(),
            span,
            rooted: false,
        };
        if access == Access::Required && self.eat("(")? {
            let args = self.arguments()?;
            let span = operand.span.to(self.last);
            return self.node(
                span,
                ExprKind::Call {
                    target: Some(operand),
                    function: name,
                    args,
                },
            );
        }
        let whole = operand.span.to(span);
        self.node(whole, ExprKind::Select(operand, name, access))
    }
}
