//! Changing what is wanted: each field given replaces the old one whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::resource::{Reference, References, Resource};
use crate::time::Time;

/// What a PATCH sets, checked but not yet applied. Fields that are not given stay as they are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch {
    pub spec: Option<Map<String, Value>>,
    pub labels: Option<BTreeMap<String, String>>,
    pub references: Option<References>,
}

impl Patch {
    /// The names of the fields a PATCH may hold.
    pub const FIELDS: [&str; 3] = ["spec", "labels", "references"];

    /// The resource with the patch applied by `actor`, and what that changed; `None` when it changes nothing.
    ///
    /// Changes the generation by one however many fields change. The caller computes the status anew.
    pub fn apply(
        &self,
        resource: &Resource,
        actor: &str,
        at: Time,
    ) -> Option<(Resource, Map<String, Value>)> {
        let mut changed = Map::new();
        let mut patched = resource.clone();
        if let Some(spec) = self.spec.as_ref().filter(|spec| **spec != resource.spec) {
            changed.insert("spec".to_owned(), Value::Object(spec.clone()));
            patched.spec = spec.clone();
        }
        if let Some(labels) = self.labels.as_ref()
            && *labels != resource.labels
        {
            changed.insert("labels".to_owned(), serde_json::json!(labels));
            patched.labels = labels.clone();
        }
        if let Some(references) = self.references.as_ref()
            && !same_targets(references, &resource.references)
        {
            changed.insert("references".to_owned(), serde_json::json!(references));
            patched.references = references.clone();
        }
        if changed.is_empty() {
            return None;
        }
        patched.generation = resource.generation.next();
        // Strictly forward, whatever the clock does: it is what "since the last change" is measured by.
        patched.updated_time = at.max(resource.updated_time + chrono::TimeDelta::microseconds(1));
        patched.updated_by = actor.to_owned();
        Some((patched, changed))
    }
}

/// Whether two sets of references point at the same things, whatever the order. A lost target is never the same.
fn same_targets(one: &References, other: &References) -> bool {
    let targets = |references: &References| {
        let mut targets: Vec<(String, crate::identity::ResourceId, bool)> = references
            .iter()
            .flat_map(|(kind, list)| {
                list.iter()
                    .map(|Reference { target, missing }| (kind.clone(), target.id, *missing))
            })
            .collect();
        targets.sort();
        targets
    };
    targets(one) == targets(other)
}
