//! Source text to tokens.

use super::literal;
use super::problem::Problem;
use super::span::Span;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'s> {
    Ident(&'s str),
    /// A field name between backticks.
    Quoted(&'s str),
    /// Magnitude only; the sign is the parser's.
    Int(u64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// How a message names the token.
    pub(crate) fn describe(&self, text: &str) -> String {
        match self {
            Self::End => "the end of the expression".to_owned(),
            _ => format!("`{}`", shorten(text)),
        }
    }
}

/// Long literals would drown the message they appear in.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}…")
}

/// Longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 25] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=",
];

pub(crate) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

/// Boxed: the parser recurses, and every frame holds several results.
pub(crate) fn problem(span: Span, message: impl Into<String>) -> Box<Problem> {
    Box::new(Problem {
        message: message.into(),
        span: span.range(),
        help: None,
    })
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    pub(crate) fn next(&mut self) -> Result<(Token<'s>, Span), Box<Problem>> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok((Token::End, Span::new(start, start)));
        };
        let token = match first {
            'a'..='z' | 'A'..='Z' | '_' => match literal::quote_after_prefix(rest) {
                Some(_) => self.string()?,
                None => self.ident(),
            },
            '"' | '\'' => self.string()?,
            '0'..='9' => self.number()?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            '`' => self.quoted()?,
            _ => self.symbol(first)?,
        };
        Ok((token, Span::new(start, self.at)))
    }

    fn ident(&mut self) -> Token<'s> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        self.at += len;
        Token::Ident(&rest[..len])
    }

    fn string(&mut self) -> Result<Token<'s>, Box<Problem>> {
        let start = self.at;
        match literal::string(self.rest()) {
            Ok((literal::Text::String(s), len)) => {
                self.at += len;
                Ok(Token::String(s))
            }
            Ok((literal::Text::Bytes(b), len)) => {
                self.at += len;
                Ok(Token::Bytes(b))
            }
            Err(bad) => {
                let (from, to) = bad.at;
                Err(problem(Span::new(start + from, start + to), bad.message))
            }
        }
    }

    fn number(&mut self) -> Result<Token<'s>, Box<Problem>> {
        let start = self.at;
        let (token, len) = literal::number(self.rest());
        self.at += len;
        let span = Span::new(start, self.at);
        if self
            .rest()
            .starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        {
            return Err(problem(
                span,
                format!("malformed number `{}`", span.text(self.source)),
            ));
        }
        token.map_err(|message| problem(span, message))
    }

    fn quoted(&mut self) -> Result<Token<'s>, Box<Problem>> {
        let start = self.at;
        let body = &self.rest()[1..];
        let Some(len) = body.find('`') else {
            return Err(problem(
                Span::new(start, self.source.len()),
                "unterminated backtick field name",
            ));
        };
        self.at += len + 2;
        let name = &body[..len];
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-/ ".contains(c);
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(problem(
                Span::new(start, self.at),
                "a backtick field name may hold letters, digits, `_`, `.`, `-`, `/` and spaces",
            ));
        }
        Ok(Token::Quoted(name))
    }

    fn symbol(&mut self, first: char) -> Result<Token<'s>, Box<Problem>> {
        let rest = self.rest();
        if let Some(symbol) = SYMBOLS.into_iter().find(|s| rest.starts_with(s)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        let span = Span::new(self.at, self.at + first.len_utf8());
        let mut bad = problem(
            span,
            format!("unexpected character `{}`", first.escape_debug()),
        );
        bad.help = match first {
            '&' => Some("logical and is `&&`".to_owned()),
            '|' => Some("logical or is `||`".to_owned()),
            _ => None,
        };
        Err(bad)
    }
}
