//! The schema of a configuration as a flat list of settable keys.

use schemars::Schema;
use serde_json::Value as Json;

use super::shape::{Shape, reference};

/// Nesting of configuration sections that is looked at; it ends recursive schemas.
const MAX_DEPTH: usize = 12;

/// A key that holds one value: `server.port`.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The keys from the root.
    pub path: Vec<String>,
    /// What its value is.
    pub kind: Kind,
    /// Its documentation.
    pub description: Option<String>,
    /// Its own schema, references resolved.
    pub schema: Json,
}

impl Leaf {
    /// The path as people write it: `server.port`.
    pub fn dotted(&self) -> String {
        self.path.join(".")
    }
}

/// What one value may be, as far as reading it from a text without syntax needs to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text, or one of some words.
    String,
    /// A list of such values.
    List(Box<Kind>),
    /// A mapping or a list of mappings: only a file can hold it comfortably.
    Structured,
}

/// Every settable key of a configuration schema, in schema order.
pub fn leaves(schema: &Schema) -> Vec<Leaf> {
    let root = schema.as_value();
    let mut found = Vec::new();
    descend(root, &[root], &mut Vec::new(), &mut found);
    found
}

fn descend(root: &Json, schemas: &[&Json], path: &mut Vec<String>, found: &mut Vec<Leaf>) {
    let shape = Shape::of(root, schemas.iter().copied(), None);
    if shape.properties.is_empty() || path.len() >= MAX_DEPTH {
        found.extend(leaf(root, schemas, path));
        return;
    }
    for (name, schemas) in &shape.properties {
        path.push((*name).to_owned());
        descend(root, schemas, path, found);
        path.pop();
    }
}

fn leaf(root: &Json, schemas: &[&Json], path: &[String]) -> Option<Leaf> {
    if path.is_empty() {
        return None;
    }
    let first = *schemas.first()?;
    let text = |schema: &Json| schema.get("description")?.as_str().map(str::to_owned);
    let resolved = resolve(root, first);
    Some(Leaf {
        path: path.to_vec(),
        kind: kind(root, first, 0),
        description: text(first).or_else(|| text(resolved)),
        schema: resolved.clone(),
    })
}

/// Follows references, and the one branch of an optional value that is not null.
fn resolve<'s>(root: &'s Json, schema: &'s Json) -> &'s Json {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let Json::Object(object) = schema else { break };
        let inner = reference(root, object).or_else(|| {
            let branches = object
                .get("anyOf")
                .or_else(|| object.get("oneOf"))?
                .as_array()?;
            let mut others = branches
                .iter()
                .filter(|branch| branch.get("type") != Some(&Json::from("null")));
            let only = others.next()?;
            others.next().is_none().then_some(only)
        });
        match inner {
            Some(inner) => schema = inner,
            None => break,
        }
    }
    schema
}

fn kind(root: &Json, schema: &Json, depth: usize) -> Kind {
    let schema = resolve(root, schema);
    let names: Vec<&str> = match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ => vec![],
    };
    match names.iter().find(|name| **name != "null").copied() {
        Some("boolean") => Kind::Bool,
        Some("integer") => Kind::Integer,
        Some("number") => Kind::Number,
        Some("string") => Kind::String,
        Some("array") if depth == 0 => match schema.get("items") {
            Some(items) => match kind(root, items, 1) {
                Kind::List(_) | Kind::Structured => Kind::Structured,
                item => Kind::List(Box::new(item)),
            },
            None => Kind::Structured,
        },
        None if is_word(root, schema) => Kind::String,
        _ => Kind::Structured,
    }
}

/// An enum of documented words is a `oneOf` of string constants.
fn is_word(root: &Json, schema: &Json) -> bool {
    let is_text = |branch: &Json| {
        let branch = resolve(root, branch);
        matches!(branch.get("const"), Some(Json::String(_)))
            || branch.get("type") == Some(&Json::from("string"))
    };
    let words = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    words
        .and_then(Json::as_array)
        .is_some_and(|branches| !branches.is_empty() && branches.iter().all(is_text))
}
