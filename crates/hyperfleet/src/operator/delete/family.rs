//! The children of a resource that is to be deleted, and theirs, and what becomes of them.

use hyperfleet_client::{Follow, RemoteResource};

use crate::operator::failure::Failure;
use crate::operator::fleet::{Fleet, called, quoted};
use crate::operator::kinds::KindInfo;
use crate::operator::walk::Walk;

/// So many children are named; the rest is counted.
const NAMED: usize = 5;

/// A resource and everything below it, the innermost last.
pub(super) struct Family<'f> {
    of: String,
    below: Vec<(&'f KindInfo, RemoteResource)>,
}

impl<'f> Family<'f> {
    pub(super) async fn of(
        fleet: &'f Fleet,
        kind: &KindInfo,
        resource: &RemoteResource,
    ) -> Result<Family<'f>, Failure> {
        let mut below: Vec<(&KindInfo, RemoteResource)> = Vec::new();
        let mut parents = vec![(kind.kind.clone(), resource.id.clone())];
        while let Some((kind, id)) = parents.pop() {
            for child in fleet.kinds().await?.children_of(&kind) {
                let follow = Follow {
                    plural: child.plural.clone(),
                    search: Some(format!(
                        "owner_id = {} AND deleted_time IS NULL",
                        quoted(&id)
                    )),
                    fields: Some("kind,name,deleted_time".to_owned()),
                    order: None,
                };
                let mut walk = Walk::new(fleet, &follow);
                while let Some(items) = walk.next().await? {
                    for item in items {
                        // What loses its owner keeps its own children.
                        if child.on_parent_delete.as_deref() != Some("orphan") {
                            parents.push((item.kind.clone(), item.id.clone()));
                        }
                        below.push((child, item));
                    }
                }
            }
        }
        Ok(Family {
            of: called(resource),
            below,
        })
    }

    /// Why the server would refuse, if it would.
    pub(super) fn refusing(&self) -> Option<String> {
        let refusing: Vec<&RemoteResource> = self.with_policy("restrict").collect();
        match refusing.is_empty() {
            true => None,
            false => Some(format!(
                "{} cannot be deleted while it has {}",
                self.of,
                listed(&refusing)
            )),
        }
    }

    /// The children to delete before the parent, innermost first.
    pub(super) fn to_delete_first(&self) -> impl Iterator<Item = (&KindInfo, &RemoteResource)> {
        let refusing = |kind: &KindInfo| kind.on_parent_delete.as_deref() == Some("restrict");
        self.below
            .iter()
            .rev()
            .filter(move |(kind, _)| refusing(kind))
            .map(|(kind, child)| (*kind, child))
    }

    /// What becomes of the children, a line for each fate.
    pub(super) fn consequences(&self) -> Vec<String> {
        let fates = [
            ("cascade", "deleted with it"),
            ("restrict", "deleted before it"),
            ("orphan", "left without an owner"),
        ];
        fates
            .into_iter()
            .filter_map(|(policy, fate)| {
                let children: Vec<&RemoteResource> = self.with_policy(policy).collect();
                (!children.is_empty())
                    .then(|| format!("{}: {fate}: {}", self.of, listed(&children)))
            })
            .collect()
    }

    fn with_policy<'a>(&'a self, policy: &'a str) -> impl Iterator<Item = &'a RemoteResource> {
        self.below
            .iter()
            .filter(move |(kind, _)| kind.on_parent_delete.as_deref() == Some(policy))
            .map(|(_, child)| child)
    }
}

fn listed(children: &[&RemoteResource]) -> String {
    let names: Vec<String> = children
        .iter()
        .take(NAMED)
        .map(|child| called(child))
        .collect();
    match children.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
