//! Template text to tokens, by the rules of Go's `text/template/parse`: trim
//! markers, comments, and spaces that separate operands.

use super::TemplateError;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'s> {
    Text(&'s str),
    Open,
    Close,
    /// Separates operands: `f .a` is a call with an argument, `f.a` a field of its result.
    Space,
    Dot,
    Field(&'s str),
    /// `$` or `$name`, with the dollar sign.
    Variable(&'s str),
    Word(&'s str),
    Str(String),
    Number(&'s str),
    Char(char),
    Declare,
    Assign,
    Pipe,
    Comma,
    LeftParen,
    RightParen,
    End,
}

#[derive(Debug, Clone)]
pub(super) struct Token<'s> {
    pub kind: Kind<'s>,
    pub at: usize,
}

pub(super) struct Lexer<'s> {
    name: &'s str,
    source: &'s str,
    at: usize,
    parens: usize,
    tokens: Vec<Token<'s>>,
}

pub(super) fn tokenize<'s>(
    name: &'s str,
    source: &'s str,
) -> Result<Vec<Token<'s>>, TemplateError> {
    let mut lexer = Lexer {
        name,
        source,
        at: 0,
        parens: 0,
        tokens: Vec::new(),
    };
    lexer.run()?;
    Ok(lexer.tokens)
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn error<T>(&self, at: usize, message: impl Into<String>) -> Result<T, TemplateError> {
        Err(TemplateError::at(self.name, self.source, at, message))
    }

    fn push(&mut self, kind: Kind<'s>, at: usize) {
        self.tokens.push(Token { kind, at });
    }

    fn run(&mut self) -> Result<(), TemplateError> {
        // Text after `-}}` loses its leading spaces.
        let mut trim = false;
        loop {
            if trim {
                self.at += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
            }
            let start = self.at;
            let Some(found) = self.rest().find("{{") else {
                let text = self.rest();
                if !text.is_empty() {
                    self.push(Kind::Text(text), start);
                }
                self.push(Kind::End, self.source.len());
                return Ok(());
            };
            let mut text = &self.rest()[..found];
            let open = self.at + found;
            self.at = open + 2;
            let bytes = self.rest().as_bytes();
            let trims = bytes.first() == Some(&b'-')
                && bytes
                    .get(1)
                    .is_some_and(|b| SPACES.contains(&char::from(*b)));
            if trims {
                text = text.trim_end_matches(SPACES);
                self.at += 2;
            }
            if !text.is_empty() {
                self.push(Kind::Text(text), start);
            }
            trim = if self.rest().starts_with("/*") {
                self.comment(open)?
            } else {
                self.push(Kind::Open, open);
                self.action(open)?
            };
        }
    }

    /// Whether the text here closes the action, and whether it trims.
    fn closing(&self) -> Option<(usize, bool)> {
        let rest = self.rest();
        let mut chars = rest.chars();
        if rest.starts_with("}}") {
            return Some((2, false));
        }
        match chars.next() {
            Some(c) if SPACES.contains(&c) && chars.as_str().starts_with("-}}") => Some((4, true)),
            _ => None,
        }
    }

    fn comment(&mut self, open: usize) -> Result<bool, TemplateError> {
        let Some(end) = self.rest().find("*/") else {
            return self.error(open, "this comment has no end: write {{/* … */}}");
        };
        self.at += end + 2;
        match self.closing() {
            Some((width, trim)) => {
                self.at += width;
                Ok(trim)
            }
            None => self.error(self.at, "a comment must end with */}} or */ -}}"),
        }
    }

    /// Reads up to the closing delimiter and says whether it trims.
    fn action(&mut self, open: usize) -> Result<bool, TemplateError> {
        self.parens = 0;
        loop {
            if let Some((width, trim)) = self.closing() {
                if self.parens > 0 {
                    return self.error(self.at, "a left parenthesis is not closed");
                }
                self.push(Kind::Close, self.at);
                self.at += width;
                return Ok(trim);
            }
            let at = self.at;
            let Some(c) = self.rest().chars().next() else {
                return self.error(open, "this {{ has no closing }}");
            };
            match c {
                c if SPACES.contains(&c) => self.spaces(),
                '"' => self.quoted()?,
                '`' => self.raw()?,
                '\'' => self.character()?,
                '0'..='9' | '+' | '-' => self.number()?,
                '.' if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                    self.number()?
                }
                '.' => self.dotted('.')?,
                '$' => self.dotted('$')?,
                c if is_word(c) => self.word()?,
                ':' if self.rest().starts_with(":=") => {
                    self.at += 2;
                    self.push(Kind::Declare, at);
                }
                ':' => return self.error(at, "expected :="),
                _ => {
                    let kind = match c {
                        '=' => Kind::Assign,
                        '|' => Kind::Pipe,
                        ',' => Kind::Comma,
                        '(' => Kind::LeftParen,
                        ')' => Kind::RightParen,
                        c => return self.error(at, format!("unexpected character {c:?}")),
                    };
                    match kind {
                        Kind::LeftParen => self.parens += 1,
                        Kind::RightParen if self.parens == 0 => {
                            return self.error(at, "a right parenthesis without a left one");
                        }
                        Kind::RightParen => self.parens -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    self.push(kind, at);
                }
            }
        }
    }

    fn spaces(&mut self) {
        let at = self.at;
        while self.rest().starts_with(SPACES) && self.closing().is_none() {
            self.at += 1;
        }
        if self.at > at {
            self.push(Kind::Space, at);
        }
    }

    /// Go refuses `.a-b` and `$x"y"`: a name ends where a space or operator begins.
    fn at_terminator(&self) -> bool {
        self.rest().is_empty()
            || self.rest().starts_with("}}")
            || self
                .rest()
                .starts_with(|c: char| SPACES.contains(&c) || ".,|:)(".contains(c))
    }

    fn terminated(&self) -> Result<(), TemplateError> {
        if self.at_terminator() {
            return Ok(());
        }
        let c = self.rest().chars().next().unwrap_or(' ');
        let hint = if c == '-' {
            "; a key with a dash is read by (index .map \"key-with-dash\")"
        } else {
            ""
        };
        self.error(
            self.at,
            format!("unexpected character {c:?} in a name{hint}"),
        )
    }

    fn take_word(&mut self) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn dotted(&mut self, sign: char) -> Result<(), TemplateError> {
        let at = self.at;
        self.at += 1;
        let bare = self.at_terminator();
        let name = self.take_word();
        self.terminated()?;
        let kind = match (sign, bare) {
            ('.', true) => Kind::Dot,
            ('.', false) => Kind::Field(name),
            _ => Kind::Variable(&self.source[at..self.at]),
        };
        self.push(kind, at);
        Ok(())
    }

    fn word(&mut self) -> Result<(), TemplateError> {
        let at = self.at;
        let word = self.take_word();
        self.terminated()?;
        self.push(Kind::Word(word), at);
        Ok(())
    }

    fn number(&mut self) -> Result<(), TemplateError> {
        let at = self.at;
        let bytes = self.source.as_bytes();
        let accept = |set: &str, at: &mut usize, run: bool| {
            while let Some(b) = bytes.get(*at) {
                if !set.contains(char::from(*b)) {
                    return;
                }
                *at += 1;
                if !run {
                    return;
                }
            }
        };
        accept("+-", &mut self.at, false);
        let radix = self.rest().get(..2).map(str::to_ascii_lowercase);
        let digits = match radix.as_deref() {
            Some("0x") => "0123456789abcdefABCDEF_",
            Some("0o") => "01234567_",
            Some("0b") => "01_",
            _ => "0123456789_",
        };
        if digits != "0123456789_" {
            self.at += 2;
        }
        accept(digits, &mut self.at, true);
        accept(".", &mut self.at, false);
        accept(digits, &mut self.at, true);
        if digits == "0123456789_" && self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            accept("+-", &mut self.at, false);
            accept("0123456789_", &mut self.at, true);
        }
        let text = &self.source[at..self.at];
        if self.rest().starts_with(is_word) || !text.contains(|c: char| c.is_ascii_digit()) {
            let bad = self.take_word();
            return self.error(at, format!("bad number {text}{bad}"));
        }
        self.push(Kind::Number(text), at);
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), TemplateError> {
        let at = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.rest().chars().next() {
                None | Some('\n') => return self.error(at, "this string has no closing quote"),
                Some('"') => break,
                Some('\\') => out.push(self.escape('"')?),
                Some(c) => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.at += 1;
        self.push(Kind::Str(out), at);
        Ok(())
    }

    fn raw(&mut self) -> Result<(), TemplateError> {
        let at = self.at;
        let Some(end) = self.rest()[1..].find('`') else {
            return self.error(at, "this raw string has no closing backquote");
        };
        let text = self.rest()[1..=end].replace('\r', "");
        self.at += end + 2;
        self.push(Kind::Str(text), at);
        Ok(())
    }

    fn character(&mut self) -> Result<(), TemplateError> {
        let at = self.at;
        self.at += 1;
        let value = match self.rest().chars().next() {
            Some('\\') => self.escape('\'')?,
            Some(c) if c != '\'' && c != '\n' => {
                self.at += c.len_utf8();
                c
            }
            _ => return self.error(at, "bad character constant"),
        };
        if !self.rest().starts_with('\'') {
            return self.error(
                at,
                "bad character constant: strings are written with double quotes",
            );
        }
        self.at += 1;
        self.push(Kind::Char(value), at);
        Ok(())
    }

    /// One escape sequence of a Go string literal.
    fn escape(&mut self, quote: char) -> Result<char, TemplateError> {
        let at = self.at;
        let rest = &self.rest()[1..];
        let Some(c) = rest.chars().next() else {
            return self.error(at, "an escape sequence is not finished");
        };
        let (digits, radix, skip) = match c {
            'x' => (2, 16, 1),
            'u' => (4, 16, 1),
            'U' => (8, 16, 1),
            '0'..='7' => (3, 8, 0),
            _ => {
                self.at += 1 + c.len_utf8();
                return Ok(match c {
                    'a' => '\u{7}',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    'v' => '\u{b}',
                    '\\' => '\\',
                    c if c == quote => c,
                    c => return self.error(at, format!("unknown escape sequence \\{c}")),
                });
            }
        };
        let value = rest
            .get(skip..skip + digits)
            .and_then(|hex| u32::from_str_radix(hex, radix).ok())
            .and_then(char::from_u32);
        match value {
            Some(value) => {
                self.at += 1 + skip + digits;
                Ok(value)
            }
            None => self.error(at, "bad escape sequence"),
        }
    }
}
