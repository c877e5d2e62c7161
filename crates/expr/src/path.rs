//! Paths into JSON: dot paths (`status.phase`, `.id`) and the JSONPath of
//! Kubernetes (`{.items[?(@.type=='Ready')].status}`).
//!
//! ```text
//!   text ──parse──► Path ──get(&json)──► None │ one value │ list of values
//! ```
//!
//! What may appear: `.name`, `['name']`, `\.` inside a name, `[0]`, `[-1]`,
//! `[1:5:2]`, `[0,2]`, `['a','b']`, `[*]`, `.*`, `..name`, and filters
//! `[?(@.a=='x' && @.b>1)]`. Braces and a leading `$` are optional.

mod filter;
mod parse;

use std::borrow::Cow;

use serde_json::Value as Json;

use filter::Filter;

/// A path that is parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    text: String,
    steps: Vec<Step>,
}

/// Why a text is no path; `offset` counts bytes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("bad path {path:?} at position {}: {message}", offset + 1)]
pub struct PathError {
    pub path: String,
    pub message: String,
    pub offset: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// `.name`; also an index where the name is a number and the value a list.
    Key(String),
    /// `['a','b']` and `[0,2]`.
    Union(Vec<Choice>),
    Slice {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
    Wildcard,
    /// `..`: the value and everything inside it.
    Descend,
    Filter(Filter),
}

#[derive(Debug, Clone, PartialEq)]
enum Choice {
    Key(String),
    Index(i64),
}

/// Values a path may visit; filters under `..` would otherwise make it quadratic.
const MAX_VISITS: usize = 1_000_000;

impl Path {
    pub fn parse(text: &str) -> Result<Path, PathError> {
        Ok(Path {
            text: text.to_owned(),
            steps: parse::parse(text)?,
        })
    }

    /// The path as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The keys of a path that only follows keys, such as `status.phase`.
    pub fn keys(&self) -> Option<Vec<&str>> {
        self.steps
            .iter()
            .map(|step| match step {
                Step::Key(key) => Some(key.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The first key: the variable a path over named variables starts at.
    pub fn root(&self) -> Option<&str> {
        match self.steps.first() {
            Some(Step::Key(key)) => Some(key),
            _ => None,
        }
    }

    /// What the path hits: nothing, one value, or a list of several.
    pub fn get<'a>(&self, value: &'a Json) -> Option<Cow<'a, Json>> {
        one_or_many(find(&self.steps, vec![value]))
    }

    /// As [`get`](Self::get), over variables that are not one JSON object.
    pub fn get_in<'a>(
        &self,
        variables: impl Fn(&str) -> Option<&'a Json>,
    ) -> Option<Cow<'a, Json>> {
        let (first, rest) = self.steps.split_first()?;
        let Step::Key(name) = first else {
            return None;
        };
        one_or_many(find(rest, vec![variables(name)?]))
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn one_or_many(mut hits: Vec<&Json>) -> Option<Cow<'_, Json>> {
    match hits.len() {
        0 => None,
        1 => hits.pop().map(Cow::Borrowed),
        _ => Some(Cow::Owned(Json::Array(hits.into_iter().cloned().collect()))),
    }
}

fn find<'a>(steps: &[Step], mut values: Vec<&'a Json>) -> Vec<&'a Json> {
    let mut visits = 0;
    for step in steps {
        let mut next = Vec::new();
        for value in values {
            apply(step, value, &mut next);
            visits += next.len() + 1;
            if visits > MAX_VISITS {
                return Vec::new();
            }
        }
        values = next;
    }
    values
}

fn apply<'a>(step: &Step, value: &'a Json, out: &mut Vec<&'a Json>) {
    match (step, value) {
        (Step::Key(key), Json::Object(map)) => out.extend(map.get(key)),
        (Step::Key(key), Json::Array(items)) => {
            out.extend(key.parse().ok().and_then(|i: usize| items.get(i)));
        }
        (Step::Union(choices), _) => {
            for choice in choices {
                match (choice, value) {
                    (Choice::Key(key), Json::Object(map)) => out.extend(map.get(key)),
                    (Choice::Index(index), Json::Array(items)) => {
                        out.extend(at(items.len(), *index).and_then(|i| items.get(i)));
                    }
                    _ => {}
                }
            }
        }
        (Step::Slice { start, end, step }, Json::Array(items)) => {
            let len = items.len() as i64;
            let bound = |at: Option<i64>, default: i64| match at {
                None => default,
                Some(at) if at < 0 => (at + len).max(0),
                Some(at) => at.min(len),
            };
            let (from, to) = (bound(*start, 0), bound(*end, len));
            let range = (from..to).step_by(usize::try_from(*step).unwrap_or(1).max(1));
            out.extend(range.filter_map(|i| items.get(usize::try_from(i).ok()?)));
        }
        (Step::Wildcard, Json::Object(map)) => out.extend(map.values()),
        (Step::Wildcard, Json::Array(items)) => out.extend(items),
        (Step::Descend, value) => descend(value, out),
        (Step::Filter(filter), Json::Array(items)) => {
            out.extend(items.iter().filter(|item| filter.accepts(item)));
        }
        (Step::Filter(filter), Json::Object(map)) => {
            out.extend(map.values().filter(|item| filter.accepts(item)));
        }
        _ => {}
    }
}

fn at(len: usize, index: i64) -> Option<usize> {
    let index = if index < 0 { index + len as i64 } else { index };
    usize::try_from(index).ok()
}

fn descend<'a>(value: &'a Json, out: &mut Vec<&'a Json>) {
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        out.push(value);
        match value {
            Json::Array(items) => todo.extend(items.iter().rev()),
            Json::Object(map) => todo.extend(map.values().rev()),
            _ => {}
        }
        if out.len() > MAX_VISITS {
            return;
        }
    }
}
