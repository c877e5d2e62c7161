//! `discovery`: how existing objects are found.

use hyperfleet_expr::template::Template;
use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Node, Value};
use hyperfleet_transport::ObjectKind;

use super::scope::Scope;
use crate::task::{DiscoverBy, Discovery};

/// Of objects inside another one, whose kind does not matter.
pub(super) fn nested(node: &Node, scope: &Scope, found: &mut Found) -> Option<Discovery> {
    let mut fields = Fields::of(node, "a nested discovery", found)?;
    let discovery = place(node, &mut fields, scope, found);
    fields.finish(found);
    discovery
}

/// How an object is found, and of what kind it is if that is said here.
pub(super) fn discovery(
    node: &Node,
    scope: &Scope,
    found: &mut Found,
) -> Option<(Discovery, Option<ObjectKind>)> {
    let mut fields = Fields::of(node, "a discovery", found)?;
    let api_version = fields.text("api_version", found);
    let kind = fields.text("kind", found);
    if api_version.is_some() != kind.is_some() {
        found.push(node.error("`api_version` and `kind` of a discovery belong together"));
    }
    let kind = match (
        api_version.and_then(Node::as_str),
        kind.and_then(Node::as_str),
    ) {
        (Some(api_version), Some(kind)) => Some(ObjectKind::new(api_version, kind)),
        _ => None,
    };
    let discovery = place(node, &mut fields, scope, found);
    fields.finish(found);
    Some((discovery?, kind))
}

fn place(
    node: &Node,
    fields: &mut Fields<'_>,
    scope: &Scope,
    found: &mut Found,
) -> Option<Discovery> {
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
