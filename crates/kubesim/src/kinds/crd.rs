//! CustomResourceDefinitions: derived names, checks and the status that says the kind is served.

use chrono::Utc;
use serde_json::{Value, json};

use crate::failure::Cause;
use crate::meta;

pub(super) fn fill_definition(object: &mut Value) {
    let spec = &mut object["spec"];
    if !spec.is_object() {
        return;
    }
    meta::fill(spec, "conversion", json!({ "strategy": "None" }));
    let kind = meta::text(spec, "/names/kind").to_owned();
    if let Some(names) = spec.get_mut("names") {
        meta::fill(names, "singular", kind.to_lowercase());
        meta::fill(names, "listKind", format!("{kind}List"));
    }
}

pub(super) fn check(object: &Value, causes: &mut Vec<Cause>) {
    let spec = &object["spec"];
    let (plural, group) = (
        meta::text(spec, "/names/plural"),
        meta::text(spec, "/group"),
    );
    let expected = format!("{plural}.{group}");
    if meta::name(object) != expected {
        causes.push(Cause::invalid(
            "metadata.name",
            &meta::name(object).into(),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    for (field, value) in [
        ("spec.group", group),
        ("spec.scope", meta::text(spec, "/scope")),
        ("spec.names.plural", plural),
        ("spec.names.kind", meta::text(spec, "/names/kind")),
    ] {
        if value.is_empty() {
            causes.push(Cause::required(field, ""));
        }
    }
    let versions = meta::list(spec, "/versions");
    if versions.iter().filter(|v| v["storage"] == true).count() != 1 {
        causes.push(Cause::invalid(
            "spec.versions",
            &spec["versions"],
            "must have exactly one version marked as storage version",
        ));
    }
    for (index, version) in versions.iter().enumerate() {
        if version
            .pointer("/schema/openAPIV3Schema")
            .is_none_or(|s| !s.is_object())
        {
            causes.push(Cause::required(
                format!("spec.versions[{index}].schema.openAPIV3Schema"),
                "schemas are required",
            ));
        }
    }
}

/// Served at once: there is no second apiserver that has to learn about it.
pub(crate) fn established(object: &Value) -> Value {
    let now = meta::time(Utc::now());
    let since = |kind: &str| {
        meta::list(object, "/status/conditions")
            .iter()
            .find(|c| c["type"] == kind)
            .map_or_else(|| json!(now), |c| c["lastTransitionTime"].clone())
    };
    let stored: Vec<&Value> = meta::list(object, "/spec/versions")
        .iter()
        .filter(|v| v["storage"] == true)
        .map(|v| &v["name"])
        .collect();
    json!({
        "acceptedNames": object["spec"]["names"],
        "storedVersions": stored,
        "conditions": [
            { "type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found",
              "lastTransitionTime": since("NamesAccepted") },
            { "type": "Established", "status": "True", "reason": "InitialNamesAccepted",
              "message": "the initial names have been accepted", "lastTransitionTime": since("Established") },
        ],
    })
}
