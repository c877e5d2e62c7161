//! The four kinds of PATCH.

use serde_json::{Value, json};

use super::create::create_decoded;
use super::update::{check_preconditions, replace};
use super::write::{commit_update, decode, finish_update, reset_fields, writer};
use super::{Answer, Call, State};
use crate::failure::{Cause, Failure};
use crate::meta;
use crate::ownership;
use crate::patch;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    Json,
    Merge,
    Strategic,
    Apply,
}

pub(crate) fn patch(
    state: &mut State,
    call: &Call<'_>,
    kind: PatchKind,
    body: Value,
) -> Result<Answer, Failure> {
    if kind == PatchKind::Apply {
        return apply(state, call, body);
    }
    let old = state.get(call)?;
    let mut object = (*old).clone();
    match kind {
        PatchKind::Json => patch::json(&mut object, &body)?,
        PatchKind::Merge => patch::merge(&mut object, &body)?,
        PatchKind::Strategic if call.resource.custom.is_some() => {
            return Err(Failure::unsupported_media_type(&[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ]));
        }
        _ => patch::strategic(&call.resource.shape, &mut object, &body)?,
    }
    if meta::name(&object) != call.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            meta::name(&object),
            call.name
        )));
    }
    let warnings = decode(call, &mut object)?;
    // A patch that does not name a version applies to whatever is there.
    let object = replace(state, call, &old, object)?;
    Ok(Answer {
        code: 200,
        object,
        warnings,
    })
}

fn apply(state: &mut State, call: &Call<'_>, mut config: Value) -> Result<Answer, Failure> {
    if !call.query.field_manager_given {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(Failure::invalid_options("PatchOptions", cause));
    }

    if !config.is_object() {
        return Err(Failure::bad_request(
            "error decoding YAML: the applied configuration must be an object",
        ));
    }
    let resource = call.resource;
    let api_version = resource.api_version();
    let (given, kind) = (
        meta::text(&config, "/apiVersion"),
        meta::text(&config, "/kind"),
    );
    if given != api_version || kind != resource.kind {
        let (group, version) = given.split_once('/').unwrap_or(("", given));
        return Err(Failure::bad_request(format!(
            "invalid object type: {group}/{version}, Kind={kind}"
        )));
    }

    if config
        .pointer("/metadata/managedFields")
        .is_some_and(|m| !m.is_null())
    {
        return Err(Failure::bad_request("metadata.managedFields must be nil"));
    }
    ownership::check(&resource.shape, &config).map_err(|why| {
        let (namespace, name) = (meta::namespace(&config), meta::name(&config));
        let kind = format!(
            "{}/{}, Kind={}",
            resource.group, resource.version, resource.kind
        );
        Failure::unclassified(format!(
            "failed to create typed patch object ({namespace}/{name}; {kind}): {why}"
        ))
    })?;
    let warnings = decode(call, &mut config)?;
    let name = meta::name(&config);
    if !name.is_empty() && name != call.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.name
        )));
    }
    meta::metadata_mut(&mut config).insert("name".into(), call.name.into());
    if resource.namespaced {
        let namespace = meta::namespace(&config);
        if !namespace.is_empty() && namespace != call.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        meta::metadata_mut(&mut config).insert("namespace".into(), call.namespace.into());
    }
    let force = call.query.force.unwrap_or(false);
    let reset = reset_fields(resource, call.subresource);
    let writer = writer(call, &api_version);

    let Some(old) = state
        .store
        .get(&resource.storage(), call.namespace, call.name)
        .cloned()
    else {
        if !call.subresource.is_empty() {
            return Err(call.not_found());
        }
        if !meta::uid(&config).is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {}, and no existing object was found",
                meta::uid(&config)
            );
            return Err(Failure::conflict(resource, call.name, &why));
        }
        if !meta::text(&config, "/metadata/resourceVersion").is_empty() {
            return Err(call.not_found());
        }
        let empty = json!({ "apiVersion": api_version, "kind": resource.kind, "metadata": {} });
        let applied = ownership::apply(&resource.shape, &empty, &config, reset, &writer, force)?;
        let managed = applied["metadata"]["managedFields"].clone();
        let object = create_decoded(state, call, config, |_, object| {
            if managed.is_array() {
                object["metadata"]["managedFields"] = managed;
            }
            Ok(())
        })?;
        return Ok(Answer {
            code: 201,
            object,
            warnings,
        });
    };
    check_preconditions(call, &old, &config)?;
    if let Some(metadata) = config.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
        metadata.remove("uid");
    }
    let mut object = ownership::apply(&resource.shape, &old, &config, reset, &writer, force)?;
    let managed = object["metadata"]["managedFields"].clone();
    finish_update(call, &old, &mut object)?;
    if managed.is_array() {
        object["metadata"]["managedFields"] = managed;
    }
    let object = commit_update(state, call, &old, object);
    Ok(Answer {
        code: 200,
        object,
        warnings,
    })
}
