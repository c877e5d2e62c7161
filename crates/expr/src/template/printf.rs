//! Go's `fmt.Sprintf` for template values.

use super::context::{Context, Problem};
use super::value::Value;

/// Wider paddings are refused by Go as well.
const MAX_WIDTH: usize = 1_000_000;

#[derive(Default, Clone)]
struct Spec {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Formats `args` by `format`; mistakes show up in the text (`%!d(string=x)`), as in Go.
pub(super) fn sprintf<'a>(
    context: &Context<'a>,
    format: &str,
    args: &[Value<'a>],
) -> Result<String, Problem> {
    let mut out = String::with_capacity(format.len() + 16);
    let mut chars = format.chars().peekable();
    let mut next = 0;
    let mut reordered = false;
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "+-# 0".contains(*c)) {
            match flag {
                '+' => spec.plus = true,
                '-' => spec.minus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                _ => spec.zero = true,
            }
        }
        reordered |= index(&mut chars, &mut next);
        spec.width = size(&mut chars, args, &mut next, &mut spec.minus);
        if chars.next_if_eq(&'.').is_some() {
            reordered |= index(&mut chars, &mut next);
            spec.precision = Some(size(&mut chars, args, &mut next, &mut false).unwrap_or(0));
        }
        reordered |= index(&mut chars, &mut next);
        let widest = spec.width.unwrap_or(0).max(spec.precision.unwrap_or(0));
        if widest > MAX_WIDTH {
            return Err(Problem::Limit(format!("a width of {widest} is too large")));
        }
        context.room(out.len() + widest)?;
        match chars.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => match args.get(next) {
                None => out.push_str(&format!("%!{verb}(MISSING)")),
                Some(arg) => {
                    next += 1;
                    write(context, &mut out, &spec, verb, arg)?;
                }
            },
        }
    }
    if !reordered && next < args.len() {
        out.push_str("%!(EXTRA ");
        for (i, arg) in args[next..].iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let value = context.printed(arg)?;
            match arg {
                Value::Nil => out.push_str(&format!("{comma}<nil>")),
                _ => out.push_str(&format!("{comma}{}={value}", type_name(arg))),
            }
        }
        out.push(')');
    }
    context.room(out.len())?;
    Ok(out)
}

type Chars<'f> = std::iter::Peekable<std::str::Chars<'f>>;

/// `[2]`: the number of the argument to use next.
fn index(chars: &mut Chars<'_>, next: &mut usize) -> bool {
    if chars.next_if_eq(&'[').is_none() {
        return false;
    }
    let mut value = 0_usize;
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        value = value
            .saturating_mul(10)
            .saturating_add(c as usize - '0' as usize);
    }
    chars.next_if_eq(&']');
    // Out of range shows as a missing argument.
    *next = value.checked_sub(1).unwrap_or(usize::MAX - 1);
    true
}

fn size(
    chars: &mut Chars<'_>,
    args: &[Value<'_>],
    next: &mut usize,
    minus: &mut bool,
) -> Option<usize> {
    if chars.next_if_eq(&'*').is_some() {
        let value = args.get(*next);
        *next += 1;
        return match value {
            Some(Value::Int(i)) => {
                *minus |= *i < 0;
                Some(i.unsigned_abs() as usize)
            }
            _ => None,
        };
    }
    let mut value = None;
    while let Some(c) = chars.next_if(char::is_ascii_digit) {
        let digit = c as usize - '0' as usize;
        value = Some(
            value
                .unwrap_or(0_usize)
                .saturating_mul(10)
                .saturating_add(digit),
        );
    }
    value
}

fn type_name(value: &Value<'_>) -> &'static str {
    match value {
        Value::Nil => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Uint(_) => "uint64",
        Value::Float(_) => "float64",
        Value::Text(_) | Value::Pattern(_) => "string",
        Value::Array(_) | Value::List(_) => "[]interface {}",
        Value::Object(_) | Value::Dict(_) | Value::Roots(_) => "map[string]interface {}",
        Value::Time(_) => "time.Time",
    }
}

fn write<'a>(
    context: &Context<'a>,
    out: &mut String,
    spec: &Spec,
    verb: char,
    arg: &Value<'a>,
) -> Result<(), Problem> {
    if verb == 'T' {
        pad(out, spec, type_name(arg).to_owned());
        return Ok(());
    }
    if verb != 'v'
        && let Some(items) = arg.items()
    {
        // Go applies the verb to each item.
        out.push('[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                out.push(' ');
            }
            context.spend(1)?;
            write(context, out, spec, verb, item)?;
        }
        out.push(']');
        return Ok(());
    }
    let text = match (verb, arg) {
        ('v', Value::Text(t)) if spec.sharp => quote(t.as_str(), false),
        ('v', Value::Float(f)) => float(spec, 'v', *f),
        ('v', Value::Int(i)) => integer(spec, 'd', i128::from(*i)),
        ('v', Value::Uint(u)) => integer(spec, 'd', i128::from(*u)),
        ('v', other) => context.printed(other)?,
        ('t', Value::Bool(b)) => b.to_string(),
        ('d' | 'b' | 'o' | 'O' | 'x' | 'X', Value::Int(i)) => integer(spec, verb, i128::from(*i)),
        ('d' | 'b' | 'o' | 'O' | 'x' | 'X', Value::Uint(u)) => integer(spec, verb, i128::from(*u)),
        ('c' | 'q' | 'U', Value::Int(i)) => {
            let c = u32::try_from(*i).ok().and_then(char::from_u32);
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            match verb {
                'c' => c.to_string(),
                'q' => quote_char(c),
                _ => format!("U+{:04X}", u32::from(c)),
            }
        }
        ('f' | 'F' | 'e' | 'E' | 'g' | 'G', Value::Float(f)) => float(spec, verb, *f),
        ('s' | 'q' | 'x' | 'X', Value::Text(_) | Value::Time(_) | Value::Pattern(_)) => {
            let mut text = context.printed(arg)?;
            if let (Some(limit), 's' | 'q') = (spec.precision, verb) {
                text = text.chars().take(limit).collect();
            }
            match verb {
                's' => text,
                'q' if spec.sharp && !text.contains('`') => format!("`{text}`"),
                'q' => quote(&text, spec.plus),
                'x' => text.bytes().map(|b| format!("{b:02x}")).collect(),
                _ => text.bytes().map(|b| format!("{b:02X}")).collect(),
            }
        }
        (verb, Value::Nil) => format!("%!{verb}(<nil>)"),
        (verb, other) => {
            let text = context.printed(other)?;
            format!("%!{verb}({}={text})", type_name(other))
        }
    };
    pad(out, spec, text);
    Ok(())
}

fn pad(out: &mut String, spec: &Spec, text: String) {
    let missing = spec.width.unwrap_or(0).saturating_sub(text.chars().count());
    let zero = spec.zero && !spec.minus;
    if missing == 0 {
        out.push_str(&text);
    } else if spec.minus {
        out.push_str(&text);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if zero {
        // Zeros go between the sign and the digits.
        let signed =
            text.starts_with(['+', '-']) && text[1..].starts_with(|c: char| c.is_ascii_digit());
        let (sign, digits) = text.split_at(usize::from(signed));
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(&text);
    }
}

fn signed(spec: &Spec, negative: bool, digits: String) -> String {
    let sign = match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    format!("{sign}{digits}")
}

fn integer(spec: &Spec, verb: char, value: i128) -> String {
    let size = value.unsigned_abs();
    let (prefix, mut digits) = match verb {
        'b' => ("0b", format!("{size:b}")),
        'o' => ("0", format!("{size:o}")),
        'O' => ("0o", format!("{size:o}")),
        'x' => ("0x", format!("{size:x}")),
        'X' => ("0X", format!("{size:X}")),
        _ => ("", size.to_string()),
    };
    if let Some(precision) = spec.precision {
        digits = format!("{digits:0>precision$}");
    }
    if spec.sharp || verb == 'O' {
        digits.insert_str(0, prefix);
    }
    signed(spec, value < 0, digits)
}

/// `1e21`-style text of a number with the shortest digits.
fn exponent(value: f64, precision: Option<usize>) -> String {
    let text = match precision {
        Some(precision) => format!("{value:.precision$e}"),
        None => format!("{value:e}"),
    };
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.abs())
}

/// A float as templates print it: never an exponent for what people call a number.
pub(super) fn plain_float(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else if size != 0.0 && !(1e-4..1e21).contains(&size) {
        exponent(value, None)
    } else {
        format!("{value}")
    }
}

fn float(spec: &Spec, verb: char, value: f64) -> String {
    if !value.is_finite() {
        return plain_float(value);
    }
    let size = value.abs();
    let text = match (verb, spec.precision) {
        ('v', None) => plain_float(size),
        ('f' | 'F', precision) => {
            let precision = precision.unwrap_or(6);
            format!("{size:.precision$}")
        }
        ('e' | 'E', precision) => exponent(size, Some(precision.unwrap_or(6))),
        (_, precision) => general(size, precision),
    };
    let text = if verb == 'E' || verb == 'G' {
        text.to_uppercase()
    } else {
        text
    };
    signed(spec, value.is_sign_negative(), text)
}

/// `%g`: the shorter of `%e` and `%f`, without zeros at the end.
fn general(size: f64, precision: Option<usize>) -> String {
    let scientific = exponent(size, precision.map(|p| p.max(1) - 1));
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let limit = precision.map_or(6, |p| p.max(1) as i32);
    if size != 0.0 && (power < -4 || power >= limit) {
        let digits = match precision {
            Some(_) if digits.contains('.') => digits.trim_end_matches('0').trim_end_matches('.'),
            _ => digits,
        };
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.abs());
    }
    match precision {
        None => format!("{size}"),
        Some(p) => {
            let places = (p.max(1) as i32 - 1 - power).max(0) as usize;
            let text = format!("{size:.places$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    }
}

/// `strconv.Quote`.
pub(super) fn quote(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            c => escape(&mut out, c, ascii),
        }
    }
    out.push('"');
    out
}

fn quote_char(c: char) -> String {
    let mut out = String::from("'");
    match c {
        '\'' => out.push_str("\\'"),
        c => escape(&mut out, c, false),
    }
    out.push('\'');
    out
}

fn escape(out: &mut String, c: char, ascii: bool) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if u32::from(c) < 0x20 || c == '\u{7f}' => {
            out.push_str(&format!("\\x{:02x}", u32::from(c)));
        }
        c if c.is_control() || (ascii && !c.is_ascii()) || is_invisible(c) => {
            let code = u32::from(c);
            if code > 0xffff {
                out.push_str(&format!("\\U{code:08x}"));
            } else {
                out.push_str(&format!("\\u{code:04x}"));
            }
        }
        c => out.push(c),
    }
}

/// Spaces and format characters Go does not count as printable.
fn is_invisible(c: char) -> bool {
    (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}
