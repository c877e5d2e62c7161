//! Marks on every object we apply: whose it is, and of which generation.

use hyperfleet_transport::InvalidManifest;
use serde_json::{Map, Value as Json, json};

/// Label: the adapter that applies the object.
pub const ADAPTER: &str = "hyperfleet.io/adapter";
/// Label: the id of the resource the object belongs to.
pub const RESOURCE_ID: &str = "hyperfleet.io/resource-id";
/// Annotation: the generation of that resource.
pub const GENERATION: &str = "hyperfleet.io/generation";

/// What is stamped.
#[derive(Clone, Debug)]
pub struct Stamp<'a> {
    /// The adapter's name.
    pub adapter: &'a str,
    /// The resource's id.
    pub resource_id: &'a str,
    /// The resource's generation, if it is known.
    pub generation: Option<i64>,
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
    /// Fills gaps only: what the manifest says itself stays.
    pub fn apply(&self, manifest: &mut Json) -> Result<(), StampError> {
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
        if let Some(generation) = self.generation {
            annotations
                .entry(GENERATION)
                .or_insert_with(|| json!(generation.to_string()));
        }
        match annotations.get(GENERATION) {
            Some(written) if parse(written).is_none() => {
                Err(StampError::Generation(written.to_string()))
            }
            _ => Ok(()),
        }
    }
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
        }
    }

    #[test]
    fn what_the_manifest_says_itself_wins() {
        let mut manifest = json!({"metadata": {"labels": {ADAPTER: "other"}}});
        stamp().apply(&mut manifest).unwrap();
        assert_eq!(
            manifest["metadata"],
            json!({
                "labels": {ADAPTER: "other", RESOURCE_ID: "abc"},
                "annotations": {GENERATION: "4"},
            })
        );
        assert_eq!(generation_of(&manifest), Some(4));
    }

    #[test]
    fn a_generation_that_is_no_number_is_refused() {
        let mut manifest = json!({"metadata": {"annotations": {GENERATION: "four"}}});
        assert!(stamp().apply(&mut manifest).is_err());
        assert!(stamp().apply(&mut json!({"kind": "Job"})).is_err());
    }
}
