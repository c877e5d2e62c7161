//! `transport`: where an object is kept, and what that rules out.

use hyperfleet_source::Node;
use hyperfleet_source::fields::{Fields, Found};
use hyperfleet_transport::{Propagation, work_kind};

use super::call;
use super::scope::Scope;
use crate::task::{Destination, Resource};

pub(super) fn destination(node: &Node, scope: &Scope, found: &mut Found) -> Option<Destination> {
    let mut fields = Fields::of(node, "a transport", found)?;
    let client = fields.text("client", found);
    let client = client.map(|node| call::choice(node, &["kubernetes", "maestro"], found));
    let maestro = fields.get("maestro");
    let cluster = maestro.map(|node| target_cluster(node, scope, found));
    fields.finish(found);
    match (client, cluster) {
        (Some(None), _) => None,
        (Some(Some("maestro")), Some(cluster)) => Some(Destination::Maestro { cluster: cluster? }),
        (Some(Some("maestro")), None) => {
            let mut wrong = node.error("`client: maestro` needs `maestro.target_cluster`");
            wrong.help = Some("it says which consumer of Maestro the work is for".to_owned());
            found.push(wrong);
            None
        }
        (_, cluster) => {
            // A file may be written for both; of the other one it is only checked.
            if let (Some(node), Some(_)) = (maestro, cluster) {
                found.push(node.warning("not used: the objects go to Kubernetes"));
            }
            Some(Destination::Kubernetes)
        }
    }
}

fn target_cluster(
    node: &Node,
    scope: &Scope,
    found: &mut Found,
) -> Option<hyperfleet_expr::template::Template> {
    let mut fields = Fields::of(node, "`transport.maestro`", found)?;
    let target = fields.required_text("target_cluster", found);
    fields.finish(found);
    scope.template(target?, found)
}

/// What a work cannot be or have.
pub(super) fn check_work(node: &Node, resource: &Resource, found: &mut Found) {
    let kind = work_kind();
    let at = |key: &str| node.get(key).unwrap_or(node);
    if resource.kind != kind {
        let mut wrong = at("manifest").error(format!(
            "Maestro takes {kind} only, and this is {}",
            resource.kind
        ));
        wrong.help =
            Some("put the object into `spec.workload.manifests` of a ManifestWork".to_owned());
        found.push(wrong);
    }
    if resource.owner.is_some() {
        found.push(at("owner").error(
            "a work has no owner: Maestro keeps it outside of Kubernetes, whose garbage collection would have to honour it",
        ));
    }
    if let Some(namespace) = node.get("discovery").and_then(|node| node.get("namespace")) {
        found.push(namespace.warning("not used: a work is looked for in its `target_cluster`"));
    }
    let Some(delete) = &resource.lifecycle.delete else {
        return;
    };
    let policy = node.get("lifecycle").and_then(|node| node.get("delete"));
    let policy = policy.and_then(|node| {
        node.get("propagationPolicy")
            .or(node.get("propagation_policy"))
    });
    let Some(policy) = policy else {
        return;
    };
    let instead = "what becomes of the objects of a deleted work is its `spec.deleteOption`";
    match delete.propagation {
        Propagation::Orphan => {
            let mut wrong = policy.error("Maestro would delete the objects all the same");
            wrong.help = Some(format!(
                "{instead}: say `deleteOption: {{propagationPolicy: Orphan}}` there"
            ));
            found.push(wrong);
        }
        Propagation::Background | Propagation::Foreground => {
            found.push(policy.warning(format!("not used: {instead}")));
        }
    }
}

#[cfg(test)]
mod tests;
