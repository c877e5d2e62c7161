//! Marks on every object we apply: whose it is, of which generation, and the proof of it.

use hyperfleet_core::ownership::Keyring;
pub use hyperfleet_core::ownership::{ADAPTER, OWNERSHIP, RESOURCE_ID};
use hyperfleet_transport::{InvalidManifest, claim};
use serde_json::{Map, Value as Json, json};

/// Annotation: the generation of that resource.
pub const GENERATION: &str = "hyperfleet.io/generation";
/// Annotation: which resource of the task it is, so that two of the same kind are told apart.
pub const ALIAS: &str = "hyperfleet.io/alias";

/// What is stamped.
#[derive(Clone, Debug)]
pub struct Stamp<'a> {
    /// The adapter's name.
    pub adapter: &'a str,
    /// The resource's id.
    pub resource_id: &'a str,
    /// The resource's generation, if it is known.
    pub generation: Option<i64>,
    /// What ownership is signed with.
    pub keys: Option<&'a Keyring>,
}

/// Why a manifest cannot be stamped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StampError {
    /// It is no object.
    #[error(transparent)]
    Manifest(#[from] InvalidManifest),
    /// Somebody wrote a generation that is none.
    #[error("the annotation {GENERATION} is {0}; it must be a whole number in quotes")]
    Generation(String),
    /// Labels and annotations are texts.
    #[error("{0} must be a mapping of texts")]
    NotTexts(String),
}

impl Stamp<'_> {
    /// Fills gaps only: what the manifest says itself stays. The signature is over what it says.
    pub fn apply(&self, alias: &str, manifest: &mut Json) -> Result<(), StampError> {
        if !manifest["metadata"].is_object() {
            return Err(InvalidManifest {
                missing: "metadata",
            }
            .into());
        }
        let labels = texts(manifest, "labels")?;
        labels.entry(ADAPTER).or_insert_with(|| json!(self.adapter));
        labels
            .entry(RESOURCE_ID)
            .or_insert_with(|| json!(self.resource_id));
        let annotations = texts(manifest, "annotations")?;
        annotations.entry(ALIAS).or_insert_with(|| json!(alias));
        if let Some(generation) = self.generation {
            annotations
                .entry(GENERATION)
                .or_insert_with(|| json!(generation.to_string()));
        }
        match annotations.get(GENERATION) {
            Some(written) if parse(written).is_none() => {
                return Err(StampError::Generation(written.to_string()));
            }
            _ => {}
        }
        if let (Some(keys), Some(claim)) = (self.keys, claim(manifest)) {
            let signature = keys.sign(&claim);
            texts(manifest, "annotations")?.insert(OWNERSHIP.to_owned(), json!(signature));
        }
        Ok(())
    }
}

/// The generation of a work on every object it carries that does not say one itself. They get no other mark: whose they
/// are, the work says, and letting go of it lets go of them.
pub fn mark_carried(work: &mut Json) -> Result<(), StampError> {
    let generation = work["metadata"]["annotations"][GENERATION].clone();
    let manifests = work.pointer_mut("/spec/workload/manifests");
    let manifests = manifests.and_then(Json::as_array_mut);
    for carried in manifests.into_iter().flatten() {
        if !carried["metadata"].is_object() {
            return Err(InvalidManifest {
                missing: "metadata",
            }
            .into());
        }
        if generation.is_null() && carried["metadata"]["annotations"].is_null() {
            continue;
        }
        let annotations = texts(carried, "annotations")?;
        if !generation.is_null() {
            annotations
                .entry(GENERATION)
                .or_insert_with(|| generation.clone());
        }
        match annotations.get(GENERATION) {
            Some(written) if parse(written).is_none() => {
                return Err(StampError::Generation(written.to_string()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an object still carries a mark that says it is ours.
pub fn is_marked(object: &Json) -> bool {
    let metadata = &object["metadata"];
    let labels = [ADAPTER, RESOURCE_ID].map(|key| &metadata["labels"][key]);
    labels
        .into_iter()
        .chain([&metadata["annotations"][OWNERSHIP]])
        .any(Json::is_string)
}

/// The merge patch that takes these marks away, from the object with this uid only. The generation stays: it belongs to
/// the object.
pub fn unmark(uid: Option<&str>) -> Json {
    let mut patch = json!({"metadata": {
        "labels": {ADAPTER: null, RESOURCE_ID: null},
        "annotations": {OWNERSHIP: null},
    }});
    if let Some(uid) = uid {
        patch["metadata"]["uid"] = json!(uid);
    }
    patch
}

fn texts<'m>(manifest: &'m mut Json, key: &str) -> Result<&'m mut Map<String, Json>, StampError> {
    let place = &mut manifest["metadata"][key];
    if place.is_null() {
        *place = json!({});
    }
    place
        .as_object_mut()
        .ok_or_else(|| StampError::NotTexts(format!("metadata.{key}")))
}

/// The generation an object is of; `None` where none is written.
pub fn generation_of(object: &Json) -> Option<i64> {
    let annotations = object.pointer("/metadata/annotations")?;
    parse(annotations.get(GENERATION)?)
}

fn parse(written: &Json) -> Option<i64> {
    written.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp() -> Stamp<'static> {
        Stamp {
            adapter: "dns",
            resource_id: "abc",
            generation: Some(4),
            keys: None,
        }
    }

    #[test]
    fn what_the_manifest_says_itself_wins() {
        let mut manifest = json!({"metadata": {"labels": {ADAPTER: "other"}}});
        stamp().apply("job", &mut manifest).unwrap();
        assert_eq!(
            manifest["metadata"],
            json!({
                "labels": {ADAPTER: "other", RESOURCE_ID: "abc"},
                "annotations": {GENERATION: "4", ALIAS: "job"},
            })
        );
        assert_eq!(generation_of(&manifest), Some(4));
    }

    #[test]
    fn a_generation_that_is_no_number_is_refused() {
        let mut manifest = json!({"metadata": {"annotations": {GENERATION: "four"}}});
        assert!(stamp().apply("job", &mut manifest).is_err());
        assert!(stamp().apply("job", &mut json!({"kind": "Job"})).is_err());
    }
}
