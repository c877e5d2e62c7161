//! What a work must look like for Maestro to take it.

use serde_json::Value;

use super::bundle::{API_VERSION, KIND};
use crate::{Failure, ObjectKind, ObjectRef};

/// What is wrong with a manifest, all of it; `Ok` names the work.
pub(super) fn manifest(manifest: &Value) -> Result<ObjectRef, Failure> {
    let object = ObjectRef::of(manifest).map_err(|error| invalid(vec![error.to_string()]))?;
    let mut wrong = Vec::new();
    kind(&object.kind)?;
    wrong.extend(label("metadata.name", &object.name));
    match &object.namespace {
        Some(consumer) => wrong.extend(label("target_cluster", consumer)),
        None => wrong.push("target_cluster: it is not known where the work goes".to_owned()),
    }
    let manifests = manifest["spec"]["workload"]["manifests"].as_array();
    if manifests.is_none_or(Vec::is_empty) {
        wrong.push("spec.workload.manifests: a work carries at least one object".to_owned());
    }
    for (index, inner) in manifests.into_iter().flatten().enumerate() {
        if let Err(error) = ObjectRef::of(inner) {
            let missing = error.missing;
            wrong.push(format!(
                "spec.workload.manifests[{index}].{missing}: required"
            ));
        }
    }
    match wrong.is_empty() {
        true => Ok(object),
        false => Err(invalid(wrong)),
    }
}

/// Maestro keeps works and nothing else.
pub(super) fn kind(kind: &ObjectKind) -> Result<(), Failure> {
    match (kind.api_version.as_str(), kind.kind.as_str()) {
        (API_VERSION, KIND) => Ok(()),
        (api_version, kind) => Err(invalid(vec![format!(
            "kind: Maestro takes {KIND} ({API_VERSION}) only, not {kind} ({api_version})"
        )])),
    }
}

/// The consumer and the name of a work, both of which are sent in URLs and searches.
pub(super) fn place(object: &ObjectRef) -> Result<&str, Failure> {
    kind(&object.kind)?;
    let consumer = object.namespace.as_deref().unwrap_or_default();
    let wrong: Vec<String> = label("target_cluster", consumer)
        .into_iter()
        .chain(label("metadata.name", &object.name))
        .collect();
    match wrong.is_empty() {
        true => Ok(consumer),
        false => Err(invalid(wrong)),
    }
}

/// Consumers and works are named like namespaces.
pub(super) fn label(field: &str, name: &str) -> Option<String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let fits = !name.is_empty()
        && name.len() <= 63
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    (!fits).then(|| {
        format!(
            "{field}: {name:?} is no name for it: at most 63 lower-case letters, digits and `-`, with a letter or \
             digit at both ends"
        )
    })
}

fn invalid(causes: Vec<String>) -> Failure {
    Failure::Invalid {
        message: causes.join("; "),
        causes,
    }
}
