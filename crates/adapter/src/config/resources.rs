//! `resources`: what is kept on the target.

use std::collections::BTreeSet;

use hyperfleet_expr::template::{Manifest as Structure, Template, is_text_place};
use hyperfleet_source::{Node, SourceFile, Value};
use hyperfleet_transport::{ObjectKind, Propagation};

use super::files::Files;
use super::scope::Scope;
use super::{call, names};
use crate::task::{DeleteGate, DiscoverBy, Discovery, Manifest, Nested, Resource};
use hyperfleet_source::fields::{Fields, Found};

pub(super) fn resources(
    items: &[Node],
    scope: &Scope,
    files: &Files,
    found: &mut Found,
) -> Vec<Resource> {
    let mut taken = BTreeSet::new();
    let mut resources = Vec::new();
    for item in items {
        resources.extend(resource(item, scope, files, &mut taken, found));
    }
    resources
}

/// The names of all resources and of the objects inside them, before they are read.
pub(super) fn names(items: &[Node]) -> BTreeSet<String> {
    let inner = |item: &Node| {
        let nested = item
            .get("nested_discoveries")
            .or(item.get("nestedDiscoveries"));
        nested
            .and_then(Node::as_sequence)
            .unwrap_or_default()
            .to_vec()
    };
    let all = items
        .iter()
        .flat_map(|item| std::iter::once(item.clone()).chain(inner(item)));
    all.filter_map(|item| {
        let name = item.get("name").or(item.get("alias"))?;
        name.as_str().map(str::to_owned)
    })
    .collect()
}

fn resource(
    node: &Node,
    scope: &Scope,
    files: &Files,
    taken: &mut BTreeSet<String>,
    found: &mut Found,
) -> Option<Resource> {
    let mut fields = Fields::of(node, "a resource", found)?;
    let alias = fields.get("alias").is_some() && fields.get("name").is_none();
    let name = names::required(&mut fields, if alias { "alias" } else { "name" }, found);
    check_unique(node, name.as_deref(), taken, found);
    if let Some(transport) = fields.get("transport") {
        check_transport(transport, found);
    }
    let manifest = fields.required("manifest", found);
    let manifest = manifest.and_then(|node| manifest_of(node, scope, files, found));
    let discovery = fields
        .get("discovery")
        .map(|node| discovery(node, scope, found));
    let mut nested = Vec::new();
    for item in fields.list("nested_discoveries", found) {
        nested.extend(nested_of(item, scope, taken, found));
    }
    let recreate_on_change = fields.flag("recreate_on_change", found).unwrap_or(false);
    let lifecycle = fields.get("lifecycle");
    let (create_when, delete) =
        lifecycle.map_or((None, None), |node| lifecycle_of(node, scope, found));
    fields.finish(found);
    let (kind, manifest) = manifest?;
    Some(Resource {
        name: name?,
        kind,
        manifest,
        discovery: match discovery {
            None => None,
            Some(discovery) => Some(discovery?),
        },
        nested,
        recreate_on_change,
        create_when,
        delete,
    })
}

fn check_unique(node: &Node, name: Option<&str>, taken: &mut BTreeSet<String>, found: &mut Found) {
    if let Some(name) = name
        && !taken.insert(name.to_owned())
    {
        let at = node.get("name").or(node.get("alias")).unwrap_or(node);
        found.push(at.error(format!("there are two resources named `{name}`")));
    }
}

fn check_transport(node: &Node, found: &mut Found) {
    let Some(mut fields) = Fields::of(node, "a transport", found) else {
        return;
    };
    if let Some(client) = fields.text("client", found) {
        call::choice(client, &["kubernetes"], found);
    }
    fields.finish(found);
}

/// A mapping, a text, or `{ref: file}`.
fn manifest_of(
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
    let before = found.len();
    check_templates(node, scope, found);
    let kind = structure_kind(node, found);
    if found.len() > before {
        return None;
    }
    match Structure::parse(&node.location(), &node.to_json(), is_text_place) {
        Ok(structure) => Some((kind?, Manifest::Structure(structure))),
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

fn discovery(node: &Node, scope: &Scope, found: &mut Found) -> Option<Discovery> {
    let mut fields = Fields::of(node, "a discovery", found)?;
    let namespace = fields.text("namespace", found);
    // `*` and nothing both mean everywhere.
    let namespace = namespace
        .filter(|node| !matches!(node.as_str(), Some("*" | "")))
        .map(|node| scope.template(node, found));
    let by_name = fields.get("by_name");
    let by_selectors = fields.get("by_selectors");
    if by_name.is_some() == by_selectors.is_some() {
        found.push(node.error("a discovery is exactly one of `by_name` and `by_selectors`"));
    }
    fields.finish(found);
    let by = match (by_name, by_selectors) {
        (Some(node), _) => scope.template(node, found).map(DiscoverBy::Name),
        (None, Some(node)) => labels(node, scope, found).map(DiscoverBy::Labels),
        (None, None) => None,
    };
    Some(Discovery {
        namespace: match namespace {
            None => None,
            Some(namespace) => Some(namespace?),
        },
        by: by?,
    })
}

fn labels(node: &Node, scope: &Scope, found: &mut Found) -> Option<Vec<(Template, Template)>> {
    let mut fields = Fields::of(node, "`by_selectors`", found)?;
    let selector = fields.required("label_selector", found);
    fields.finish(found);
    let selector = selector?;
    let entries = selector.as_mapping().unwrap_or_default();
    if entries.is_empty() {
        found.push(selector.error("a label selector needs at least one label"));
        return None;
    }
    let mut labels = Vec::new();
    for (key, value) in entries {
        let written = Node::new(
            &key.file,
            key.span,
            Value::String(key.text.clone(), hyperfleet_source::Style::Plain),
        );
        let key = scope.template(&written, found);
        let value = scope.template(value, found);
        labels.push((key?, value?));
    }
    Some(labels)
}

fn nested_of(
    node: &Node,
    scope: &Scope,
    taken: &mut BTreeSet<String>,
    found: &mut Found,
) -> Option<Nested> {
    let mut fields = Fields::of(node, "a nested discovery", found)?;
    let name = names::required(&mut fields, "name", found);
    check_unique(node, name.as_deref(), taken, found);
    let inner = fields.required("discovery", found);
    let inner = inner.and_then(|node| discovery(node, scope, found));
    fields.finish(found);
    Some(Nested {
        name: name?,
        discovery: inner?,
    })
}

fn lifecycle_of(
    node: &Node,
    scope: &Scope,
    found: &mut Found,
) -> (Option<crate::task::Test>, Option<DeleteGate>) {
    let Some(mut fields) = Fields::of(node, "a lifecycle", found) else {
        return (None, None);
    };
    let create = fields.get("create").and_then(|node| {
        let mut fields = Fields::of(node, "`lifecycle.create`", found)?;
        let when = fields.required("when", found);
        fields.finish(found);
        call::when(when?, scope, found)
    });
    let delete = fields.get("delete").and_then(|node| {
        let mut fields = Fields::of(node, "`lifecycle.delete`", found)?;
        let when = fields.required("when", found);
        let policies = ["Background", "Foreground", "Orphan"];
        let policy = fields.text("propagation_policy", found);
        let policy = policy.and_then(|node| call::choice(node, &policies, found));
        fields.finish(found);
        Some(DeleteGate {
            when: call::when(when?, scope, found)?,
            propagation: match policy {
                Some("Foreground") => Propagation::Foreground,
                Some("Orphan") => Propagation::Orphan,
                _ => Propagation::Background,
            },
        })
    });
    fields.finish(found);
    (create, delete)
}
