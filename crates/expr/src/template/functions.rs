//! The functions of templates: Go's own, the adapter's, and sprig's. Nothing
//! here reads the environment, the network or a random source: the same
//! template with the same data and time gives the same text.

mod builtin;
mod cases;
mod dates;
mod defaults;
mod dicts;
mod encoding;
mod lists;
mod numbers;
mod patterns;
mod text;
mod versions;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::context::{Context, Problem};
use super::value::Value;

/// Memory a compiled pattern may take.
pub(super) const PATTERN_SIZE: usize = 1 << 20;

pub(super) type Outcome<'a> = Result<Value<'a>, Problem>;
type Run = for<'a> fn(&Context<'a>, &[Value<'a>]) -> Outcome<'a>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Style {
    Plain,
    /// Called directly, the text comes first as in Go's `strings` package
    /// (`replace .s "a" "b"`). Piped, the piped value is the text, as in sprig
    /// (`.s | replace "a" "b"`), since the other reading makes no sense.
    SubjectFirst,
    /// The first argument is a regular expression, compiled at load if literal.
    Pattern,
}

pub(super) struct Function {
    pub name: &'static str,
    min: usize,
    max: usize,
    pub style: Style,
    pub run: Run,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// No upper limit of arguments.
const ANY: usize = usize::MAX;

const fn plain(name: &'static str, min: usize, max: usize, run: Run) -> Function {
    Function {
        name,
        min,
        max,
        style: Style::Plain,
        run,
    }
}

const fn subject_first(name: &'static str, args: usize, run: Run) -> Function {
    Function {
        name,
        min: args,
        max: args,
        style: Style::SubjectFirst,
        run,
    }
}

const fn pattern(name: &'static str, args: usize, run: Run) -> Function {
    Function {
        name,
        min: args,
        max: args,
        style: Style::Pattern,
        run,
    }
}

impl Function {
    pub(super) fn arity_problem(&self, given: usize) -> Option<String> {
        if (self.min..=self.max).contains(&given) {
            return None;
        }
        let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
        let wanted = match (self.min, self.max) {
            (min, ANY) => format!("at least {min} {}", plural(min)),
            (min, max) if min == max => format!("{min} {}", plural(min)),
            (min, max) => format!("{min} to {max} arguments"),
        };
        Some(format!("{} takes {wanted}, got {given}", self.name))
    }
}

static TABLE: LazyLock<HashMap<&'static str, &'static Function>> = LazyLock::new(|| {
    [
        builtin::FUNCTIONS,
        cases::FUNCTIONS,
        dates::FUNCTIONS,
        defaults::FUNCTIONS,
        dicts::FUNCTIONS,
        encoding::FUNCTIONS,
        lists::FUNCTIONS,
        numbers::FUNCTIONS,
        patterns::FUNCTIONS,
        text::FUNCTIONS,
        versions::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
    .map(|function| (function.name, function))
    .collect()
});

/// Known from sprig, but their result would depend on more than the input.
const REFUSED: [&str; 18] = [
    "bcrypt",
    "buildCustomCert",
    "env",
    "expandenv",
    "encryptAES",
    "genCA",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSignedCert",
    "getHostByName",
    "htpasswd",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "uuidv4",
];

pub(super) fn find(name: &str) -> Option<&'static Function> {
    TABLE.get(name).copied()
}

/// All function names, for documentation and editors.
pub(super) fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLE
        .keys()
        .copied()
        .chain(["and", "or", "include"])
        .collect();
    names.sort_unstable();
    names
}

pub(super) fn unknown(name: &str) -> String {
    if REFUSED.contains(&name) {
        return format!(
            "the function {name} is not available: its result would not depend on the data alone"
        );
    }
    let hint = super::nearest(name, names().into_iter());
    format!("the function {name} is not defined{hint}")
}

/// An argument as text. Numbers and bools are written out; null and
/// collections are mistakes.
fn text<'v>(args: &'v [Value<'_>], index: usize) -> Result<Cow<'v, str>, Problem> {
    match args.get(index) {
        Some(Value::Text(text)) => Ok(Cow::Borrowed(text.as_str())),
        Some(Value::Int(i)) => Ok(Cow::Owned(i.to_string())),
        Some(Value::Uint(u)) => Ok(Cow::Owned(u.to_string())),
        Some(Value::Float(f)) => Ok(Cow::Owned(super::printf::plain_float(*f))),
        Some(Value::Bool(b)) => Ok(Cow::Borrowed(if *b { "true" } else { "false" })),
        Some(Value::Time(t)) => Ok(Cow::Owned(super::layout::go_string(t))),
        Some(Value::Pattern(p)) => Ok(Cow::Borrowed(p.as_str())),
        Some(other) => Err(wrong(index, "text", other)),
        None => Err(missing(index)),
    }
}

/// An argument as an integer; text that spells one counts.
fn integer(args: &[Value<'_>], index: usize) -> Result<i64, Problem> {
    match args.get(index) {
        Some(Value::Int(i)) => Ok(*i),
        Some(Value::Uint(u)) => {
            i64::try_from(*u).map_err(|_| Problem::from(format!("the number {u} is too large")))
        }
        Some(Value::Float(f)) if f.abs() < 9e18 => Ok(*f as i64),
        Some(value @ Value::Text(t)) => {
            let text = t.as_str();
            let whole = text.parse().ok();
            let float = || text.parse::<f64>().ok().filter(|f| f.abs() < 9e18);
            whole
                .or_else(|| float().map(|f| f as i64))
                .ok_or_else(|| wrong(index, "a number", value))
        }
        Some(Value::Bool(b)) => Ok(i64::from(*b)),
        Some(other) => Err(wrong(index, "a number", other)),
        None => Err(missing(index)),
    }
}

/// An argument as a float.
fn number(args: &[Value<'_>], index: usize) -> Result<f64, Problem> {
    match args.get(index) {
        Some(value @ Value::Text(t)) => {
            let parsed = t.as_str().parse::<f64>().ok();
            parsed.ok_or_else(|| wrong(index, "a number", value))
        }
        Some(Value::Bool(b)) => Ok(f64::from(u8::from(*b))),
        Some(value) => value
            .number()
            .ok_or_else(|| wrong(index, "a number", value)),
        None => Err(missing(index)),
    }
}

/// An argument as a length or count.
fn count(args: &[Value<'_>], index: usize) -> Result<usize, Problem> {
    let value = integer(args, index)?;
    usize::try_from(value).map_err(|_| format!("{value} is negative").into())
}

/// An argument as a list.
fn list<'a>(args: &[Value<'a>], index: usize) -> Result<Vec<Value<'a>>, Problem> {
    match args.get(index) {
        Some(value) => value.items().ok_or_else(|| wrong(index, "a list", value)),
        None => Err(missing(index)),
    }
}

/// An argument as a map.
fn map<'v, 'a>(args: &'v [Value<'a>], index: usize) -> Result<&'v Value<'a>, Problem> {
    match args.get(index) {
        Some(value) if value.is_map() => Ok(value),
        Some(value) => Err(wrong(index, "a map", value)),
        None => Err(missing(index)),
    }
}

fn wrong(index: usize, wanted: &str, value: &Value<'_>) -> Problem {
    let shown = match value {
        Value::Text(t) => {
            let head: String = t.as_str().chars().take(40).collect();
            format!("the text {head:?}")
        }
        other => other.what().to_owned(),
    };
    format!("argument {} must be {wanted}, not {shown}", index + 1).into()
}

fn missing(index: usize) -> Problem {
    format!("argument {} is missing", index + 1).into()
}
