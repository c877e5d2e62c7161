//! Which changes a watcher is told, and which it must never hear of.

use std::sync::Arc;

use hyperfleet_core::fields::Fields;
use hyperfleet_core::resource::Resource;
use hyperfleet_core::search::Search;
use hyperfleet_store::{Change, Labels, Owner, Position, Sight};

/// Which changes a watcher is told.
#[derive(Debug)]
pub(super) struct Wanted {
    /// What the watcher may see; `None` is everything.
    pub(super) sight: Option<Arc<Sight>>,
    pub(super) kind: Option<String>,
    pub(super) owner: Owner,
    pub(super) search: Option<Search>,
    /// A type of reference, and the id of its target.
    pub(super) reference: Option<(String, String)>,
    pub(super) fields: Option<Fields>,
}

impl Wanted {
    /// Whether search and reference find it. What they do not find any longer, or never did, is told as deleted by
    /// its id alone: whether it was found before is not known here, and a watcher that does not have it has nothing
    /// to do.
    pub(super) fn finds(&self, resource: &Resource) -> bool {
        let points = |(ref_type, target): &(String, String)| {
            let targets = resource.references.get(ref_type);
            targets.is_some_and(|targets| {
                targets
                    .iter()
                    .any(|reference| reference.target.id.to_string() == *target)
            })
        };
        self.search
            .as_ref()
            .is_none_or(|search| search.matches(resource))
            && self.reference.as_ref().is_none_or(points)
    }

    /// Whether it is in the list at all. What the watcher may not see is not told of, not even that it is gone.
    pub(super) fn holds(&self, resource: &Resource) -> bool {
        let seen = self.sight.as_ref();
        seen.is_none_or(|sight| sight.holds(resource)) && self.lists(resource)
    }

    /// Whether it was in the list with labels it had since the watcher was told everything: then the watcher may have
    /// it, and is told that it is out of its sight, and nothing more.
    pub(super) fn held(&self, change: &Change) -> bool {
        self.held_with(&change.resource, change.labels_since())
    }

    /// Whether it was in the list after a position: whoever goes on from there is told that it is out of sight.
    pub(super) fn held_after(&self, position: &Position, change: &Change) -> bool {
        self.held_with(&change.resource, change.labels_after(position))
    }

    fn held_with<'a>(
        &self,
        resource: &Resource,
        mut labels: impl Iterator<Item = &'a Labels>,
    ) -> bool {
        let Some(sight) = &self.sight else {
            return false;
        };
        labels.any(|labels| sight.holds_with(resource, labels)) && self.lists(resource)
    }

    /// Whether the route speaks of it.
    fn lists(&self, resource: &Resource) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == resource.kind) && self.owner.owns(resource)
    }
}
