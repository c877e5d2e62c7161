//! Numbers without rounding: what JSON holds, what a search says and what PostgreSQL computes with are compared as
//! decimals everywhere, so that all three agree.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number: `0.digits × 10^point`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    /// ASCII digits, neither beginning nor ending with a zero; none at all is zero.
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// Far more than a 64-bit float can hold, far less than PostgreSQL's `numeric` takes.
    const MAX_POINT: i32 = 400;

    /// Reads the number syntax of JSON. `None` if it is none, or out of range.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let has_digits = !whole.is_empty() && (mantissa == whole || !fraction.is_empty());
        if !has_digits || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
        Decimal::new(negative, [whole, fraction].concat().into_bytes(), point)
    }

    /// A text that is a plain number, as `spec` values often are. Kept within bounds that every evaluator can cast.
    pub fn of_text(text: &str) -> Option<Decimal> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
        let fits = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
        };
        (fits(whole, Self::TEXT_WHOLE) && fits(fraction, Self::TEXT_FRACTION))
            .then(|| Decimal::parse(text))
            .flatten()
    }

    /// The most digits before and after the point that a text may have to count as a number.
    pub const TEXT_WHOLE: usize = 19;
    pub const TEXT_FRACTION: usize = 18;

    fn new(negative: bool, digits: Vec<u8>, point: i32) -> Option<Decimal> {
        let leading = digits.iter().take_while(|b| **b == b'0').count();
        let mut digits = digits[leading..].to_vec();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Some(Decimal {
                negative: false,
                digits,
                point: 0,
            });
        }
        let point = point.checked_sub(i32::try_from(leading).ok()?)?;
        (point.abs() <= Self::MAX_POINT).then_some(Decimal {
            negative,
            digits,
            point,
        })
    }

    pub(super) fn negate(mut self) -> Decimal {
        self.negative = !self.negative && !self.digits.is_empty();
        self
    }

    /// `None` when it gets out of range.
    pub(super) fn times(&self, factor: u32) -> Option<Decimal> {
        let mut product = Vec::with_capacity(self.digits.len() + 10);
        let mut carry: u64 = 0;
        for digit in self.digits.iter().rev() {
            carry += u64::from(digit - b'0') * u64::from(factor);
            product.push(b'0' + (carry % 10) as u8);
            carry /= 10;
        }
        while carry > 0 {
            product.push(b'0' + (carry % 10) as u8);
            carry /= 10;
        }
        product.reverse();
        let longer = i32::try_from(product.len() - self.digits.len()).ok()?;
        Decimal::new(self.negative, product, self.point + longer)
    }

    /// The number, if it is whole and fits.
    pub(super) fn to_i32(&self) -> Option<i32> {
        let length = i32::try_from(self.digits.len()).ok()?;
        let zeros = usize::try_from(self.point.checked_sub(length)?).ok()?;
        if self.point > 10 {
            return None;
        }
        let mut text = String::from(if self.negative { "-" } else { "" });
        text.extend(self.digits.iter().map(|b| char::from(*b)));
        text.extend(std::iter::repeat_n('0', zeros));
        match text.as_str() {
            "" => Some(0),
            text => text.parse().ok(),
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |number: &Decimal| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        sign(self).cmp(&sign(other)).then_with(|| {
            let size = (self.point, &self.digits).cmp(&(other.point, &other.digits));
            if self.negative { size.reverse() } else { size }
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In the number syntax of JSON: plain while that is short, with an exponent otherwise.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        let digits: String = self.digits.iter().map(|b| char::from(*b)).collect();
        let point = usize::try_from(self.point).unwrap_or(usize::MAX);
        match point {
            _ if digits.is_empty() => f.write_str("0"),
            0 => write!(f, "0.{digits}"),
            point if point < digits.len() => {
                write!(f, "{}.{}", &digits[..point], &digits[point..])
            }
            point if point <= 20 => write!(f, "{digits:0<point$}"),
            _ => write!(f, "0.{digits}e{}", self.point),
        }
    }
}

/// A JSON number as PostgreSQL prints it: never with an exponent, and with the decimals it was written with.
pub(super) fn plain(number: &serde_json::Number) -> String {
    let text = number.to_string();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().unwrap_or(0)),
        None => (text.as_str(), 0),
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    let (count, point) = (digits.len() as i64, whole.len() as i64 + exponent);
    let (whole, fraction) = if point <= 0 {
        ("0".to_owned(), zeros(-point) + &digits)
    } else if point >= count {
        (digits.clone() + &zeros(point - count), String::new())
    } else {
        let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or(0));
        (whole.to_owned(), fraction.to_owned())
    };
    let is_zero = digits.bytes().all(|b| b == b'0');
    let sign = if is_zero { "" } else { sign };
    let point = if fraction.is_empty() { "" } else { "." };
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    format!("{sign}{whole}{point}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn one_number_has_one_form() {
        for same in [
            ["1", "1.00"],
            ["0", "-0.0"],
            ["1500", "1.5e3"],
            ["0.05", "5e-2"],
        ] {
            assert_eq!(decimal(same[0]), decimal(same[1]));
        }
        for text in [
            "0",
            "-1.5",
            "120",
            "0.001",
            "9007199254740993",
            "1e300",
            "0.5e-300",
        ] {
            let number = decimal(text);
            assert_eq!(decimal(&number.to_string()), number, "{number}");
        }
        assert_eq!(decimal("9007199254740993").to_string(), "9007199254740993");
        for none in [
            "",
            "-",
            "1.",
            ".5",
            "1e",
            "a",
            "1e999",
            "1e99999999999",
            "+1",
            "1 ",
        ] {
            assert_eq!(Decimal::parse(none), None, "{none}");
        }
    }

    #[test]
    fn numbers_are_ordered_by_value() {
        let sorted = [
            "-1e20", "-10", "-9.5", "-0.1", "0", "1e-9", "0.1", "9.5", "10", "10.5", "1e20",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(decimal(a).cmp(&decimal(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn whole_numbers_that_fit_become_integers() {
        assert_eq!(decimal("-2147483648").to_i32(), Some(i32::MIN));
        assert_eq!(decimal("2147483648").to_i32(), None);
        assert_eq!(decimal("1e9").to_i32(), Some(1_000_000_000));
        assert_eq!(decimal("1e300").to_i32(), None);
        assert_eq!(decimal("1.5").to_i32(), None);
        assert_eq!(decimal("0.0").to_i32(), Some(0));
        assert_eq!(decimal("1.5").times(1024).unwrap(), decimal("1536"));
    }

    #[test]
    fn json_numbers_are_printed_as_postgresql_prints_them() {
        let cases = [
            ("1", "1"),
            ("-0.0", "0.0"),
            ("1.0", "1.0"),
            ("1e21", "1000000000000000000000"),
            ("1.5e-7", "0.00000015"),
            ("-12.25", "-12.25"),
        ];
        for (json, text) in cases {
            let number: serde_json::Number = json.parse().unwrap();
            assert_eq!(plain(&number), text);
        }
    }
}
