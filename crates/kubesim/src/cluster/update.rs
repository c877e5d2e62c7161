//! Replacing an object (PUT).

use std::sync::Arc;

use serde_json::Value;

use super::write::{commit_update, decode, finish_update, record};
use super::{Answer, Call, State};
use crate::failure::{Cause, Failure};
use crate::meta;

pub(crate) fn update(
    state: &mut State,
    call: &Call<'_>,
    mut object: Value,
) -> Result<Answer, Failure> {
    let warnings = decode(call, &mut object)?;
    let resource = call.resource;
    let given = meta::name(&object).to_owned();
    if given.is_empty() {
        meta::metadata_mut(&mut object).insert("name".into(), call.name.into());
    } else if given != call.name {
        return Err(Failure::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            call.name
        )));
    }
    let namespace = meta::namespace(&object).to_owned();
    if resource.namespaced {
        if !namespace.is_empty() && namespace != call.namespace {
            return Err(Failure::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        meta::metadata_mut(&mut object).insert("namespace".into(), call.namespace.into());
    }
    let old = state.get(call)?;
    let version = meta::text(&object, "/metadata/resourceVersion").to_owned();
    if version.is_empty() && resource.custom.is_some() {
        let cause = Cause {
            reason: "FieldValueInvalid",
            field: "metadata.resourceVersion".into(),
            message: "Invalid value: 0: must be specified for an update".into(),
        };
        return Err(Failure::invalid(resource, call.name, vec![cause]));
    }
    let object = replace(state, call, &old, object)?;
    Ok(Answer {
        code: 200,
        object,
        warnings,
    })
}

/// Stores `object` in place of `old`, after the checks PUT and the patches share.
pub(super) fn replace(
    state: &mut State,
    call: &Call<'_>,
    old: &Arc<Value>,
    mut object: Value,
) -> Result<Arc<Value>, Failure> {
    check_preconditions(call, old, &object)?;
    finish_update(call, old, &mut object)?;
    record(call, old, &mut object);
    Ok(commit_update(state, call, old, object))
}

/// A version or uid in the body must be the stored one.
pub(super) fn check_preconditions(
    call: &Call<'_>,
    old: &Value,
    object: &Value,
) -> Result<(), Failure> {
    let uid = meta::uid(object);
    if !uid.is_empty() && uid != meta::uid(old) {
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            meta::uid(old)
        );
        return Err(Failure::conflict(call.resource, call.name, &why));
    }
    let version = meta::text(object, "/metadata/resourceVersion");
    if !version.is_empty()
        && version != "0"
        && version != meta::text(old, "/metadata/resourceVersion")
    {
        return Err(Failure::stale(call.resource, call.name));
    }
    Ok(())
}
