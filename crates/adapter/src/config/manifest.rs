//! `manifest`: what an object should look like.

use std::collections::BTreeSet;

use hyperfleet_expr::template::{Manifest as Structure, Template, is_text_place};
use hyperfleet_source::fields::Found;
use hyperfleet_source::{Node, SourceFile, Value, yaml};
use hyperfleet_transport::ObjectKind;

use super::files::Files;
use super::scope::Scope;
use crate::danger::Danger;
use crate::task::Manifest;

/// A mapping, a text, or `{ref: file}`.
pub(super) fn manifest(
    node: &Node,
    scope: &Scope,
    files: &Files,
    found: &mut Found,
) -> Option<(ObjectKind, Manifest)> {
    if let Some(text) = node.as_str() {
        let kind = static_kind(text, node, found);
        let template = scope.template(node, found)?;
        return Some((kind?, Manifest::Text(template)));
    }
    let entries = node.as_mapping().unwrap_or_default();
    if let [(key, path)] = entries
        && key.text == "ref"
    {
        let file = files.read(path, found)?;
        return text_file(&file, path, scope, found);
    }
    if entries.is_empty() {
        let message = format!(
            "a manifest is a mapping, a text or `ref: FILE`, found {}",
            node.kind()
        );
        found.push(node.error(message));
        return None;
    }
    let kind = structure_kind(node, found);
    let structure = structure(node, scope, found)?;
    Some((kind?, Manifest::Structure(structure)))
}

/// The dangerous powers that can be seen before anything is rendered.
pub(super) fn asks_for(node: &Node, files: &Files) -> BTreeSet<Danger> {
    // Mistakes are told where the manifest is read.
    let mut told = Found::new();
    let text = match (node.as_str(), node.get("ref")) {
        (Some(text), _) => Some(SourceFile::new("manifest", text)),
        (None, Some(path)) if node.as_mapping().is_some_and(|all| all.len() == 1) => {
            files.read(path, &mut told)
        }
        _ => None,
    };
    match text {
        None => Danger::of(&node.to_json()),
        // A text with templates in it need not be YAML before it is rendered.
        Some(text) => {
            yaml::parse(&text).map_or_else(|_| BTreeSet::new(), |tree| Danger::of(&tree.to_json()))
        }
    }
}

/// A mapping whose texts are templates.
pub(super) fn structure(node: &Node, scope: &Scope, found: &mut Found) -> Option<Structure> {
    let before = found.len();
    check_templates(node, scope, found);
    if found.len() > before {
        return None;
    }
    match Structure::parse(&node.location(), &node.to_json(), is_text_place) {
        Ok(structure) => Some(structure),
        Err(errors) => {
            found.extend(errors.iter().map(|error| node.error(error.to_string())));
            None
        }
    }
}

fn text_file(
    file: &SourceFile,
    path: &Node,
    scope: &Scope,
    found: &mut Found,
) -> Option<(ObjectKind, Manifest)> {
    let kind = static_kind(file.text(), path, found);
    let template: Template = scope.template_file(file, found)?;
    Some((kind?, Manifest::Text(template)))
}

/// Reports every wrong template in the tree where it is written.
fn check_templates(node: &Node, scope: &Scope, found: &mut Found) {
    match &node.value {
        Value::String(text, _) if text.contains("{{") => {
            scope.template(node, found);
        }
        Value::Sequence(items) => {
            for item in items {
                check_templates(item, scope, found);
            }
        }
        Value::Mapping(entries) => {
            for (key, value) in entries {
                if key.text.contains("{{") {
                    let text = Value::String(key.text.clone(), hyperfleet_source::Style::Plain);
                    scope.template(&Node::new(&key.file, key.span, text), found);
                }
                check_templates(value, scope, found);
            }
        }
        _ => {}
    }
}

fn structure_kind(node: &Node, found: &mut Found) -> Option<ObjectKind> {
    let mut literal = |key: &str| {
        let text = node.get(key).and_then(Node::as_str).unwrap_or_default();
        if text.is_empty() || text.contains("{{") {
            let message = format!("a manifest needs a literal `{key}`, to find its objects by");
            found.push(node.get(key).unwrap_or(node).error(message));
            return None;
        }
        Some(text.to_owned())
    };
    let api_version = literal("apiVersion");
    let kind = literal("kind");
    Some(ObjectKind::new(api_version?, kind?))
}

/// The lines `apiVersion:` and `kind:` at the left margin: what is in between may be no YAML
/// before it is rendered.
fn static_kind(text: &str, at: &Node, found: &mut Found) -> Option<ObjectKind> {
    let mut literal = |key: &str| {
        let value = text.lines().find_map(|line| {
            let value = line.strip_prefix(key)?.strip_prefix(':')?;
            let value = value.split(" #").next()?.trim();
            Some(value.trim_matches(['"', '\'']).to_owned())
        });
        let value = value.filter(|value| !value.is_empty() && !value.contains("{{"));
        if value.is_none() {
            let message = format!(
                "the manifest needs a line `{key}: …` at its left margin, without a template, to \
                 find its objects by"
            );
            found.push(at.error(message));
        }
        value
    };
    let api_version = literal("apiVersion");
    let kind = literal("kind");
    Some(ObjectKind::new(api_version?, kind?))
}
