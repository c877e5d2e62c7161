//! Numbers, strings and bytes as CEL spells them.

use super::lexer::Token;

pub(crate) enum Text {
    String(String),
    Bytes(Vec<u8>),
}

/// What is wrong, and the byte range relative to the literal's start.
pub(crate) struct Malformed {
    pub(crate) message: String,
    pub(crate) at: (usize, usize),
}

/// Length of the `r`, `b` or `br` prefix if a quote follows it, so that `b` alone stays a name.
pub(crate) fn quote_after_prefix(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let lower = |i: usize| bytes.get(i).map(u8::to_ascii_lowercase);
    let len = match (lower(0), lower(1)) {
        (Some(b'b'), Some(b'r')) => 2,
        (Some(b'b' | b'r'), _) => 1,
        _ => return None,
    };
    matches!(bytes.get(len), Some(b'"' | b'\'')).then_some(len)
}

/// Reads a string or bytes literal at the start of `text`; gives the value and its length in the source.
pub(crate) fn string(text: &str) -> Result<(Text, usize), Malformed> {
    let prefix = quote_after_prefix(text).unwrap_or(0);
    let is = |c: u8| {
        text.as_bytes()[..prefix]
            .iter()
            .any(|b| b.to_ascii_lowercase() == c)
    };
    let (raw, bytes) = (is(b'r'), is(b'b'));
    let body = &text[prefix..];
    let quote = if body.starts_with("\"\"\"") || body.starts_with("'''") {
        &body[..3]
    } else {
        &body[..1]
    };

    let mut out = Builder {
        bytes,
        buffer: Vec::new(),
    };
    let mut at = prefix + quote.len();
    loop {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return Ok((out.finish(), at + quote.len()));
        }
        let Some(c) = rest.chars().next() else {
            return Err(Malformed {
                message: "unterminated string".to_owned(),
                at: (0, text.len()),
            });
        };
        if quote.len() == 1 && (c == '\n' || c == '\r') {
            return Err(Malformed {
                message: "unterminated string: a line break needs `\\n` or triple quotes"
                    .to_owned(),
                at: (0, at),
            });
        }
        if c == '\\' && !raw {
            at += escape(rest, &mut out).map_err(|(message, len)| Malformed {
                message,
                at: (at, at + len),
            })?;
        } else {
            out.push_char(c);
            at += c.len_utf8();
        }
    }
}

struct Builder {
    bytes: bool,
    buffer: Vec<u8>,
}

impl Builder {
    fn push_char(&mut self, c: char) {
        self.buffer
            .extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn finish(self) -> Text {
        if self.bytes {
            return Text::Bytes(self.buffer);
        }
        // Only whole characters are ever pushed into text.
        Text::String(String::from_utf8_lossy(&self.buffer).into_owned())
    }
}

/// Decodes one escape at the start of `rest`, returns how much source it took.
fn escape(rest: &str, out: &mut Builder) -> Result<usize, (String, usize)> {
    let Some(c) = rest.chars().nth(1) else {
        return Err(("unterminated escape".to_owned(), 1));
    };
    let simple = match c {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '?' | '"' | '\'' | '`' => c,
        'x' | 'X' => return code(rest, 2, 2, 16, out),
        'u' | 'U' if out.bytes => {
            return Err((format!("`\\{c}` is not allowed in bytes; use `\\x`"), 2));
        }
        'u' => return code(rest, 2, 4, 16, out),
        'U' => return code(rest, 2, 8, 16, out),
        '0'..='3' => return code(rest, 1, 3, 8, out),
        _ => {
            return Err((
                format!("unknown escape `\\{}`", c.escape_debug()),
                1 + c.len_utf8(),
            ));
        }
    };
    out.push_char(simple);
    Ok(2)
}

fn code(
    rest: &str,
    from: usize,
    digits: usize,
    radix: u32,
    out: &mut Builder,
) -> Result<usize, (String, usize)> {
    let len = from + digits;
    let number = rest
        .get(from..len)
        .filter(|d| d.chars().all(|c| c.is_digit(radix)));
    let Some(number) = number.and_then(|d| u32::from_str_radix(d, radix).ok()) else {
        return Err((format!("this escape needs {digits} digits"), from));
    };
    if out.bytes {
        out.buffer.push(u8::try_from(number).unwrap_or(u8::MAX));
        return Ok(len);
    }
    match char::from_u32(number) {
        Some(c) => {
            out.push_char(c);
            Ok(len)
        }
        None => Err((format!("{} is no Unicode character", &rest[..len]), len)),
    }
}

/// Reads a number at the start of `text`; gives the token and its length.
pub(crate) fn number(text: &str) -> (Result<Token<'static>, String>, usize) {
    let bytes = text.as_bytes();
    let run = |from: usize, ok: fn(&u8) -> bool| bytes[from..].iter().take_while(|b| ok(b)).count();
    if text.starts_with("0x") || text.starts_with("0X") {
        let digits = run(2, u8::is_ascii_hexdigit);
        return integer(text, &text[2..2 + digits], 16, 2 + digits);
    }
    let whole = run(0, u8::is_ascii_digit);
    let mut len = whole;
    let mut double = false;
    if bytes.get(len) == Some(&b'.') && bytes.get(len + 1).is_some_and(u8::is_ascii_digit) {
        double = true;
        len += 1 + run(len + 1, u8::is_ascii_digit);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let digits = run((len + 1 + sign).min(bytes.len()), u8::is_ascii_digit);
        if digits > 0 {
            double = true;
            len += 1 + sign + digits;
        }
    }
    if double {
        let parsed = text[..len].parse::<f64>().map(Token::Double);
        return (
            parsed.map_err(|_| format!("malformed number `{}`", &text[..len])),
            len,
        );
    }
    integer(text, &text[..whole], 10, whole)
}

fn integer(
    text: &str,
    digits: &str,
    radix: u32,
    len: usize,
) -> (Result<Token<'static>, String>, usize) {
    let unsigned = matches!(text.as_bytes().get(len), Some(b'u' | b'U'));
    let len = len + usize::from(unsigned);
    let token = u64::from_str_radix(digits, radix)
        .map(|n| {
            if unsigned {
                Token::Uint(n)
            } else {
                Token::Int(n)
            }
        })
        .map_err(|_| format!("integer `{}` is out of range", &text[..len]));
    (token, len)
}
