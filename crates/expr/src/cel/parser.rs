//! Tokens to syntax tree: precedence climbing, one token of lookahead, bounded depth.

use super::ast::{Access, BinaryOp, Expr, ExprKind, LogicOp, Name, UnaryOp};
use super::lexer::{Lexer, Token, problem};
use super::limits::Limits;
use super::problem::Problem;
use super::span::Span;
use super::value::Value;

/// Words the language keeps for itself; fine as a field or method, not as a variable.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "namespace",
    "package",
    "return",
    "var",
    "void",
    "while",
];

const KEYWORDS: [&str; 4] = ["false", "in", "null", "true"];

pub(crate) fn parse(source: &str, limits: &Limits) -> Result<Expr, Problem> {
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

type Parsed = Result<Expr, Problem>;

impl<'s> Parser<'s> {
    fn advance(&mut self) -> Result<Token<'s>, Problem> {
        let (token, span) = self.lexer.next()?;
        self.last = self.span;
        self.span = span;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(s) if s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> Result<bool, Problem> {
        let found = self.at(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str, wanted: &str) -> Result<(), Problem> {
        if self.eat(symbol)? {
            Ok(())
        } else {
            Err(self.unexpected(wanted))
        }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        let found = self.token.describe(self.span.text(self.source));
        let mut bad = problem(self.span, format!("expected {wanted}, found {found}"));
        if self.at("=") {
            bad.help = Some("equality is `==`".to_owned());
        }
        bad
    }

    fn node(&self, span: Span, kind: ExprKind) -> Parsed {
        let expr = Expr::new(span, kind);
        if expr.height > self.limit {
            Err(self.too_deep(span))
        } else {
            Ok(expr)
        }
    }

    fn too_deep(&self, span: Span) -> Problem {
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
        let condition = self.logic(LogicOp::Or)?;
        let expr = if self.eat("?")? {
            let then = self.logic(LogicOp::Or)?;
            self.expect(":", "`:` of the conditional")?;
            let otherwise = self.expression()?;
            let span = condition.span.to(otherwise.span);
            self.node(
                span,
                ExprKind::Conditional(Box::new([condition, then, otherwise])),
            )?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn logic(&mut self, op: LogicOp) -> Parsed {
        let symbol = if op == LogicOp::Or { "||" } else { "&&" };
        let first = self.logic_operand(op)?;
        if !self.at(symbol) {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.eat(symbol)? {
            operands.push(self.logic_operand(op)?);
        }
        let span = operands[0].span.to(self.last);
        self.node(span, ExprKind::Logic(op, operands))
    }

    fn logic_operand(&mut self, op: LogicOp) -> Parsed {
        match op {
            LogicOp::Or => self.logic(LogicOp::And),
            LogicOp::And => self.binary(1),
        }
    }

    /// Relations bind at 1, sums at 2, products at 3; all to the left.
    fn binary(&mut self, level: u8) -> Parsed {
        let mut left = if level < 3 {
            self.binary(level + 1)?
        } else {
            self.unary()?
        };
        while let Some(op) = self.operator(level) {
            self.advance()?;
            let right = if level < 3 {
                self.binary(level + 1)?
            } else {
                self.unary()?
            };
            let span = left.span.to(right.span);
            left = self.node(span, ExprKind::Binary(op, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    fn operator(&self, level: u8) -> Option<BinaryOp> {
        let symbol = match self.token {
            Token::Symbol(s) => s,
            Token::Ident("in") => "in",
            _ => return None,
        };
        let (op, binds) = match symbol {
            "==" => (BinaryOp::Equal, 1),
            "!=" => (BinaryOp::NotEqual, 1),
            "<" => (BinaryOp::Less, 1),
            "<=" => (BinaryOp::LessEqual, 1),
            ">" => (BinaryOp::Greater, 1),
            ">=" => (BinaryOp::GreaterEqual, 1),
            "in" => (BinaryOp::In, 1),
            "+" => (BinaryOp::Add, 2),
            "-" => (BinaryOp::Subtract, 2),
            "*" => (BinaryOp::Multiply, 3),
            "/" => (BinaryOp::Divide, 3),
            "%" => (BinaryOp::Remainder, 3),
            _ => return None,
        };
        (binds == level).then_some(op)
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
            expr = self.node(span.to(expr.span), ExprKind::Unary(op, Box::new(expr)))?;
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
                expr = self.node(
                    span,
                    ExprKind::Index(Box::new(expr), Box::new(index), access),
                )?;
            } else if self.at("{") && expr.qualified_name().is_some() {
                expr = self.message(&expr)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn access(&mut self) -> Result<Access, Problem> {
        Ok(if self.eat("?")? {
            Access::Optional
        } else {
            Access::Required
        })
    }

    fn member(&mut self, operand: Expr) -> Parsed {
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
                return self.node(whole, ExprKind::Select(Box::new(operand), field, access));
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
                    target: Some(Box::new(operand)),
                    function: name,
                    args,
                },
            );
        }
        let whole = operand.span.to(span);
        self.node(whole, ExprKind::Select(Box::new(operand), name, access))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, Problem> {
        let mut args = Vec::new();
        if self.eat(")")? {
            return Ok(args);
        }
        loop {
            args.push(self.expression()?);
            if !self.eat(",")? {
                self.expect(")", "`,` or `)` in the arguments")?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self, negative: Option<Span>) -> Parsed {
        let span = self.span;
        if let Token::Symbol(symbol) = self.token {
            return match symbol {
                "(" => {
                    self.advance()?;
                    let mut inner = self.expression()?;
                    self.expect(")", "`)`")?;
                    inner.span = span.to(self.last);
                    Ok(inner)
                }
                "[" => self.list(),
                "{" => self.map(),
                "." => {
                    self.advance()?;
                    self.name(span, true)
                }
                _ => Err(self.unexpected("a value")),
            };
        }
        if matches!(self.token, Token::End | Token::Quoted(_)) {
            return Err(self.unexpected("a value"));
        }
        if let Token::Ident(word) = self.token {
            let constant = match word {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "null" => Value::Null,
                _ => return self.name(span, false),
            };
            self.advance()?;
            return self.node(span, ExprKind::Literal(constant));
        }
        let value = match self.advance()? {
            Token::Int(n) => self.int(n, negative, span)?,
            Token::Uint(n) => Value::Uint(n),
            Token::Double(n) => Value::Double(if negative.is_some() { -n } else { n }),
            Token::String(s) => Value::string(s),
            Token::Bytes(b) => Value::Bytes(b.into()),
            Token::Ident(_) | Token::Quoted(_) | Token::Symbol(_) | Token::End => Value::Null,
        };
        self.node(negative.unwrap_or(span).to(span), ExprKind::Literal(value))
    }

    fn int(
        &self,
        magnitude: u64,
        negative: Option<Span>,
        span: Span,
    ) -> Result<Value<'static>, Problem> {
        let signed = match negative {
            Some(_) => 0i64.checked_sub_unsigned(magnitude),
            None => i64::try_from(magnitude).ok(),
        };
        signed.map(Value::Int).ok_or_else(|| {
            let mut bad = problem(
                negative.unwrap_or(span).to(span),
                format!("integer {magnitude} is out of range"),
            );
            bad.help = Some(
                "integers are 64 bits wide and signed; an unsigned one ends in `u`".to_owned(),
            );
            bad
        })
    }

    /// An identifier or a call of a global function; `start` is where the leading dot stands, if there is one.
    fn name(&mut self, start: Span, rooted: bool) -> Parsed {
        let Token::Ident(text) = self.token else {
            return Err(self.unexpected("a name"));
        };
        if RESERVED.contains(&text) || KEYWORDS.contains(&text) {
            return Err(problem(self.span, format!("`{text}` is a reserved word")));
        }
        let name = Name {
            text: text.to_owned(),
            span: self.span,
            rooted,
        };
        self.advance()?;
        if self.eat("(")? {
            let args = self.arguments()?;
            return self.node(
                start.to(self.last),
                ExprKind::Call {
                    target: None,
                    function: name,
                    args,
                },
            );
        }
        self.node(start.to(self.last), ExprKind::Ident(name))
    }

    fn list(&mut self) -> Parsed {
        let start = self.span;
        self.advance()?;
        let mut items = Vec::new();
        while !self.at("]") {
            let access = self.access()?;
            items.push((self.expression()?, access));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("]", "`,` or `]` in the list")?;
        self.node(start.to(self.last), ExprKind::List(items))
    }

    fn map(&mut self) -> Parsed {
        let start = self.span;
        self.advance()?;
        let mut entries = Vec::new();
        while !self.at("}") {
            let access = self.access()?;
            let key = self.expression()?;
            self.expect(":", "`:` after the map key")?;
            entries.push((key, self.expression()?, access));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}", "`,` or `}` in the map")?;
        self.node(start.to(self.last), ExprKind::Map(entries))
    }

    fn message(&mut self, name: &Expr) -> Parsed {
        self.advance()?;
        while !self.at("}") {
            self.access()?;
            match self.token {
                Token::Ident(_) | Token::Quoted(_) => self.advance()?,
                _ => return Err(self.unexpected("a field name of the message")),
            };
            self.expect(":", "`:` after the field name")?;
            self.expression()?;
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}", "`,` or `}` in the message")?;
        self.node(name.span.to(self.last), ExprKind::Message)
    }
}
