//! Go templates (`text/template` with `missingkey=error`) over JSON data.
//!
//! ```text
//!   text ──► lexer ──► parser ──► Template ──render(data, now)──► text
//!                        │           │
//!            TemplateError:          ├─► roots(): what data it reads
//!            unknown function,       └─► RenderError: missing key, wrong type, limit
//!            variable, arity …
//! ```
//!
//! An own engine rather than crate `gotmpl`: its parser takes `abc{{end}}def`
//! for `abc` and an `{{if}}` without `{{end}}` for complete, and its errors have
//! no positions. Mistakes must show when a configuration is loaded.

mod context;
mod exec;
mod functions;
mod layout;
mod lexer;
mod manifest;
mod parser;
mod printf;
mod times;
mod tree;
mod value;
mod yaml;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json};

pub use context::Limits;
pub use manifest::{Manifest, ManifestError, is_text_place};
pub use yaml::{YamlError, parse as parse_yaml};

use context::Context;
use exec::{Executor, Failure};
use tree::{Body, Expr, Node};
use value::Value;

/// A mistake in a template, found when it is parsed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct TemplateError {
    pub name: String,
    pub message: String,
    pub line: usize,
    pub column: usize,
    /// Bytes from the start of the template.
    pub offset: usize,
}

impl TemplateError {
    fn at(name: &str, source: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = line_column(source, offset);
        TemplateError {
            name: name.to_owned(),
            message: message.into(),
            line,
            column,
            offset,
        }
    }
}

/// Why a template gave no text for some data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{name}:{line}:{column}: {message}")]
pub struct RenderError {
    pub name: String,
    pub kind: RenderErrorKind,
    pub message: String,
    /// Position in the template, or for `kind` Yaml in the rendered text.
    pub line: usize,
    pub column: usize,
}

/// What kept a template from rendering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderErrorKind {
    /// The data has no such key; `path` is as written, `.spec.region`.
    MissingKey { path: String },
    /// A value of the wrong type, or a function that failed.
    Value,
    /// The template did more than its [`Limits`] allow.
    Limit,
    /// The rendered text is no YAML document.
    Yaml,
}

/// A name a template reads from its data, and where it does so first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub name: String,
    pub line: usize,
    pub column: usize,
}

/// The data of a rendering: borrowed, by name.
#[derive(Debug, Clone)]
pub enum Data<'a> {
    /// The entries of one JSON object.
    Object(&'a Map<String, Json>),
    /// Values from several places.
    Named(BTreeMap<&'a str, &'a Json>),
}

impl<'a> Data<'a> {
    fn get(&self, name: &str) -> Option<&'a Json> {
        match self {
            Data::Object(map) => map.get(name),
            Data::Named(map) => map.get(name).copied(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Data::Object(map) => map.len(),
            Data::Named(map) => map.len(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        let (object, named) = match self {
            Data::Object(map) => (Some(map.keys().map(String::as_str)), None),
            Data::Named(map) => (None, Some(map.keys().copied())),
        };
        object
            .into_iter()
            .flatten()
            .chain(named.into_iter().flatten())
    }
}

impl<'a> From<&'a Map<String, Json>> for Data<'a> {
    fn from(map: &'a Map<String, Json>) -> Self {
        Data::Object(map)
    }
}

impl<'a> FromIterator<(&'a str, &'a Json)> for Data<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a Json)>>(items: I) -> Self {
        Data::Named(items.into_iter().collect())
    }
}

/// A parsed template; rendering needs no further parsing or locking.
#[derive(Debug)]
pub struct Template {
    name: Box<str>,
    source: Box<str>,
    bodies: Vec<Body>,
    roots: Vec<Root>,
}

impl Template {
    /// Parses a template; `name` appears in errors.
    pub fn parse(name: &str, source: &str) -> Result<Template, TemplateError> {
        if source.len() > u32::MAX as usize {
            return Err(TemplateError::at(name, "", 0, "the template is too large"));
        }
        let parsed = parser::parse(name, source)?;
        Ok(Template {
            name: name.into(),
            source: source.into(),
            bodies: parsed.bodies,
            roots: parsed.roots,
        })
    }

    /// The names it reads from the top of its data, sorted. Names reached only
    /// through a rebound dot (`range`, `with`) are not among them.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The text as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it has no actions, so that it always gives the same text.
    pub fn is_literal(&self) -> bool {
        let nodes = &self.bodies[0].nodes;
        nodes.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// Renders with the default [`Limits`].
    pub fn render(&self, data: &Data<'_>, now: DateTime<Utc>) -> Result<String, RenderError> {
        self.render_within(data, now, Limits::default())
    }

    pub fn render_within(
        &self,
        data: &Data<'_>,
        now: DateTime<Utc>,
        limits: Limits,
    ) -> Result<String, RenderError> {
        let context = Context::new(now, limits);
        let executor = Executor::new(&context, &self.bodies, self.source.len() + 64);
        executor
            .run(Value::Roots(data))
            .map_err(|failure| self.located(failure))
    }

    /// Renders a manifest written as text and reads it as one YAML document.
    pub fn render_yaml(&self, data: &Data<'_>, now: DateTime<Utc>) -> Result<Json, RenderError> {
        let text = self.render(data, now)?;
        parse_yaml(&text).map_err(|e| {
            let line = text.lines().nth(e.line.saturating_sub(1)).unwrap_or("");
            let shown: String = line.chars().take(120).collect();
            RenderError {
                name: self.name.to_string(),
                kind: RenderErrorKind::Yaml,
                message: format!(
                    "the rendered text is no YAML: {} in the line {shown:?}",
                    e.message
                ),
                line: e.line,
                column: e.column,
            }
        })
    }

    /// The expression of a template that is a single `{{ … }}` and nothing else.
    fn single(&self) -> Option<&Expr> {
        match self.bodies[0].nodes.as_slice() {
            [Node::Print(expr)] => Some(expr),
            _ => None,
        }
    }

    /// As [`render`](Self::render), but a single `{{ … }}` that gives a number,
    /// a bool or null keeps its type.
    fn render_scalar(&self, data: &Data<'_>, now: DateTime<Utc>) -> Result<Json, RenderError> {
        let Some(expr) = self.single() else {
            return Ok(Json::String(self.render(data, now)?));
        };
        let context = Context::new(now, Limits::default());
        let executor = Executor::new(&context, &self.bodies, 0);
        let value = executor
            .value(expr, Value::Roots(data))
            .map_err(|failure| self.located(failure))?;
        let json = match &value {
            Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
                context.json(&value)
            }
            other => context.printed(other).map(Json::String),
        };
        json.map_err(|problem| self.located(exec::problem(expr.pos(), problem)))
    }

    fn located(&self, failure: Failure) -> RenderError {
        let (line, column) = line_column(&self.source, failure.pos as usize);
        RenderError {
            name: self.name.to_string(),
            kind: failure.kind,
            message: failure.message,
            line,
            column,
        }
    }
}

/// All names of template functions, sorted.
pub fn function_names() -> Vec<&'static str> {
    functions::names()
}

/// 1-based line and column (in characters) of a byte offset.
pub(crate) fn line_column(source: &str, offset: usize) -> (usize, usize) {
    let before = &source.as_bytes()[..offset.min(source.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let start = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |i| i + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    (line, column)
}

/// `; did you mean x?` for the known name nearest to a wrong one, else nothing.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    match hyperfleet_source::suggest::nearest(name, known) {
        Some(candidate) => format!("; did you mean {candidate:?}?"),
        None => String::new(),
    }
}
