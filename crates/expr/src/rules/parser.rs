//! Tokens to a rule, by the precedence of expr-lang.

use std::ops::Range;

use super::ast::{Expr, FUNCTIONS, Kind, Operator};
use super::lexer::{Token, problem, tokenize};
use crate::cel::Problem;

/// Parentheses, closures and operators inside each other.
const MAX_NESTING: usize = 60;
/// Operators and accesses of one rule: each is a call around another.
const MAX_LINKS: usize = 500;
/// Longer texts are no rules.
const MAX_LENGTH: usize = 16 * 1024;

pub(super) fn parse(text: &str) -> Result<Expr, Problem> {
    if text.len() > MAX_LENGTH {
        return Err(problem(
            0..0,
            format!(
                "a rule may have {MAX_LENGTH} bytes, this has {}",
                text.len()
            ),
        ));
    }
    let mut parser = Parser {
        tokens: tokenize(text)?,
        at: 0,
        closures: 0,
        nesting: 0,
        links: 0,
    };
    if parser.peek() == &Token::End {
        return Err(problem(0..0, "the rule is empty"));
    }
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    /// How many closures surround this place: `#` and `.field` need one.
    closures: usize,
    nesting: usize,
    links: usize,
}

/// Binding strength of a binary operator, and whether it groups to the right.
fn binary(word: &str) -> Option<(Operator, u8, bool)> {
    Some(match word {
        "||" | "or" => (Operator::Or, 10, false),
        "&&" | "and" => (Operator::And, 15, false),
        "==" => (Operator::Equal, 20, false),
        "!=" => (Operator::NotEqual, 20, false),
        "<" => (Operator::Less, 20, false),
        "<=" => (Operator::LessOrEqual, 20, false),
        ">" => (Operator::Greater, 20, false),
        ">=" => (Operator::GreaterOrEqual, 20, false),
        "in" => (Operator::In, 20, false),
        "contains" => (Operator::Contains, 20, false),
        "startsWith" => (Operator::StartsWith, 20, false),
        "endsWith" => (Operator::EndsWith, 20, false),
        "matches" => (Operator::Matches, 20, false),
        "+" => (Operator::Add, 30, false),
        "-" => (Operator::Subtract, 30, false),
        "*" => (Operator::Multiply, 60, false),
        "/" => (Operator::Divide, 60, false),
        "%" => (Operator::Remainder, 60, false),
        "**" | "^" => (Operator::Power, 100, true),
        "??" => (Operator::Coalesce, 110, false),
        _ => return None,
    })
}

const NOT: u8 = 50;
const SIGN: u8 = 90;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.at.min(self.tokens.len() - 1)].1.clone()
    }

    /// Where the token before this place ended.
    fn before(&self) -> usize {
        self.tokens[self.at.max(1) - 1].1.end
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if *s == symbol)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Problem> {
        match self.eat(symbol) {
            true => Ok(()),
            false => Err(problem(self.span(), format!("expected `{symbol}`"))),
        }
    }

    fn unexpected(&self) -> Problem {
        let message = match self.peek() {
            Token::End => "the rule ends too early".to_owned(),
            Token::Symbol("..") => "ranges such as 1..3 are not part of this subset".to_owned(),
            Token::Symbol(s) => format!("unexpected `{s}`"),
            Token::Word(w) => format!("unexpected `{w}`"),
            _ => "a value is not expected here".to_owned(),
        };
        problem(self.span(), message)
    }

    fn link(&mut self) -> Result<(), Problem> {
        self.links += 1;
        match self.links > MAX_LINKS {
            true => Err(problem(
                self.span(),
                format!("the rule has more than {MAX_LINKS} operators"),
            )),
            false => Ok(()),
        }
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(problem(self.span(), "the rule is nested too deeply"));
        }
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// `a ? b : c` and pipes, which bind weakest.
    fn expression(&mut self) -> Result<Expr, Problem> {
        self.nested(|p| {
            let mut expr = p.operators(0)?;
            while p.eat("|") {
                p.link()?;
                expr = p.piped(expr)?;
            }
            if !p.eat("?") {
                return Ok(expr);
            }
            let yes = p.expression()?;
            p.expect(":")?;
            let no = p.expression()?;
            let span = expr.span.start..no.span.end;
            let (test, yes, no) = (Box::new(expr), Box::new(yes), Box::new(no));
            Ok(Expr {
                kind: Kind::Choose { test, yes, no },
                span,
            })
        })
    }

    /// `list | filter(.x) | len()`: what is piped is the first argument.
    fn piped(&mut self, first: Expr) -> Result<Expr, Problem> {
        let span = self.span();
        let Token::Word(name) = self.peek().clone() else {
            return Err(problem(span, "expected a function after `|`"));
        };
        self.at += 1;
        self.call(&name, span, Some(first))
    }

    fn operators(&mut self, least: u8) -> Result<Expr, Problem> {
        let mut left = self.nested(Self::unary)?;
        loop {
            let start = self.at;
            let negated = matches!(self.peek(), Token::Word(w) if w == "not");
            self.at += usize::from(negated);
            let word = match self.peek() {
                Token::Symbol(s) => (*s).to_owned(),
                Token::Word(w) => w.clone(),
                _ => String::new(),
            };
            let found = binary(&word).filter(|(operator, strength, _)| {
                let negatable = *operator as u8 >= Operator::In as u8
                    && *operator as u8 <= Operator::Matches as u8;
                *strength >= least && (!negated || negatable)
            });
            let Some((operator, strength, right_first)) = found else {
                self.at = start;
                return Ok(left);
            };
            self.at += 1;
            self.link()?;
            let right =
                self.nested(|p| p.operators(if right_first { strength } else { strength + 1 }))?;
            let span = left.span.start..right.span.end;
            let (a, b) = (Box::new(left), Box::new(right));
            left = Expr {
                kind: Kind::Binary {
                    operator,
                    left: a,
                    right: b,
                },
                span: span.clone(),
            };
            if negated {
                left = Expr {
                    kind: Kind::Not(Box::new(left)),
                    span,
                };
            }
        }
    }

    fn unary(&mut self) -> Result<Expr, Problem> {
        let start = self.span().start;
        let wrap: fn(Box<Expr>) -> Kind = match self.peek() {
            Token::Symbol("!") => Kind::Not,
            Token::Word(w) if w == "not" => Kind::Not,
            Token::Symbol("-") => Kind::Negate,
            Token::Symbol("+") => {
                self.at += 1;
                return self.nested(|p| p.operators(SIGN));
            }
            _ => return self.postfix(),
        };
        let strength = if self.is("-") { SIGN } else { NOT };
        self.at += 1;
        let operand = self.nested(|p| p.operators(strength))?;
        let span = start..operand.span.end;
        Ok(Expr {
            kind: wrap(Box::new(operand)),
            span,
        })
    }

    /// A value and the `.field`, `?.field` and `[index]` after it.
    fn postfix(&mut self) -> Result<Expr, Problem> {
        let mut base = self.primary()?;
        loop {
            let safe = self.is("?.");
            let key = if self.eat(".") || self.eat("?.") {
                if safe && self.is("[") {
                    self.at += 1;
                    self.index()?
                } else {
                    self.field()?
                }
            } else if self.eat("[") {
                self.index()?
            } else {
                return Ok(base);
            };
            self.link()?;
            let span = base.span.start..self.before();
            let (base_box, key) = (Box::new(base), Box::new(key));
            base = Expr {
                kind: Kind::Get {
                    base: base_box,
                    key,
                    safe,
                },
                span,
            };
        }
    }

    fn field(&mut self) -> Result<Expr, Problem> {
        let span = self.span();
        let Token::Word(name) = self.peek().clone() else {
            return Err(problem(span, "expected the name of a field"));
        };
        self.at += 1;
        if self.is("(") {
            return Err(problem(
                span,
                format!("`{name}` is called like a method; write {name}(value, …)"),
            ));
        }
        Ok(Expr {
            kind: Kind::Text(name),
            span,
        })
    }

    /// After `[`.
    fn index(&mut self) -> Result<Expr, Problem> {
        if self.is(":") {
            return Err(problem(self.span(), "slices are not part of this subset"));
        }
        let key = self.expression()?;
        if self.is(":") {
            return Err(problem(self.span(), "slices are not part of this subset"));
        }
        self.expect("]")?;
        Ok(key)
    }

    fn primary(&mut self) -> Result<Expr, Problem> {
        let span = self.span();
        let token = self.peek().clone();
        let kind = match token {
            Token::Int(i) => Kind::Int(i),
            Token::Float(f) => Kind::Float(f),
            Token::Text(text) => Kind::Text(text),
            Token::Word(word) => {
                self.at += 1;
                return self.word(word, span);
            }
            Token::Symbol("(") => {
                self.at += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Symbol("[") => return self.list(span.start),
            Token::Symbol("{") => return self.map(span.start),
            Token::Symbol("#") if self.closures > 0 => Kind::Element,
            // `.field` in a closure is short for `#.field`; the dot is read again.
            Token::Symbol("." | "?.") if self.closures > 0 => {
                return Ok(Expr {
                    kind: Kind::Element,
                    span: span.start..span.start,
                });
            }
            Token::Symbol("#" | ".") => {
                let message =
                    "this stands for the element of a list, so it needs a closure around it";
                return Err(problem(span, message));
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Expr { kind, span })
    }

    fn word(&mut self, word: String, span: Range<usize>) -> Result<Expr, Problem> {
        let kind = match word.as_str() {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "nil" | "null" => Kind::Nil,
            "let" | "if" => {
                return Err(problem(
                    span,
                    format!("`{word}` is not part of this subset"),
                ));
            }
            _ if self.is("(") => return self.call(&word, span, None),
            _ if binary(&word).is_some() => {
                return Err(problem(span, format!("a value is missing before `{word}`")));
            }
            _ => Kind::Name(word),
        };
        Ok(Expr { kind, span })
    }

    fn list(&mut self, start: usize) -> Result<Expr, Problem> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.eat("]") {
            items.push(self.expression()?);
            if !self.eat(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(Expr {
            kind: Kind::List(items),
            span: start..self.before(),
        })
    }

    fn map(&mut self, start: usize) -> Result<Expr, Problem> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.eat("}") {
            let span = self.span();
            let kind = match self.peek().clone() {
                Token::Word(name) | Token::Text(name) => Kind::Text(name),
                _ => return Err(problem(span, "expected a key, as in {name: value}")),
            };
            self.at += 1;
            self.expect(":")?;
            entries.push((Expr { kind, span }, self.expression()?));
            if !self.eat(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(Expr {
            kind: Kind::Map(entries),
            span: start..self.before(),
        })
    }

    fn call(
        &mut self,
        name: &str,
        span: Range<usize>,
        piped: Option<Expr>,
    ) -> Result<Expr, Problem> {
        let found = FUNCTIONS.iter().find(|(known, ..)| *known == name);
        let Some((_, function, least, most, closure)) = found.copied() else {
            let known = FUNCTIONS.iter().map(|(known, ..)| *known);
            let hint = crate::template::nearest(name, known);
            return Err(problem(
                span,
                format!("the function `{name}` is not known{hint}"),
            ));
        };
        let start = piped.as_ref().map_or(span.start, |piped| piped.span.start);
        let mut args: Vec<Expr> = piped.into_iter().collect();
        self.expect("(")?;
        while !self.eat(")") {
            let in_closure = closure && args.len() == 1;
            args.push(match in_closure {
                true => self.closure()?,
                false => self.expression()?,
            });
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        if !(least..=most).contains(&args.len()) {
            let wanted = match (least, most) {
                (1, 1) => "1 argument".to_owned(),
                (least, most) if least == most => format!("{least} arguments"),
                (least, most) => format!("{least} or {most} arguments"),
            };
            return Err(problem(
                span,
                format!("`{name}` takes {wanted}, got {}", args.len()),
            ));
        }
        Ok(Expr {
            kind: Kind::Call { function, args },
            span: start..self.before(),
        })
    }

    /// `{.x == 1}` or, without braces, `.x == 1`.
    fn closure(&mut self) -> Result<Expr, Problem> {
        self.closures += 1;
        let braces = self.eat("{");
        let body = self.expression()?;
        if braces {
            self.expect("}")?;
        }
        self.closures -= 1;
        Ok(body)
    }
}
