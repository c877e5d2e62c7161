//! What create, update and patch share: decoding, defaults, checks and the commit.

use std::sync::Arc;

use chrono::Utc;
use serde_json::Value;

use super::{Call, State};
use crate::catalog::Resource;
use crate::failure::{Cause, Failure};
use crate::kinds;
use crate::meta;
use crate::ownership::{self, Writer};
use crate::query::FieldValidation;
use crate::schema;
use crate::validation;

/// Reads a body as the call's kind. Returns warnings about what was dropped.
pub(super) fn decode(call: &Call<'_>, object: &mut Value) -> Result<Vec<String>, Failure> {
    let resource = call.resource;
    if !object.is_object() {
        return Err(Failure::bad_request(
            "the object provided is unrecognized (must be of type Object)",
        ));
    }
    let kind = resource.kind.as_str();
    let version = resource.version.as_str();
    let given_version = meta::text(object, "/apiVersion").to_owned();
    let given_kind = meta::text(object, "/kind").to_owned();
    if given_version.is_empty() || given_kind.is_empty() {
        // Built-in kinds may leave both out; the real decoder fills them in from the path.
        if resource.custom.is_some() {
            return Err(Failure::bad_request(
                "Object 'Kind' is missing in the request body",
            ));
        }
    } else if given_version != resource.api_version() {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({given_version}) does not match the expected API version ({})",
            resource.api_version()
        )));
    } else if given_kind != kind {
        return Err(Failure::bad_request(format!(
            "{given_kind} in version {version:?} cannot be handled as a {kind}: no kind {given_kind:?} is registered for version {:?}",
            resource.api_version()
        )));
    }
    let unknown = schema::decode(&resource.shape, object).map_err(|wrong| {
        Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: json: cannot unmarshal {} into Go struct field {kind}.{} of type {}",
            wrong.found, wrong.path, wrong.wanted
        ))
    });
    // A custom kind's types are checked by its schema, with a 422.
    let unknown = match unknown {
        Err(_) if resource.custom.is_some() => Vec::new(),
        other => other?,
    };
    if let Some(problem) = kinds::decode_problem(resource, object) {
        return Err(Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {problem}"
        )));
    }
    if let Some(fields) = object.as_object_mut() {
        fields.insert("apiVersion".into(), resource.api_version().into());
        fields.insert("kind".into(), kind.into());
    }
    let problems: Vec<String> = unknown
        .iter()
        .map(|path| format!("unknown field {path:?}"))
        .collect();
    match call.query.field_validation {
        _ if problems.is_empty() => Ok(problems),
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(problems),
        FieldValidation::Strict => Err(Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
            problems.join(", ")
        ))),
    }
}

/// Fields the endpoint may not write.
pub(super) fn reset_fields(resource: &Resource, subresource: &str) -> &'static [&'static str] {
    match subresource {
        "status" => &["spec"],
        _ if resource.has_status() => &["status"],
        _ => &[],
    }
}

pub(super) fn writer<'a>(call: &'a Call<'_>, api_version: &'a str) -> Writer<'a> {
    Writer {
        manager: &call.query.field_manager,
        api_version,
        subresource: call.subresource,
        now: call.now,
    }
}

/// Takes an object through defaults and checks against its stored state, without touching ownership.
pub(super) fn finish_update(call: &Call<'_>, old: &Value, new: &mut Value) -> Result<(), Failure> {
    let resource = call.resource;
    if resource.custom.is_none() {
        schema::drop_empty(&resource.shape, new);
    }
    isolate(resource, call.subresource, old, new);
    let metadata = meta::metadata_mut(new);
    for field in [
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "selfLink",
    ] {
        match old["metadata"].get(field) {
            Some(value) => metadata.insert(field.into(), value.clone()),
            None => metadata.remove(field),
        };
    }
    if let Some(custom) = &resource.custom {
        schema::fill_defaults(&custom.schema, new);
    }
    kinds::fill_defaults(resource, new);
    if call.subresource.is_empty() {
        kinds::keep_allocated(resource, old, new);
    }
    if kinds::tracks_generation(resource)
        && call.subresource != "status"
        && kinds::desired_changed(resource, old, new)
    {
        meta::metadata_mut(new).insert("generation".into(), (meta::generation(old) + 1).into());
    }
    let mut causes = validation::check_update(old, new);
    causes.extend(check_object(resource, new));
    causes.extend(kinds::check_update(resource, old, new));
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Failure::invalid(resource, meta::name(new), causes))
    }
}

/// The main endpoint cannot change status, the status endpoint nothing else.
fn isolate(resource: &Resource, subresource: &str, old: &Value, new: &mut Value) {
    let keep = |new: &mut Value, key: &str| {
        if let Some(fields) = new.as_object_mut() {
            match old.get(key) {
                Some(value) => fields.insert(key.to_owned(), value.clone()),
                None => fields.remove(key),
            };
        }
    };
    match subresource {
        "status" => {
            let managed = new.pointer("/metadata/managedFields").cloned();
            let mut kept = old.clone();
            if let Some(fields) = kept.as_object_mut() {
                match new.get("status") {
                    Some(status) => fields.insert("status".into(), status.clone()),
                    None => fields.remove("status"),
                };
            }
            // Built-in kinds let their status endpoint write metadata as well.
            if resource.custom.is_none() {
                kept["metadata"] = new["metadata"].clone();
            } else if let Some(managed) = managed {
                kept["metadata"]["managedFields"] = managed;
            }
            *new = kept;
        }
        _ if resource.has_status() => keep(new, "status"),
        _ => {}
    }
}

pub(super) fn check_object(resource: &Resource, object: &Value) -> Vec<Cause> {
    let mut causes = kinds::check(resource, object);
    if let Some(custom) = &resource.custom {
        schema::validate(&custom.schema, object, "", &mut causes);
    }
    causes
}

/// Stores `new` unless it says the same as `old`, and removes it when its last finalizer went.
pub(super) fn commit_update(
    state: &mut State,
    call: &Call<'_>,
    old: &Arc<Value>,
    new: Value,
) -> Arc<Value> {
    if same_but_version(old, &new) {
        return Arc::clone(old);
    }
    if call.query.dry_run {
        return Arc::new(new);
    }
    store_update(state, call.resource, new)
}

/// Stores an update and lets what hangs on it follow: served custom kinds, and removal of finished deletions.
pub(crate) fn store_update(state: &mut State, resource: &Resource, new: Value) -> Arc<Value> {
    let storage = resource.storage();
    let stored = state.store.put(&storage, new);
    if storage == "customresourcedefinitions.apiextensions.k8s.io" && !meta::is_deleting(&stored) {
        state.catalog.serve_custom(&stored);
    }
    super::remove_if_finalized(state, &storage, &stored);
    stored
}

fn same_but_version(old: &Value, new: &Value) -> bool {
    let strip = |object: &Value| {
        let mut object = object.clone();
        meta::metadata_mut(&mut object).remove("resourceVersion");
        object
    };
    strip(old) == strip(new)
}

/// Records ownership of an update that is not an apply.
pub(super) fn record(call: &Call<'_>, old: &Value, new: &mut Value) {
    let api_version = call.resource.api_version();
    let reset = reset_fields(call.resource, call.subresource);
    let mut writer = writer(call, &api_version);
    writer.now = call.now.max(chrono::DateTime::<Utc>::UNIX_EPOCH);
    ownership::update(&call.resource.shape, old, new, reset, &writer);
}
