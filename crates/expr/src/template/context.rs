//! One rendering: its clock, its limits, and the lists and dicts it made.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value as Json;

use super::value::{Dict, Value};

/// How much one rendering may do. The defaults allow any real manifest and
/// stop a runaway template within about a tenth of a second.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of output, and of any single text a function returns.
    pub output: usize,
    /// Units of work: one per action, call and list item, one per 64 bytes built.
    pub work: u64,
    /// Nested `template` calls and values.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            output: 4 << 20,
            work: 2_000_000,
            depth: 64,
        }
    }
}

/// Why a function gave no value.
#[derive(Debug)]
pub(super) enum Problem {
    Message(String),
    Limit(String),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Problem::Message(message)
    }
}

impl From<&str> for Problem {
    fn from(message: &str) -> Self {
        Problem::Message(message.to_owned())
    }
}

enum Made<'a> {
    List(Rc<Vec<Value<'a>>>),
    Dict(Dict<'a>),
}

pub(super) struct Context<'a> {
    pub now: DateTime<Utc>,
    pub limits: Limits,
    left: Cell<u64>,
    /// Every list and dict made, oldest first. Templates can nest them without
    /// bound and (through `set`) in circles; `drop` takes them apart one by one,
    /// so neither deep recursion nor a leak is possible.
    made: RefCell<Vec<Made<'a>>>,
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        let mut made = self.made.take();
        for item in &made {
            if let Made::Dict(dict) = item {
                let entries = dict.take();
                drop(entries);
            }
        }
        // A list only holds what was made before it.
        while let Some(item) = made.pop() {
            if let Made::List(list) = item {
                drop(list);
            }
        }
    }
}

impl<'a> Context<'a> {
    pub(super) fn new(now: DateTime<Utc>, limits: Limits) -> Self {
        Context {
            now,
            limits,
            left: Cell::new(limits.work),
            made: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn spend(&self, units: usize) -> Result<(), Problem> {
        let left = self.left.get().checked_sub(units as u64);
        let left = left.ok_or_else(|| {
            Problem::Limit(format!(
                "the template does too much work (limit {} steps)",
                self.limits.work
            ))
        })?;
        self.left.set(left);
        Ok(())
    }

    /// Checks the size of a text before it is built.
    pub(super) fn room(&self, bytes: usize) -> Result<(), Problem> {
        if bytes > self.limits.output {
            return Err(Problem::Limit(format!(
                "a text of {bytes} bytes is over the limit of {}",
                self.limits.output
            )));
        }
        self.spend(bytes / 64)
    }

    pub(super) fn text(&self, text: String) -> Result<Value<'a>, Problem> {
        self.room(text.len())?;
        Ok(text.into())
    }

    pub(super) fn list(&self, items: Vec<Value<'a>>) -> Result<Value<'a>, Problem> {
        self.spend(items.len())?;
        let list = Rc::new(items);
        self.made.borrow_mut().push(Made::List(Rc::clone(&list)));
        Ok(Value::List(list))
    }

    pub(super) fn texts<S: Into<String>>(
        &self,
        items: impl IntoIterator<Item = S>,
    ) -> Result<Value<'a>, Problem> {
        self.list(items.into_iter().map(|s| s.into().into()).collect())
    }

    pub(super) fn dict(&self, map: BTreeMap<String, Value<'a>>) -> Result<Value<'a>, Problem> {
        self.spend(map.len())?;
        let dict = Rc::new(RefCell::new(map));
        self.made.borrow_mut().push(Made::Dict(Rc::clone(&dict)));
        Ok(Value::Dict(dict))
    }

    /// Takes over parsed JSON (of `fromJson`, `fromYaml`).
    pub(super) fn own(&self, json: Json) -> Result<Value<'a>, Problem> {
        self.spend(1)?;
        match json {
            Json::String(s) => self.text(s),
            Json::Array(items) => {
                let items = items.into_iter().map(|item| self.own(item));
                self.list(items.collect::<Result<_, _>>()?)
            }
            Json::Object(map) => {
                let map = map.into_iter().map(|(k, v)| Ok((k, self.own(v)?)));
                self.dict(map.collect::<Result<_, Problem>>()?)
            }
            Json::Null => Ok(Value::Nil),
            Json::Bool(b) => Ok(Value::Bool(b)),
            Json::Number(n) => Ok(match (n.as_i64(), n.as_u64()) {
                (Some(i), _) => Value::Int(i),
                (None, Some(u)) => Value::Uint(u),
                _ => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
            }),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, Problem> {
        self.spend(1)?;
        if depth >= self.limits.depth {
            return Err(Problem::Limit(format!(
                "a value is nested more than {} deep",
                self.limits.depth
            )));
        }
        Ok(depth + 1)
    }

    /// A value as JSON.
    pub(super) fn json(&self, value: &Value<'a>) -> Result<Json, Problem> {
        self.json_at(value, 0)
    }

    fn json_at(&self, value: &Value<'a>, depth: usize) -> Result<Json, Problem> {
        let depth = self.deeper(depth)?;
        Ok(match value {
            Value::Nil => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => Json::from(*i),
            Value::Uint(u) => Json::from(*u),
            Value::Float(f) => Json::from(*f),
            Value::Text(t) => {
                self.room(t.as_str().len())?;
                Json::from(t.as_str())
            }
            Value::Time(t) => Json::from(t.to_rfc3339_opts(SecondsFormat::AutoSi, true)),
            Value::Pattern(p) => Json::from(p.as_str()),
            Value::Array(_) | Value::List(_) => {
                let items = value.items().unwrap_or_default();
                let items = items.iter().map(|item| self.json_at(item, depth));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(_) | Value::Dict(_) | Value::Roots(_) => {
                let mut map = serde_json::Map::new();
                for key in value.keys().unwrap_or_default() {
                    let entry = value.get(&key).unwrap_or(Value::Nil);
                    map.insert(key.into_owned(), self.json_at(&entry, depth)?);
                }
                Json::Object(map)
            }
        })
    }

    /// Equality by content, numbers by value: that of `has`, `uniq`, `deepEqual`.
    pub(super) fn same(&self, a: &Value<'a>, b: &Value<'a>) -> Result<bool, Problem> {
        self.same_at(a, b, 0)
    }

    fn same_at(&self, a: &Value<'a>, b: &Value<'a>, depth: usize) -> Result<bool, Problem> {
        let depth = self.deeper(depth)?;
        match (a, b) {
            (Value::Nil, Value::Nil) => Ok(true),
            (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
            (Value::Time(a), Value::Time(b)) => Ok(a == b),
            (a, b) if a.is_list() && b.is_list() => {
                let (a, b) = (a.items().unwrap_or_default(), b.items().unwrap_or_default());
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(&b) {
                    if !self.same_at(a, b, depth)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (a, b) if a.is_map() && b.is_map() => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for key in a.keys().unwrap_or_default() {
                    match (a.get(&key), b.get(&key)) {
                        (Some(a), Some(b)) if self.same_at(&a, &b, depth)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            (a, b) => Ok(a.order(b) == Some(Ordering::Equal)),
        }
    }

    /// Copies a value and everything in it.
    pub(super) fn copy(&self, value: &Value<'a>) -> Result<Value<'a>, Problem> {
        self.copy_at(value, 0)
    }

    fn copy_at(&self, value: &Value<'a>, depth: usize) -> Result<Value<'a>, Problem> {
        let depth = self.deeper(depth)?;
        if let Some(items) = value.items() {
            let items = items.iter().map(|item| self.copy_at(item, depth));
            return self.list(items.collect::<Result<_, _>>()?);
        }
        let Some(keys) = value.keys() else {
            return Ok(value.clone());
        };
        let mut map = BTreeMap::new();
        for key in keys {
            let entry = value.get(&key).unwrap_or(Value::Nil);
            map.insert(key.into_owned(), self.copy_at(&entry, depth)?);
        }
        self.dict(map)
    }

    /// A value as Go prints it with `%v`, except that numbers never turn into
    /// exponents below 1e21.
    pub(super) fn print(&self, out: &mut String, value: &Value<'a>) -> Result<(), Problem> {
        self.print_at(out, value, 0)
    }

    fn print_at(&self, out: &mut String, value: &Value<'a>, depth: usize) -> Result<(), Problem> {
        use std::fmt::Write as _;
        let depth = self.deeper(depth)?;
        let before = out.len();
        match value {
            Value::Nil => out.push_str("<nil>"),
            Value::Text(t) => out.push_str(t.as_str()),
            Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => write!(out, "{i}").unwrap_or_default(),
            Value::Uint(u) => write!(out, "{u}").unwrap_or_default(),
            Value::Float(f) => out.push_str(&super::printf::plain_float(*f)),
            Value::Time(t) => out.push_str(&super::layout::go_string(t)),
            Value::Pattern(p) => out.push_str(p.as_str()),
            Value::Array(_) | Value::List(_) => {
                out.push('[');
                for (i, item) in value.items().unwrap_or_default().iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    self.print_at(out, item, depth)?;
                }
                out.push(']');
            }
            Value::Object(_) | Value::Dict(_) | Value::Roots(_) => {
                out.push_str("map[");
                for (i, key) in value.keys().unwrap_or_default().iter().enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    out.push_str(key);
                    out.push(':');
                    self.print_at(out, &value.get(key).unwrap_or(Value::Nil), depth)?;
                }
                out.push(']');
            }
        }
        if out.len() > self.limits.output {
            return self.room(out.len());
        }
        self.spend((out.len() - before) / 64)
    }

    pub(super) fn printed(&self, value: &Value<'a>) -> Result<String, Problem> {
        let mut out = String::new();
        self.print(&mut out, value)?;
        Ok(out)
    }
}
