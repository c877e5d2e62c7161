//! `lifecycle`, `retention` and `owner`: what happens to an object after it was first applied.

use chrono::TimeDelta;
use hyperfleet_core::retention::Retention;
use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_source::{Node, suggest};
use hyperfleet_transport::Propagation;

use super::scope::Scope;
use super::{call, manifest};
use crate::task::{DeleteGate, DiscoverBy, Lifecycle, Manifest, PatchGate, Resource, Test};

pub(super) fn lifecycle(node: &Node, scope: &Scope, found: &mut Found) -> Lifecycle {
    let Some(mut fields) = Fields::of(node, "a lifecycle", found) else {
        return Lifecycle::default();
    };
    let apply = fields.get("apply");
    let apply = apply.and_then(|node| gate(node, "`lifecycle.apply`", scope, found));
    let create = fields.get("create");
    let create = create.and_then(|node| gate(node, "`lifecycle.create`", scope, found));
    let recreate = fields.get("recreate");
    let recreate = recreate.and_then(|node| gate(node, "`lifecycle.recreate`", scope, found));
    // Two words for the same.
    let (detach, orphan) = (fields.get("detach"), fields.get("orphan"));
    if let (Some(_), Some(node)) = (detach, orphan) {
        found.push(node.error("`orphan` and `detach` are the same: write one of them"));
    }
    let detach = match (detach, orphan) {
        (Some(node), _) => gate(node, "`lifecycle.detach`", scope, found),
        (None, Some(node)) => gate(node, "`lifecycle.orphan`", scope, found),
        (None, None) => None,
    };
    let mut patch = Vec::new();
    for item in fields.list("patch", found) {
        patch.extend(patch_gate(item, scope, found));
    }
    let delete = fields.get("delete");
    let delete = delete.and_then(|node| delete_gate(node, scope, found));
    fields.finish(found);
    Lifecycle {
        apply,
        create,
        patch,
        recreate,
        detach,
        delete,
    }
}

fn gate(node: &Node, what: &'static str, scope: &Scope, found: &mut Found) -> Option<Test> {
    let mut fields = Fields::of(node, what, found)?;
    let when = fields.required("when", found);
    fields.finish(found);
    call::when(when?, scope, found)
}

fn patch_gate(node: &Node, scope: &Scope, found: &mut Found) -> Option<PatchGate> {
    let mut fields = Fields::of(node, "an entry of `lifecycle.patch`", found)?;
    let when = fields.required("when", found);
    let when = when.and_then(|node| call::when(node, scope, found));
    let document = fields.required("document", found);
    fields.finish(found);
    let document = document?;
    if document.as_mapping().is_none_or(<[_]>::is_empty) {
        let message = format!(
            "a patch is a mapping of what changes, found {}",
            document.kind()
        );
        found.push(document.error(message));
        return None;
    }
    let document = manifest::structure(document, scope, found);
    Some(PatchGate {
        when: when?,
        document: document?,
    })
}

fn delete_gate(node: &Node, scope: &Scope, found: &mut Found) -> Option<DeleteGate> {
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
}

pub(super) fn retention(node: &Node, found: &mut Found) -> Option<Retention> {
    let mut fields = Fields::of(node, "a retention", found)?;
    let limit = fields.get("history_limit").map(|node| {
        let limit = node.to_json().as_u64();
        let limit = limit.and_then(|limit| u32::try_from(limit).ok());
        if limit.is_none() {
            found.push(node.error("`history_limit` is a whole number from 0"));
        }
        limit
    });
    let ttl = fields.text("ttl", found).map(|node| {
        let ttl = call::duration(node, found)?;
        TimeDelta::from_std(ttl).ok()
    });
    fields.finish(found);
    if limit.is_none() && ttl.is_none() {
        found.push(node.error("a retention needs `history_limit`, `ttl` or both"));
    }
    Some(Retention {
        history_limit: limit.flatten(),
        ttl: ttl.flatten(),
    })
}

/// The name of an earlier resource.
pub(super) fn owner(node: &Node, earlier: &[Resource], found: &mut Found) -> Option<String> {
    let mut fields = Fields::of(node, "an owner", found)?;
    let resource = fields.required_text("resource", found);
    fields.finish(found);
    let resource = resource?;
    let name = resource.as_str()?;
    if earlier.iter().any(|one| one.name == name) {
        return Some(name.to_owned());
    }
    let message =
        format!("no earlier resource is named `{name}`: an owner is applied before what it owns");
    let mut wrong = resource.error(message);
    wrong.help = suggest::help(name, earlier.iter().map(|one| one.name.as_str()));
    found.push(wrong);
    None
}

/// What the parts of a resource must have in common. `items` are all resources as they are written.
pub(super) fn check(
    node: &Node,
    resource: &Resource,
    (items, earlier): (&[Node], &[Resource]),
    found: &mut Found,
) {
    if resource.manifest.is_none() {
        check_without_manifest(node, resource, found);
    }
    if resource.retention.is_some() {
        check_retention(node, resource, found);
    }
    let owner = resource.owner.as_ref();
    if let Some(owner) = owner.and_then(|name| earlier.iter().find(|one| one.name == *name)) {
        check_owner(node, owner, items, found);
    }
}

fn check_without_manifest(node: &Node, resource: &Resource, found: &mut Found) {
    let lifecycle = &resource.lifecycle;
    let needs = [
        ("lifecycle.apply", lifecycle.apply.is_some()),
        ("lifecycle.create", lifecycle.create.is_some()),
        ("lifecycle.recreate", lifecycle.recreate.is_some()),
        ("recreate_on_change", resource.recreate_on_change),
        ("retention", resource.retention.is_some()),
        ("owner", resource.owner.is_some()),
    ];
    for (key, _) in needs.into_iter().filter(|(_, given)| *given) {
        found.push(node.error(format!("`{key}` needs a `manifest` to apply")));
    }
    if lifecycle.patch.is_empty() && lifecycle.detach.is_none() && lifecycle.delete.is_none() {
        let message = "without a `manifest` and without `lifecycle.patch`, `detach` or `delete`, nothing can ever be done to it";
        found.push(node.warning(message));
    }
}

fn check_retention(node: &Node, resource: &Resource, found: &mut Found) {
    let at = node.get("retention").unwrap_or(node);
    let by_labels = resource
        .discovery
        .as_ref()
        .is_some_and(|discovery| matches!(discovery.by, DiscoverBy::Labels(_)));
    if !by_labels {
        let mut wrong = at.error("old versions can only be found by labels: `retention` needs a `discovery.by_selectors`");
        wrong.help = Some(
            "for example `label_selector: {hyperfleet.io/resource-id: \"{{ .event.id }}\"}`"
                .to_owned(),
        );
        found.push(wrong);
    }
    let name = text(node, "name");
    if let (Some(Manifest::Structure(_)), Some(name)) = (&resource.manifest, name)
        && !name.contains("{{")
    {
        let mut wrong = at.error(format!(
            "versions stay side by side, but all would be named `{name}`"
        ));
        wrong.help =
            Some("let the name change, for example with `{{ .event.generation }}`".to_owned());
        found.push(wrong);
    }
}

/// Only what is certain before anything is rendered; the rest is checked when it is applied.
fn check_owner(node: &Node, owner: &Resource, items: &[Node], found: &mut Found) {
    let at = node.get("owner").unwrap_or(node);
    if owner.manifest.is_none() {
        let message = format!(
            "`{}` has no manifest, so it may be somebody else's: it cannot be an owner",
            owner.name
        );
        found.push(at.error(message));
    }
    if owner.destination.is_maestro() {
        let message = format!(
            "`{}` is kept by Maestro, where nothing can own what is in Kubernetes",
            owner.name
        );
        found.push(at.error(message));
    }
    let named = |one: &&Node| {
        let name = one.get("name").or(one.get("alias"));
        name.and_then(Node::as_str) == Some(&owner.name)
    };
    let literal = |one: &'_ Node| {
        let namespace = text(one, "namespace").filter(|text| !text.contains("{{"));
        namespace.map(str::to_owned)
    };
    let theirs = items.iter().find(named).and_then(literal);
    if let (Some(child), Some(parent)) = (literal(node), theirs)
        && child != parent
    {
        found.push(at.error(format!(
            "it lives in the namespace `{child}` and its owner in `{parent}`: Kubernetes takes owners from the same \
             namespace only, or such that live in none"
        )));
    }
}

/// A text of the manifest's metadata, as it is written.
fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get("manifest")?.get("metadata")?.get(key)?.as_str()
}
