//! DELETE, and the way out when an adapter never finishes.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Response;
use hyperfleet_core::resource::Resource;
use serde_json::Value;

use crate::authz::Verb;
use crate::body::JsonObject;
use crate::caller::Caller;
use crate::dry_run::DryRun;
use crate::etag::{IfMatch, tagged};
use crate::failure::Failure;
use crate::scope::{Ids, Scope};
use crate::state::ApiState;

/// Longest reason, in characters.
const MAX_REASON: usize = 1024;

/// 202 with the resource, whether it was marked, was marked before, or is gone already.
pub(crate) async fn delete(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    DryRun(effect): DryRun,
    if_match: IfMatch,
) -> Result<Response, Failure> {
    let owner = scope
        .owner(&caller.within_tenant(&state.store), &ids)
        .await?;
    let store = caller.writing(&state.store, Verb::Delete, &scope);
    let id = scope.item(&ids)?;
    let target = (scope.kind_name(), owner, id);
    let author = caller.author(state.now());
    let deleted = store
        .delete(target, author, effect, &state, |resource| {
            caller.check(Verb::Delete, resource)?;
            if_match.check(resource)
        })
        .await?;
    match deleted {
        Some(outcome) => Ok(tagged(StatusCode::ACCEPTED, &outcome?)),
        None => Err(scope.missing(&store, owner, id).await),
    }
}

/// 204: the resource and everything below it are gone, whatever is left of them elsewhere.
pub(crate) async fn force_delete(
    State(state): State<ApiState>,
    Extension(scope): Extension<Arc<Scope>>,
    Ids(ids): Ids,
    caller: Caller,
    DryRun(effect): DryRun,
    JsonObject(body): JsonObject,
) -> Result<StatusCode, Failure> {
    let reason = match body.get("reason") {
        Some(Value::String(reason)) => reason.trim(),
        None | Some(Value::Null) => "",
        Some(_) => {
            return Err(Failure::invalid(
                "reason",
                None,
                "field 'reason' must be a string",
            ));
        }
    };
    if reason.is_empty() {
        return Err(Failure::invalid(
            "reason",
            Some("required"),
            "reason is required",
        ));
    }
    if reason.chars().count() > MAX_REASON {
        let message = format!("reason must be at most {MAX_REASON} characters");
        return Err(Failure::invalid("reason", Some("max_length"), message));
    }
    let owner = scope
        .owner(&caller.within_tenant(&state.store), &ids)
        .await?;
    let store = caller.writing(&state.store, Verb::ForceDelete, &scope);
    let id = scope.item(&ids)?;
    let target = (scope.kind_name(), owner, id);
    let author = caller.author(state.now());
    let guard = |resource: &Resource| caller.check(Verb::ForceDelete, resource);
    let forced = store
        .force_delete(target, reason, author, effect, &state, guard)
        .await?;
    if forced.transpose()?.is_none() {
        return Err(scope.missing(&store, owner, id).await);
    }
    if effect.is_lasting() {
        tracing::warn!(
            kind = scope.noun(), resource_id = %id, actor = author.actor, reason,
            "force-deleted; objects may be left behind"
        );
    }
    Ok(StatusCode::NO_CONTENT)
}
