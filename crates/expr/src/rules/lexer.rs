//! Rule text to tokens.

use std::ops::Range;

use crate::cel::Problem;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    /// Names and word operators alike.
    Word(String),
    Symbol(&'static str),
    End,
}

/// Longest first where one begins another.
const SYMBOLS: [&str; 34] = [
    "?.", "??", "**", "==", "!=", "<=", ">=", "&&", "||", "..", "(", ")", "[", "]", "{", "}", ",",
    ":", "?", ".", "#", "+", "-", "*", "/", "%", "^", "<", ">", "!", "|", ";", "=", "&",
];

pub(super) fn problem(span: Range<usize>, message: impl Into<String>) -> Problem {
    Problem {
        message: message.into(),
        span,
        help: None,
    }
}

pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, Range<usize>)>, Problem> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at = skip(text, at)?;
        let rest = &text[at..];
        let Some(c) = rest.chars().next() else {
            tokens.push((Token::End, at..at));
            return Ok(tokens);
        };
        let digit = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
        let (token, len) = match c {
            '"' | '\'' | '`' => string(rest, c, at)?,
            c if c.is_ascii_digit() || (c == '.' && digit(&rest[1..])) => number(rest, at)?,
            c if c == '_' || c.is_alphabetic() => {
                let end = rest
                    .find(|c: char| c != '_' && !c.is_alphanumeric())
                    .unwrap_or(rest.len());
                (Token::Word(rest[..end].to_owned()), end)
            }
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => (Token::Symbol(symbol), symbol.len()),
                None => {
                    let span = at..at + c.len_utf8();
                    return Err(problem(span, format!("unexpected character {c:?}")));
                }
            },
        };
        tokens.push((token, at..at + len));
        at += len;
    }
}

/// Past spaces and comments.
fn skip(text: &str, mut at: usize) -> Result<usize, Problem> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            match trimmed.find("*/") {
                Some(end) => at += end + 2,
                None => return Err(problem(at..at + 2, "this comment has no end")),
            }
        } else {
            return Ok(at);
        }
    }
}

fn string(rest: &str, quote: char, at: usize) -> Result<(Token, usize), Problem> {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((i, c)) = chars.next() {
        if c == quote {
            return Ok((Token::Text(out), i + 1));
        }
        if c != '\\' || quote == '`' {
            out.push(c);
            continue;
        }
        let Some((j, c)) = chars.next() else {
            break;
        };
        let code = |digits: usize| {
            let hex = rest.get(j + 1..j + 1 + digits)?;
            char::from_u32(u32::from_str_radix(hex, 16).ok()?)
        };
        let escaped = match c {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            '\\' | '"' | '\'' => Some(c),
            'u' => code(4),
            'x' => code(2),
            _ => None,
        };
        match escaped {
            Some(escaped) => out.push(escaped),
            None => {
                let span = at + i..at + j + c.len_utf8();
                return Err(problem(span, "unknown escape sequence"));
            }
        }
        for _ in 0..match c {
            'u' => 4,
            'x' => 2,
            _ => 0,
        } {
            chars.next();
        }
    }
    Err(problem(
        at..at + rest.len(),
        "this text has no closing quote",
    ))
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), Problem> {
    let bytes = rest.as_bytes();
    let mut end = 0;
    let hex = rest.starts_with("0x") || rest.starts_with("0X");
    while let Some(b) = bytes.get(end) {
        let fits = match b {
            b'0'..=b'9' | b'_' => true,
            b'.' => !hex && bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            b'x' | b'X' => hex && end == 1,
            b'+' | b'-' => !hex && matches!(bytes[end.max(1) - 1], b'e' | b'E'),
            b'e' | b'E' => true,
            b => hex && b.is_ascii_hexdigit(),
        };
        if !fits {
            break;
        }
        end += 1;
    }
    let text = rest[..end].replace('_', "");
    let span = at..at + end;
    let bad = || problem(span.clone(), format!("bad number {}", &rest[..end]));
    let token = if hex {
        Token::Int(i64::from_str_radix(&text[2..], 16).map_err(|_| bad())?)
    } else if text.contains(['.', 'e', 'E']) {
        Token::Float(
            text.parse()
                .ok()
                .filter(|f: &f64| f.is_finite())
                .ok_or_else(bad)?,
        )
    } else {
        Token::Int(text.parse().map_err(|_| bad())?)
    };
    Ok((token, end))
}
