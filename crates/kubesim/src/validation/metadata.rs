//! `metadata` of created and updated objects.

use serde_json::Value;

use super::{label_value_problem, name_problem, qualified_name_problem};
use crate::catalog::Resource;
use crate::failure::Cause;
use crate::meta;

const ANNOTATIONS_LIMIT: usize = 256 * 1024;

pub(crate) fn check_create(resource: &Resource, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let generate_name = meta::text(object, "/metadata/generateName");
    let name = meta::name(object);
    if name.is_empty() {
        causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else if let Some(problem) = name_problem(resource, name) {
        if !generate_name.is_empty() {
            causes.push(Cause::invalid(
                "metadata.generateName",
                &generate_name.into(),
                &problem,
            ));
        }
        causes.push(Cause::invalid("metadata.name", &name.into(), &problem));
    }
    causes.extend(check_common(object));
    causes
}

/// What may never change once the object exists.
pub(crate) fn check_update(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let pointer = format!("/metadata/{field}");
        let (before, after) = (old.pointer(&pointer), new.pointer(&pointer));
        if before != after {
            let shown = after.cloned().unwrap_or(Value::Null);
            causes.push(Cause::invalid(
                format!("metadata.{field}"),
                &shown,
                "field is immutable",
            ));
        }
    }
    if meta::is_deleting(old) {
        let before = meta::finalizers(old);
        let added: Vec<&str> = meta::finalizers(new)
            .into_iter()
            .filter(|f| !before.contains(f))
            .collect();
        if !added.is_empty() {
            let list = added
                .iter()
                .map(|f| format!("{f:?}"))
                .collect::<Vec<_>>()
                .join(", ");
            causes.push(Cause::forbidden(
                "metadata.finalizers",
                &format!("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{list}}}"),
            ));
        }
    }
    causes.extend(check_common(new));
    causes
}

fn check_common(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let metadata = &object["metadata"];
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        if let Some(problem) = qualified_name_problem(key) {
            causes.push(Cause::invalid(
                "metadata.labels",
                &key.as_str().into(),
                &problem,
            ));
        }
        if let Some(problem) = label_value_problem(value.as_str().unwrap_or_default()) {
            causes.push(Cause::invalid("metadata.labels", value, &problem));
        }
    }
    let mut total = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        if let Some(problem) = qualified_name_problem(&key.to_lowercase()) {
            causes.push(Cause::invalid(
                "metadata.annotations",
                &key.as_str().into(),
                &problem,
            ));
        }
        total += key.len() + value.as_str().unwrap_or_default().len();
    }
    if total > ANNOTATIONS_LIMIT {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATIONS_LIMIT));
    }
    causes.extend(check_owners(object));
    let finalizers = meta::finalizers(object);
    for finalizer in &finalizers {
        let builtin = [meta::FOREGROUND, meta::ORPHAN, "kubernetes"].contains(finalizer);
        if let Some(problem) = qualified_name_problem(finalizer) {
            causes.push(Cause::invalid(
                "metadata.finalizers",
                &(*finalizer).into(),
                &problem,
            ));
        } else if !finalizer.contains('/') && !builtin {
            causes.push(Cause::invalid(
                "metadata.finalizers",
                &(*finalizer).into(),
                "name is neither a standard finalizer name nor is it fully qualified",
            ));
        }
    }
    if finalizers.contains(&meta::FOREGROUND) && finalizers.contains(&meta::ORPHAN) {
        causes.push(Cause::invalid(
            "metadata.finalizers",
            &metadata["finalizers"],
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
    causes
}

fn check_owners(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controllers = 0;
    for owner in meta::owners(object) {
        for (field, pointer) in [
            ("apiVersion", "/apiVersion"),
            ("kind", "/kind"),
            ("name", "/name"),
            ("uid", "/uid"),
        ] {
            if meta::text(owner, pointer).is_empty() {
                let detail = if field == "apiVersion" {
                    "version must not be empty"
                } else {
                    "must not be empty"
                };
                causes.push(Cause::invalid(
                    format!("metadata.ownerReferences.{field}"),
                    &"".into(),
                    detail,
                ));
            }
        }
        if owner["controller"] == true {
            controllers += 1;
        }
    }
    if controllers > 1 {
        causes.push(Cause::invalid(
            "metadata.ownerReferences",
            &object["metadata"]["ownerReferences"],
            "Only one reference can have Controller set to true",
        ));
    }
    causes
}
