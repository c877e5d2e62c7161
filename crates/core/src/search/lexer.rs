//! Search text to tokens.

use super::decimal::Decimal;
use super::error::SearchError;
use super::expr::Comparison;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A member of a resource, by its path.
    Name(Vec<Segment>),
    Text(String),
    Number(Decimal),
    Word(Word),
    Compare(Comparison),
    Symbol(char),
    End,
}

/// One step of a path: `.plain`, or `['anything']`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) text: String,
    pub(super) quoted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    And,
    Or,
    Not,
    In,
    Between,
    Is,
    Null,
    Like,
    ILike,
    True,
    False,
}

const WORDS: [(&str, Word); 11] = [
    ("and", Word::And),
    ("or", Word::Or),
    ("not", Word::Not),
    ("in", Word::In),
    ("between", Word::Between),
    ("is", Word::Is),
    ("null", Word::Null),
    ("like", Word::Like),
    ("ilike", Word::ILike),
    ("true", Word::True),
    ("false", Word::False),
];

/// Longest first where one begins another.
const COMPARISONS: [(&str, Comparison); 8] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<>", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Operators of the language that mean nothing for resources.
const UNSUPPORTED: [&str; 6] = ["~=", "~!", "+", "*", "/", "%"];
const UNSUPPORTED_WORDS: [&str; 4] = ["len", "any", "all", "sum"];

/// The tokens and where each begins; the last is `End`.
pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, usize)>, SearchError> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        let end = token.0 == Token::End;
        tokens.push(token);
        if end {
            return Ok(tokens);
        }
    }
}

pub(super) fn unsupported(position: usize, operator: &str) -> SearchError {
    SearchError::new(position, format!("operator '{operator}' is not supported"))
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Result<(Token, usize), SearchError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok((Token::End, start));
        };
        let token = match first {
            '\'' | '"' | '`' => Token::Text(self.string(first)?),
            c if c.is_ascii_digit() => Token::Number(self.number()?),
            c if c.is_ascii_alphabetic() || c == '_' => self.word_or_name()?,
            '(' | ')' | '[' | ']' | ',' | '-' => {
                self.at += 1;
                Token::Symbol(first)
            }
            _ => {
                let found = COMPARISONS
                    .iter()
                    .find(|(symbol, _)| self.rest().starts_with(symbol));
                match found {
                    Some((symbol, comparison)) => {
                        self.at += symbol.len();
                        Token::Compare(*comparison)
                    }
                    None => return Err(self.unexpected(first)),
                }
            }
        };
        Ok((token, start))
    }

    fn unexpected(&self, c: char) -> SearchError {
        match UNSUPPORTED
            .iter()
            .find(|symbol| self.rest().starts_with(**symbol))
        {
            Some(symbol) => unsupported(self.at, symbol),
            None => SearchError::syntax(self.at, format!("unexpected character {c:?}")),
        }
    }

    fn word_or_name(&mut self) -> Result<Token, SearchError> {
        let start = self.at;
        let plain = self.plain();
        let word = plain.to_ascii_lowercase();
        if let Some((_, word)) = WORDS.iter().find(|(known, _)| *known == word) {
            return Ok(Token::Word(*word));
        }
        if UNSUPPORTED_WORDS.contains(&word.as_str()) {
            return Err(unsupported(start, &plain));
        }
        let mut segments = split(&plain);
        while self.peek() == Some('[') {
            self.at += 1;
            let Some(quote @ ('\'' | '"' | '`')) = self.peek() else {
                return Err(SearchError::syntax(
                    self.at,
                    "expected a quoted name after '['",
                ));
            };
            segments.push(Segment {
                text: self.string(quote)?,
                quoted: true,
            });
            if self.peek() != Some(']') {
                return Err(SearchError::syntax(self.at, "expected ']'"));
            }
            self.at += 1;
            if self.peek() == Some('.') {
                self.at += 1;
                segments.extend(split(&self.plain()));
            }
        }
        Ok(Token::Name(segments))
    }

    /// What belongs to a name without quotes. A hyphen does if more of the name follows it.
    fn plain(&mut self) -> String {
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/');
        let start = self.at;
        while let Some(c) = self.peek() {
            let more = || {
                let after = self.rest()[1..].chars().next();
                after.is_some_and(|c| part(c) || c == '-')
            };
            if !(part(c) || c == '-' && more()) {
                break;
            }
            self.at += 1;
        }
        self.text[start..self.at].to_owned()
    }

    /// Between quotes: a doubled quote is that quote, a backslash takes the special meaning from what follows it.
    fn string(&mut self, quote: char) -> Result<String, SearchError> {
        let start = self.at;
        let mut out = String::new();
        self.at += 1;
        while let Some(c) = self.peek() {
            let here = self.at;
            self.at += c.len_utf8();
            let next = self.peek();
            match c {
                c if c == quote && next == Some(quote) => {
                    self.at += 1;
                    out.push(quote);
                }
                c if c == quote => return Ok(out),
                '\\' => {
                    self.at += next.map_or(0, char::len_utf8);
                    match next {
                        Some(c @ ('\\' | '\'' | '"' | '`')) => out.push(c),
                        Some('n') => out.push('\n'),
                        Some('t') => out.push('\t'),
                        Some('r') => out.push('\r'),
                        // For LIKE, which gives these two a meaning and the backslash the power to take it away.
                        Some(c @ ('%' | '_')) => out.extend(['\\', c]),
                        Some(_) => {
                            return Err(SearchError::syntax(here, "unknown escape sequence"));
                        }
                        None => {}
                    }
                }
                '\0' => {
                    return Err(SearchError::syntax(
                        here,
                        "a text cannot hold a NUL character",
                    ));
                }
                c => out.push(c),
            }
        }
        Err(SearchError::syntax(
            start,
            "a text without its closing quote",
        ))
    }

    /// `12`, `1.5`, `1e3`, `10k`, `4Gi`.
    fn number(&mut self) -> Result<Decimal, SearchError> {
        let start = self.at;
        let digits = |lexer: &mut Self| {
            while lexer.peek().is_some_and(|c| c.is_ascii_digit()) {
                lexer.at += 1;
            }
        };
        let digit_after = |lexer: &Self, skip: usize| {
            let byte = lexer.rest().as_bytes().get(skip);
            byte.is_some_and(u8::is_ascii_digit)
        };
        digits(self);
        if self.peek() == Some('.') && digit_after(self, 1) {
            self.at += 1;
            digits(self);
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            let sign = usize::from(self.rest()[1..].starts_with(['+', '-']));
            if digit_after(self, 1 + sign) {
                self.at += 1 + sign;
                digits(self);
            }
        }
        let number = Decimal::parse(&self.text[start..self.at]);
        let number = match self.suffix() {
            None => number,
            Some((factor, times)) => (0..times)
                .try_fold(number, |number, _| number?.times(factor).map(Some))
                .flatten(),
        };
        if self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return Err(SearchError::syntax(start, "a malformed number"));
        }
        number.ok_or_else(|| SearchError::syntax(start, "a number out of range"))
    }

    /// A factor, and how often it is applied.
    fn suffix(&mut self) -> Option<(u32, u32)> {
        let size = match self.peek()? {
            'k' | 'K' => 1,
            'M' => 2,
            'G' => 3,
            'T' => 4,
            'P' => 5,
            _ => return None,
        };
        let binary = self.rest()[1..].starts_with('i');
        self.at += 1 + usize::from(binary);
        Some((if binary { 1024 } else { 1000 }, size))
    }
}

fn split(plain: &str) -> Vec<Segment> {
    plain
        .split('.')
        .map(|text| Segment {
            text: text.to_owned(),
            quoted: false,
        })
        .collect()
}
