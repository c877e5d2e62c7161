//! Creating an object.

use std::sync::Arc;

use serde_json::{Value, json};

use super::write::{check_object, decode, record};
use super::{Answer, Call, State, check_namespace};
use crate::failure::Failure;
use crate::kinds;
use crate::meta;
use crate::schema;
use crate::validation;

/// Retries of a generated name that is taken.
const NAME_ATTEMPTS: usize = 8;

pub(crate) fn create(
    state: &mut State,
    call: &Call<'_>,
    mut object: Value,
) -> Result<Answer, Failure> {
    let warnings = decode(call, &mut object)?;
    let object = create_decoded(state, call, object, |call, object| {
        let empty = json!({ "metadata": {} });
        record(call, &empty, object);
        Ok(())
    })?;
    Ok(Answer {
        code: 201,
        object,
        warnings,
    })
}

/// Creates from a body that was read already; `own` writes its managedFields.
pub(super) fn create_decoded(
    state: &mut State,
    call: &Call<'_>,
    mut object: Value,
    own: impl FnOnce(&Call<'_>, &mut Value) -> Result<(), Failure>,
) -> Result<Arc<Value>, Failure> {
    let resource = call.resource;
    place(call, &mut object)?;
    let metadata = meta::metadata_mut(&mut object);
    if metadata
        .get("resourceVersion")
        .and_then(Value::as_str)
        .is_some_and(|v| !v.is_empty() && v != "0")
    {
        return Err(Failure::unclassified(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
        "generation",
    ] {
        metadata.remove(field);
    }
    metadata.insert("creationTimestamp".into(), meta::time(call.now).into());
    metadata.insert("uid".into(), uuid::Uuid::new_v4().to_string().into());
    name(state, call, &mut object)?;
    check_namespace(state, call, meta::name(&object))?;

    if resource.custom.is_none() {
        schema::drop_empty(&resource.shape, &mut object);
    }
    if resource.has_status()
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    if kinds::tracks_generation(resource) {
        meta::metadata_mut(&mut object).insert("generation".into(), 1.into());
    }
    if let Some(custom) = &resource.custom {
        schema::fill_defaults(&custom.schema, &mut object);
    }
    kinds::fill_defaults(resource, &mut object);
    // What the server adds from here on has no owner.
    own(call, &mut object)?;
    kinds::prepare_create(state, resource, &mut object);
    let mut causes = validation::check_create(resource, &object);
    causes.extend(check_object(resource, &object));
    if !causes.is_empty() {
        return Err(Failure::invalid(resource, meta::name(&object), causes));
    }
    let storage = resource.storage();
    if state
        .store
        .get(&storage, call_namespace(call), meta::name(&object))
        .is_some()
    {
        return Err(Failure::already_exists(resource, meta::name(&object)));
    }
    if call.query.dry_run {
        return Ok(Arc::new(object));
    }
    let stored = state.store.put(&storage, object);
    if storage == "customresourcedefinitions.apiextensions.k8s.io" {
        state.catalog.serve_custom(&stored);
    }
    Ok(stored)
}

fn call_namespace<'a>(call: &'a Call<'_>) -> &'a str {
    if call.resource.namespaced {
        call.namespace
    } else {
        ""
    }
}

/// The path says where the object goes; the body may repeat it but not contradict it.
fn place(call: &Call<'_>, object: &mut Value) -> Result<(), Failure> {
    let given = meta::namespace(object).to_owned();
    let metadata = meta::metadata_mut(object);
    if !call.resource.namespaced {
        if !given.is_empty() {
            metadata.remove("namespace");
        }
        return Ok(());
    }
    if call.namespace.is_empty() {
        return Err(Failure::bad_request(
            "namespace is required for a namespaced resource",
        ));
    }
    if !given.is_empty() && given != call.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    metadata.insert("namespace".into(), call.namespace.into());
    Ok(())
}

fn name(state: &State, call: &Call<'_>, object: &mut Value) -> Result<(), Failure> {
    if !meta::name(object).is_empty() {
        return Ok(());
    }
    let base = meta::text(object, "/metadata/generateName").to_owned();
    if base.is_empty() {
        return Ok(());
    }
    // 63 is the limit of most names; five random characters go at the end.
    let kept: String = base.chars().take(58).collect();
    for _ in 0..NAME_ATTEMPTS {
        let name = format!("{kept}{}", suffix());
        if state
            .store
            .get(&call.resource.storage(), call_namespace(call), &name)
            .is_none()
        {
            meta::metadata_mut(object).insert("name".into(), name.into());
            return Ok(());
        }
    }
    Err(Failure::already_exists(call.resource, &base))
}

/// Five characters of the alphabet Kubernetes uses: no vowels, so that no words appear.
fn suffix() -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let random = uuid::Uuid::new_v4();
    random
        .as_bytes()
        .iter()
        .take(5)
        .map(|b| ALPHABET[*b as usize % ALPHABET.len()] as char)
        .collect()
}
