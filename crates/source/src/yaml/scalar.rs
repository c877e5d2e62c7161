//! What an unquoted word is: YAML 1.2's core schema.
//!
//! `yes`, `no`, `on` and `off` are strings, as 1.2 has it.

use saphyr_parser::Tag;

use crate::node::{Style, Value};

/// The value of a scalar, or why its tag does not fit.
pub(super) fn resolve(text: &str, style: Style, tag: Option<&Tag>) -> Result<Value, String> {
    let string = || Value::String(text.to_owned(), style);
    let Some(tag) = tag else {
        return Ok(match style {
            Style::Plain => core_schema(text).unwrap_or_else(string),
            _ => string(),
        });
    };
    if tag.handle.is_empty() && tag.suffix == "!" || tag.handle == "!" && tag.suffix.is_empty() {
        return Ok(string()); // the non-specific tag
    }
    if !tag.is_yaml_core_schema() {
        return Err(unsupported(tag));
    }
    let plain = core_schema(text);
    let value = match (tag.suffix.as_str(), plain) {
        ("str", _) => Some(string()),
        ("null", Some(value @ Value::Null)) => Some(value),
        ("bool", Some(value @ Value::Bool(_))) => Some(value),
        ("int", Some(value @ (Value::Int(_) | Value::UInt(_)))) => Some(value),
        ("float", Some(value @ Value::Float(_))) => Some(value),
        #[expect(clippy::cast_precision_loss, reason = "the author asked for a float")]
        ("float", Some(Value::Int(value))) => Some(Value::Float(value as f64)),
        ("null" | "bool" | "int" | "float", _) => None,
        _ => return Err(unsupported(tag)),
    };
    value.ok_or_else(|| format!("`{text}` is no `!!{}`", tag.suffix))
}

/// Why a collection cannot carry this tag.
pub(super) fn check_collection_tag(tag: Option<&Tag>, own: &str) -> Result<(), String> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == own) => Err(unsupported(tag)),
        _ => Ok(()),
    }
}

fn unsupported(tag: &Tag) -> String {
    let name = if tag.is_yaml_core_schema() {
        format!("!!{}", tag.suffix)
    } else {
        format!("{}{}", tag.handle, tag.suffix)
    };
    format!("the tag `{name}` has no meaning here")
}

pub(super) fn core_schema(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(digits, ".inf" | ".Inf" | ".INF") {
        let value = if negative {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        return Some(Value::Float(value));
    }
    integer(text, digits).or_else(|| float(text, digits))
}

fn integer(text: &str, digits: &str) -> Option<Value> {
    let radix = |prefix: &str, radix: u32| {
        let body = text.strip_prefix(prefix)?;
        let valid = !body.is_empty() && body.chars().all(|c| c.is_digit(radix));
        let value = valid.then(|| u64::from_str_radix(body, radix).ok())??;
        Some(i64::try_from(value).map_or(Value::UInt(value), Value::Int))
    };
    if let Some(value) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(value);
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // A number beyond 64 bits falls through and becomes a float, like in JSON.
    let signed = text.strip_prefix('+').unwrap_or(text);
    signed
        .parse()
        .map(Value::Int)
        .or_else(|_| signed.parse().map(Value::UInt))
        .ok()
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn float(text: &str, digits: &str) -> Option<Value> {
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    let exponent_fits = exponent.is_none_or(|part| {
        let part = part.strip_prefix(['-', '+']).unwrap_or(part);
        !part.is_empty() && all_digits(part)
    });
    if !(has_digits && all_digits(whole) && all_digits(fraction) && exponent_fits) {
        return None;
    }
    text.parse().ok().map(Value::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_core_schema_says() {
        use Value::{Bool, Float, Int, Null, UInt};
        let table = [
            ("", Null),
            ("~", Null),
            ("True", Bool(true)),
            ("12", Int(12)),
            ("+12", Int(12)),
            ("-12", Int(-12)),
            ("007", Int(7)),
            ("0x1F", Int(31)),
            ("0o17", Int(15)),
            ("18446744073709551615", UInt(u64::MAX)),
            ("18446744073709551616", Float(18_446_744_073_709_551_616.0)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("-1.5e-3", Float(-0.0015)),
            ("-.inf", Float(f64::NEG_INFINITY)),
        ];
        for (text, expected) in table {
            assert_eq!(core_schema(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn everything_else_is_text() {
        for text in [
            "yes",
            "no",
            "on",
            "1_000",
            "0x",
            "0xZ",
            "1e",
            "-",
            "+",
            ".",
            "1.2.3",
            "inf",
            "nan",
            "10s",
            "e5",
            "-0x1",
            "1:30",
            "2024-01-01",
        ] {
            assert_eq!(core_schema(text), None, "{text}");
        }
    }
}
