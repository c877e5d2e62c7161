//! Pieces of a JSON document by kubectl's JSONPath: `{.items[*].name}`, `{range …}…{end}`.
//!
//! ```text
//!   template = text { "{" (path | "literal" | range path | end) "}" text }
//!   path     = ["$" | "@"] { .name | ['name'] | [0] | [-1] | [1:3] | [*] | ..name | [?(@.a == "b")] }
//! ```
//!
//! What is not there prints nothing, as with kubectl.

mod parse;

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;

/// A way into a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    All,
    /// Everything below, and itself.
    Descend,
    Filter(Box<Filter>),
}

#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Operand,
    /// Without one, that the left side is there is enough.
    right: Option<(Operator, Operand)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Path(Path),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Text with paths in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Part>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Path(Path),
    Range(Path, Vec<Part>),
}

impl Path {
    /// Reads `.status.phase`, with or without braces and the first dot.
    pub(crate) fn parse(text: &str) -> Result<Path, String> {
        let text = text.trim();
        let inner = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'));
        parse::path(inner.unwrap_or(text))
    }

    pub(crate) fn select<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![root];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| step.select(value))
                .collect();
        }
        found
    }

    /// What is there as text, several separated by commas.
    pub(crate) fn text(&self, root: &Value) -> String {
        let found: Vec<String> = self.select(root).into_iter().map(shown).collect();
        found.join(",")
    }
}

impl Step {
    fn select<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Step::Field(name) => value.get(name.as_str()).into_iter().collect(),
            Step::Index(index) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let at = place(*index, items.len());
                at.and_then(|at| items.get(at)).into_iter().collect()
            }
            Step::Slice(from, to) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let bound = |index: &Option<i64>, default: usize| match index {
                    Some(index) if *index < 0 => place(*index, items.len()).unwrap_or(0),
                    Some(index) => usize::try_from(*index).unwrap_or(0).min(items.len()),
                    None => default,
                };
                let (from, to) = (bound(from, 0), bound(to, items.len()));
                items.get(from..to).unwrap_or_default().iter().collect()
            }
            Step::All => children(value).collect(),
            Step::Descend => below(value),
            Step::Filter(filter) => children(value).filter(|item| filter.takes(item)).collect(),
        }
    }
}

fn place(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn below(value: &Value) -> Vec<&Value> {
    let mut found = vec![value];
    for child in children(value) {
        found.extend(below(child));
    }
    found
}

impl Filter {
    fn takes(&self, item: &Value) -> bool {
        let Some(left) = self.left.value(item) else {
            return false;
        };
        let Some((operator, right)) = &self.right else {
            return true;
        };
        let Some(right) = right.value(item) else {
            return false;
        };
        let order = compare(&left, &right);
        match operator {
            Operator::Equal => order == Some(Ordering::Equal),
            Operator::NotEqual => order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

impl Operand {
    fn value(&self, item: &Value) -> Option<Value> {
        match self {
            Operand::Path(path) => path.select(item).first().map(|value| (*value).clone()),
            Operand::Literal(value) => Some(value.clone()),
        }
    }
}

/// Numbers by size, texts and booleans by value; different sorts have no order.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (left, right) => (left == right).then_some(Ordering::Equal),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Template, String> {
        parse::template(text).map(Template)
    }

    pub(crate) fn render(&self, root: &Value) -> String {
        let mut out = String::new();
        render(&self.0, root, &mut out);
        out
    }
}

fn render(parts: &[Part], root: &Value, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(path) => {
                for (index, value) in path.select(root).into_iter().enumerate() {
                    let gap = if index > 0 { " " } else { "" };
                    // Writing to a String cannot fail.
                    let _ = write!(out, "{gap}{}", shown(value));
                }
            }
            Part::Range(path, body) => {
                for value in path.select(root) {
                    render(body, value, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
