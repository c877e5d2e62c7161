//! Operands: literals, names, calls, lists and maps.

use super::{KEYWORDS, Parsed, Parser};
use crate::cel::ast::{Expr, ExprKind, Name};
use crate::cel::lexer::{Token, problem};
use crate::cel::problem::Problem;
use crate::cel::span::Span;
use crate::cel::value::Value;

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

impl Parser<'_> {
    pub(super) fn arguments(&mut self) -> Result<Vec<Expr>, Box<Problem>> {
        let mut args = Vec::new();
        if self.eat(")")? {
            return Ok(args);
        }
        loop {
            args.push(*self.expression()?);
            if !self.eat(",")? {
                self.expect(")", "`,` or `)` in the arguments")?;
                return Ok(args);
            }
        }
    }

    pub(super) fn primary(&mut self, negative: Option<Span>) -> Parsed {
        let span = self.span;
        match self.token {
            Token::Symbol("(") => {
                self.advance()?;
                let mut inner = self.expression()?;
                self.expect(")", "`)`")?;
                inner.span = span.to(self.last);
                Ok(inner)
            }
            Token::Symbol("[") => self.list(),
            Token::Symbol("{") => self.map(),
            Token::Symbol(".") => {
                self.advance()?;
                self.name(span, true)
            }
            Token::Ident(word) if !["true", "false", "null"].contains(&word) => {
                self.name(span, false)
            }
            _ => self.literal(negative),
        }
    }

    fn literal(&mut self, negative: Option<Span>) -> Parsed {
        let span = self.span;
        let value = match &self.token {
            Token::Int(n) => self.int(*n, negative, span)?,
            Token::Uint(n) => Value::Uint(*n),
            Token::Double(n) => Value::Double(if negative.is_some() { -n } else { *n }),
            Token::String(s) => Value::string(s.as_str()),
            Token::Bytes(b) => Value::Bytes(b.as_slice().into()),
            Token::Ident("true") => Value::Bool(true),
            Token::Ident("false") => Value::Bool(false),
            Token::Ident("null") => Value::Null,
            _ => return Err(self.unexpected("a value")),
        };
        self.advance()?;
        self.node(negative.unwrap_or(span).to(span), ExprKind::Literal(value))
    }

    fn int(
        &self,
        magnitude: u64,
        negative: Option<Span>,
        span: Span,
    ) -> Result<Value<'static>, Box<Problem>> {
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
            items.push((*self.expression()?, access));
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
            entries.push((*key, *self.expression()?, access));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}", "`,` or `}` in the map")?;
        self.node(start.to(self.last), ExprKind::Map(entries))
    }

    pub(super) fn message(&mut self, name: &Expr) -> Parsed {
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
