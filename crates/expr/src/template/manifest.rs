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
#[error("{error}")]
pub struct ManifestError {
    /// JSON Pointer of the text or key; the error shows it, too.
    pub path: String,
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
        let mut place = Place {
            pointer: name.to_owned(),
            keys: Vec::new(),
        };
        let node = node(name, value, &mut place, &is_text, &mut errors);
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

/// Where in the structure the parser is.
struct Place<'v> {
    /// The manifest's name and a JSON Pointer: the name of the template there.
    pointer: String,
    keys: Vec<&'v str>,
}

impl<'v> Place<'v> {
    /// Steps into a key or list position, works there, and steps back.
    fn within<T>(&mut self, key: &'v str, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.pointer.len();
        self.pointer.push('/');
        self.pointer
            .push_str(&step.replace('~', "~0").replace('/', "~1"));
        self.keys.push(key);
        let result = work(self);
        self.keys.pop();
        self.pointer.truncate(len);
        result
    }
}

fn node<'v>(
    name: &str,
    value: &'v Json,
    place: &mut Place<'v>,
    is_text: &impl Fn(&[&str]) -> bool,
    errors: &mut Vec<ManifestError>,
) -> Node {
    match value {
        Json::String(text) => match template(name, text, place, errors) {
            Some(template) => Node::Text {
                typed: !is_text(&place.keys),
                template,
            },
            None => Node::Fixed(value.clone()),
        },
        Json::Array(items) => {
            let mut nodes = Vec::with_capacity(items.len());
            for (i, item) in items.iter().enumerate() {
                nodes.push(place.within("*", &i.to_string(), |place| {
                    node(name, item, place, is_text, errors)
                }));
            }
            match nodes.iter().all(Node::is_fixed) {
                true => Node::Fixed(value.clone()),
                false => Node::List(nodes),
            }
        }
        Json::Object(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (text, value) in map {
                entries.push(place.within(text, text, |place| {
                    let key = match template(name, text, place, errors) {
                        Some(template) => Key::Template(template),
                        None => Key::Fixed(text.clone()),
                    };
                    (key, node(name, value, place, is_text, errors))
                }));
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

/// The template of a text; none if it has no actions or is wrong.
fn template(
    name: &str,
    text: &str,
    place: &Place<'_>,
    errors: &mut Vec<ManifestError>,
) -> Option<Template> {
    if !text.contains("{{") {
        return None;
    }
    match Template::parse(&place.pointer, text) {
        Ok(template) => Some(template),
        Err(error) => {
            errors.push(ManifestError {
                path: place.pointer[name.len()..].to_owned(),
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
