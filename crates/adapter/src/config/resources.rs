//! `resources`: what is kept on the target.

use std::collections::BTreeSet;

use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Node, suggest};

use super::files::Files;
use super::scope::Scope;
use super::{call, discovery, lifecycle, manifest, names, transport};
use crate::danger::Danger;
use crate::task::{Destination, Nested, Resource};

pub(super) fn resources(
    items: &[Node],
    scope: &Scope,
    files: &Files,
    found: &mut Found,
) -> Vec<Resource> {
    let mut taken = BTreeSet::new();
    let mut resources = Vec::new();
    for item in items {
        let one = resource(item, scope, files, (items, &resources), &mut taken, found);
        resources.extend(one);
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
    (items, earlier): (&[Node], &[Resource]),
    taken: &mut BTreeSet<String>,
    found: &mut Found,
) -> Option<Resource> {
    let mut fields = Fields::of(node, "a resource", found)?;
    let alias = fields.get("alias").is_some() && fields.get("name").is_none();
    let name = names::required(&mut fields, if alias { "alias" } else { "name" }, found);
    check_unique(node, name.as_deref(), taken, found);
    let transport = fields.get("transport");
    let destination = match transport {
        None => Some(Destination::Kubernetes),
        Some(node) => transport::destination(node, scope, found),
    };
    let manifest = fields.get("manifest");
    let (has_manifest, before) = (manifest.is_some(), found.len());
    let manifest = manifest.and_then(|node| manifest::manifest(node, scope, files, found));
    let discovery = fields.get("discovery");
    let (has_discovery, mut said_kind) = (discovery.is_some(), None);
    let discovery = discovery.and_then(|node| {
        let (discovery, kind) = discovery::discovery(node, scope, found)?;
        said_kind = kind;
        Some(discovery)
    });
    let mut nested = Vec::new();
    for item in fields.list("nested_discoveries", found) {
        nested.extend(nested_of(item, scope, taken, found));
    }
    let recreate_on_change = fields.flag("recreate_on_change", found).unwrap_or(false);
    let owner = fields.get("owner");
    let owner = owner.and_then(|node| lifecycle::owner(node, earlier, found));
    let retention = fields.get("retention");
    let retention = retention.and_then(|node| lifecycle::retention(node, found));
    let when = fields.get("when");
    let when = when.and_then(|node| call::when(node, scope, found));
    let lifecycle = fields.get("lifecycle");
    let lifecycle = lifecycle.map(|node| lifecycle::lifecycle(node, scope, found));
    let allow = allowed(fields.list("allow", found), found);
    if let Some(written) = node.get("manifest") {
        refuse(written, &manifest::asks_for(written, files), &allow, found);
    }
    fields.finish(found);
    let (kind, manifest) = match (manifest, said_kind) {
        (Some((kind, manifest)), _) => (kind, Some(manifest)),
        (None, Some(kind)) if !has_manifest => (kind, None),
        _ => {
            if !has_manifest && found.len() == before {
                let mut wrong = node.error(
                    "a resource needs a `manifest`, or `api_version` and `kind` in its `discovery`",
                );
                wrong.help = Some(
                    "without a manifest it can be patched, detached and deleted, not created"
                        .to_owned(),
                );
                found.push(wrong);
            }
            return None;
        }
    };
    if manifest.is_none() && !has_discovery {
        return None;
    }
    let resource = Resource {
        name: name?,
        destination: destination?,
        kind,
        manifest,
        discovery,
        nested,
        recreate_on_change,
        owner,
        retention,
        when,
        lifecycle: lifecycle.unwrap_or_default(),
        allow,
    };
    lifecycle::check(node, &resource, (items, earlier), found);
    if resource.destination.is_maestro() {
        transport::check_work(node, &resource, found);
    }
    Some(resource)
}

/// `allow`: dangerous powers by name.
fn allowed(items: &[Node], found: &mut Found) -> BTreeSet<Danger> {
    let mut allowed = BTreeSet::new();
    for item in items {
        let written = item.as_str().unwrap_or_default();
        match Danger::named(written) {
            Some(danger) => drop(allowed.insert(danger)),
            None => {
                let mut wrong = item.error(format!("there is no power `{written}` to allow"));
                wrong.help = suggest::help(written, Danger::ALL.map(Danger::as_str));
                found.push(wrong);
            }
        }
    }
    allowed
}

/// What a manifest asks for and is not allowed. What only a template can tell is refused when it is rendered.
fn refuse(
    manifest: &Node,
    asked: &BTreeSet<Danger>,
    allowed: &BTreeSet<Danger>,
    found: &mut Found,
) {
    for danger in asked.difference(allowed) {
        let mut wrong = manifest.error(format!("the manifest asks for `{danger}`"));
        wrong.help = Some(format!(
            "if that is meant, say `allow: [{danger}]` beside the manifest"
        ));
        found.push(wrong);
    }
}

fn check_unique(node: &Node, name: Option<&str>, taken: &mut BTreeSet<String>, found: &mut Found) {
    if let Some(name) = name
        && !taken.insert(name.to_owned())
    {
        let at = node.get("name").or(node.get("alias")).unwrap_or(node);
        found.push(at.error(format!("there are two resources named `{name}`")));
    }
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
    let inner = inner.and_then(|node| discovery::nested(node, scope, found));
    fields.finish(found);
    Some(Nested {
        name: name?,
        discovery: inner?,
    })
}
