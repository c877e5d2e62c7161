//! A manifest given as a structure: templates in its keys and texts.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value as Json};

use super::{Data, RenderError, Root, Template, TemplateError};

/// A structure whose templates are parsed.
#[derive(Debug)]
pub struct Manifest(Node);

#[derive(Debug)]
enum Node {
    /// No template in it, so it is the same every time.
    Fixed(Json),
    /// A text; with `typed`, a single `{{ … }}` keeps the type of its value.
    Text {
        template: Template,
        typed: bool,
    },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug)]
enum Key {
    Fixed(String),
    Template(Template),
}

/// A mistake in one template of a structure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{path}: {error}")]
pub struct ManifestError {
    /// JSON Pointer of the text or key.
    pub path: String,
    #[source]
    pub error: TemplateError,
}

/// Whether Kubernetes wants text at this place, so that a label `"{{ .generation }}"`
/// stays text although the generation is a number. Judged by the keys above the
/// value (list positions are `"*"`).
pub fn is_text_place(path: &[&str]) -> bool {
    match path {
        [
            ..,
            "annotations" | "labels" | "matchLabels" | "nodeSelector" | "commonLabels",
            _,
        ] => true,
        [
            "data" | "stringData" | "binaryData" | "apiVersion" | "kind",
            ..,
        ] => true,
        [.., "metadata", "name" | "namespace" | "generateName"] => true,
        [.., "args" | "command" | "values", "*"] => true,
        [.., "env", "*", "name" | "value"] => true,
        // A workload carried inside another manifest.
        [
            ..,
            "manifests",
            "*",
            "data" | "stringData" | "binaryData",
            _,
        ] => true,
        _ => false,
    }
}

impl Manifest {
    /// Parses every text and key. `is_text` says where a text stays text even
    /// if it is a single `{{ … }}` of a number; see [`is_text_place`].
    pub fn parse(
        name: &str,
        value: &Json,
        is_text: impl Fn(&[&str]) -> bool,
    ) -> Result<Manifest, Vec<ManifestError>> {
        let mut errors = Vec::new();
        let mut path = Vec::new();
        let node = node(name, value, &mut path, &is_text, &mut errors);
        match errors.is_empty() {
            true => Ok(Manifest(node)),
            false => Err(errors),
        }
    }

    pub fn render(&self, data: &Data<'_>, now: DateTime<Utc>) -> Result<Json, RenderError> {
        render(&self.0, data, now)
    }

    /// The names the templates read from the top of their data, sorted.
    pub fn roots(&self) -> Vec<&Root> {
        let mut roots = Vec::new();
        collect(&self.0, &mut roots);
        roots.sort_by(|a, b| a.name.cmp(&b.name));
        roots.dedup_by(|a, b| a.name == b.name);
        roots
    }
}

fn node<'v>(
    name: &str,
    value: &'v Json,
    path: &mut Vec<&'v str>,
    is_text: &impl Fn(&[&str]) -> bool,
    errors: &mut Vec<ManifestError>,
) -> Node {
    match value {
        Json::String(text) => match template(name, text, path, errors) {
            Some(template) if !template.is_literal() => Node::Text {
                typed: !is_text(path),
                template,
            },
            _ => Node::Fixed(value.clone()),
        },
        Json::Array(items) => {
            path.push("*");
            let nodes: Vec<_> = items
                .iter()
                .map(|item| node(name, item, path, is_text, errors))
                .collect();
            path.pop();
            match nodes.iter().all(Node::is_fixed) {
                true => Node::Fixed(value.clone()),
                false => Node::List(nodes),
            }
        }
        Json::Object(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (text, value) in map {
                path.push(text);
                let key = match template(name, text, path, errors) {
                    Some(template) if !template.is_literal() => Key::Template(template),
                    _ => Key::Fixed(text.clone()),
                };
                entries.push((key, node(name, value, path, is_text, errors)));
                path.pop();
            }
            let fixed = |(key, node): &(Key, Node)| matches!(key, Key::Fixed(_)) && node.is_fixed();
            match entries.iter().all(fixed) {
                true => Node::Fixed(value.clone()),
                false => Node::Map(entries),
            }
        }
        other => Node::Fixed(other.clone()),
    }
}

fn template(
    name: &str,
    text: &str,
    path: &[&str],
    errors: &mut Vec<ManifestError>,
) -> Option<Template> {
    if !text.contains("{{") {
        return None;
    }
    match Template::parse(name, text) {
        Ok(template) => Some(template),
        Err(error) => {
            let steps = path
                .iter()
                .map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
            errors.push(ManifestError {
                path: steps.collect(),
                error,
            });
            None
        }
    }
}

impl Node {
    fn is_fixed(&self) -> bool {
        matches!(self, Node::Fixed(_))
    }
}

fn render(node: &Node, data: &Data<'_>, now: DateTime<Utc>) -> Result<Json, RenderError> {
    Ok(match node {
        Node::Fixed(value) => value.clone(),
        Node::Text {
            template,
            typed: true,
        } => template.render_scalar(data, now)?,
        Node::Text {
            template,
            typed: false,
        } => Json::String(template.render(data, now)?),
        Node::List(nodes) => {
            let items = nodes.iter().map(|node| render(node, data, now));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Node::Map(entries) => {
            let mut map = Map::with_capacity(entries.len());
            for (key, node) in entries {
                let key = match key {
                    Key::Fixed(key) => key.clone(),
                    Key::Template(template) => template.render(data, now)?,
                };
                map.insert(key, render(node, data, now)?);
            }
            Json::Object(map)
        }
    })
}

fn collect<'n>(node: &'n Node, roots: &mut Vec<&'n Root>) {
    match node {
        Node::Fixed(_) => {}
        Node::Text { template, .. } => roots.extend(template.roots()),
        Node::List(nodes) => nodes.iter().for_each(|node| collect(node, roots)),
        Node::Map(entries) => {
            for (key, node) in entries {
                if let Key::Template(template) = key {
                    roots.extend(template.roots());
                }
                collect(node, roots);
            }
        }
    }
}
